pebble gen chain 3 -o g.json
pebble plan g.json --cap 3 --game remt
pebble plan g.json --cap 3 --strategy last-us
pebble plan g.json --cap 3 --policy oldst
pebble plan g.json --cap 3 --time soon
pebble plan g.json --cap 3 --seed -1
pebble plan g.json --cap 3 --weights 1,2
pebble info g.json --json=yes
pebble plan --cap
pebble verify g.json
