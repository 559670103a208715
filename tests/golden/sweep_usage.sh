# Every way to ask for what is not there says so.
pebble gen chain 6 -o g.json
pebble sweep; echo $?
pebble sweep g.json --caps 80..; echo $?
pebble sweep g.json --caps 80%,; echo $?
pebble sweep g.json --points 0; echo $?
pebble sweep g.json --weights 1,2; echo $?
pebble sweep g.json --strategies auto,serch; echo $?
pebble sweep g.json --strategies auto --strategy auto; echo $?
pebble sweep g.json --json --csv -; echo $?
