# A policy is for strategies that take one: what does not use it is named, what cannot use it is refused.
pebble gen adjoint-chain 6 -o g.json
pebble compare g.json --cap 80% --policy oldest --game remat --strategy chain,demand
pebble compare g.json --cap 80% --policy oldest --game remat --strategy chain,demand --json | grep -o '"policy":[^,]*' | tr '\n' ' '
echo
pebble compare g.json --cap 80% --policy oldest --strategy auto --game remat | head -n 2
pebble compare g.json --cap 80% --policy oldest --strategy chain,sqrt
pebble plan g.json --cap 80% --policy oldest --strategy chain
pebble plan g.json --cap 80% --policy oldest | head -n 1
pebble plan g.json --cap 80% --policy oldest --json | grep -o '"policy[^,]*' | tr '\n' ' '
echo
pebble plan g.json --cap 80% --policy oldest --strategy demand --json | grep -o '"policy[^,]*'
pebble sweep g.json --caps 6 --policy oldest --strategy chain,demand --csv t.csv | head -n 3
cut -d, -f3,4,31 t.csv
pebble sweep g.json --caps 6 --policy oldest --strategy chain,demand --json | grep -o '"policy":[^,]*' | tr '\n' ' '
echo
pebble sweep g.json --caps 6 --policy oldest --strategy chain
