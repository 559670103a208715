# Addresses next to the peak, in the file and in the summary; verify checks them against the moves.
pebble gen mlp --depth 6 --width 100 -o g.json
pebble plan g.json --cap 90% --addresses 64 --no-plot -o s.json
pebble verify g.json s.json
pebble plan g.json --cap 90% --addresses 64 --json | grep -o '"addresses":{[^}]*}'
sed 's/"offsets":\[/"offsets":[64,/' s.json > more.json
pebble verify g.json more.json
sed 's/"size":[0-9]*,"least"/"size":64,"least"/' s.json > small.json
pebble verify g.json small.json
sed 's/"align":64/"align":48/' s.json > odd.json
pebble verify g.json odd.json
pebble plan g.json --cap 90% --addresses 48
