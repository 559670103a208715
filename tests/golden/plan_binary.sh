pebble gen adjoint-chain 12 -o g.json
pebble plan g.json --cap 100% --strategy last-use -q -o s.pbs >/dev/null && head -c 1 s.pbs | grep -c '{'
pebble verify g.json s.pbs
