pebble gen adjoint-chain 6 -o g.json
pebble sweep g.json --caps 9,6,3,1 --strategies auto,last-use --json
