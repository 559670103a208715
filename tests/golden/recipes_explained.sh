# Recipes by name where people read them: decisions, explain. Borrowed memory in a sweep.
pebble gen revnet --depth 3 --width 64 --batch 512 --inputs 16 -o r.json
pebble plan r.json --cap 65% --strategy cut -q -o s.json
pebble verify r.json s.json
pebble export r.json s.json --as decisions | grep ' by inverse'
pebble export r.json s.json --as csv | grep -c ',recipe 1,'
pebble explain r.json s.json stem.b
pebble explain r.json s.json stem.b --json | grep -o '"made":[0-9]*,"recipe":1'
pebble gen tree --height 3 -o t.json
pebble sweep t.json --borrow 2 --caps 5,4 --strategy exact --ticks 20000 -q
pebble sweep t.json --borrow 2 --caps 5,4 --strategy exact --ticks 20000 -q --json | grep -o '"borrow":2' | sort | uniq -c
