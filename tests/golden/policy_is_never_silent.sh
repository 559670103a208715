# A policy decides what is evicted where a plan does not fit. The log has it with every plan, used or not.
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
pebble gen unet --depth 2 -o u.json
pebble compare u.json --cap 60% --policy largest --game remat --strategy cache-all,last-use,sqrt -q | head -n 9
pebble plan u.json --cap 60% --policy largest --strategy last-use -q -o s.json | head -n 2
pebble verify u.json s.json
grep -o '"policy[^,]*' s.json | head -n 1
