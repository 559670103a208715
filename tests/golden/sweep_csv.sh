# One row a cell over several graphs, one line of names; the last column is the time.
pebble gen adjoint-chain 6 -o g.json
pebble gen tree --height 3 -o t.json
pebble sweep g.json t.json --points 3 --strategy auto,last-use --csv - | sed 's/,[^,]*$//'
