pebble gen chain 6 -o g.json
pebble sweep g.json --caps 1,0
