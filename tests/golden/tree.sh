# a graph as a tree: copies, spanning, what planning it costs, sizes that are too large, errors
pebble gen pyramid --height 5 -q -o p.json
pebble tree p.json -o t.json
pebble info t.json | head -3
pebble tree p.json --cost
pebble tree p.json --by spanning -o s.json --cost
pebble plan s.json --cap 3 --strategy tree -q | head -2
pebble gen adjoint-chain 6 -q -o a.json
pebble tree a.json --by spanning --cost --json
pebble gen pyramid --height 100 -q -o big.json
pebble tree big.json -o t.json
pebble tree big.json --by spanning --format csv | head -3
pebble gen tree --height 3 -q | pebble tree - --format dot | tail -2
pebble tree p.json --nodes 62
pebble tree p.json --nodes 0
pebble tree p.json --by copies
pebble tree p.json --json
pebble tree
pebble tree nothing.json
