pebble gen chain 3 -o g.json
pebble plan g.json
echo "exit $?"
pebble compare g.json
