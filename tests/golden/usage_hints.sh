pebble gen chain 3 -o g.json
pebble gen tree --skewed --nodes 127
pebble gen --skewed tree
pebble gen tree --skwe 1
pebble gen tree --hieght 4
pebble gen tree --bennett
pebble plan g.json --tiered
pebble plan g.json --search --cap 2
pebble plan g.json --cap 2 --oldest
pebble plan g.json --cap 2 --points 5
pebble plan g.json --cap 2 --zzz
pebble run merkle --height 4 --cap 2MiB
pebble export g.json --dot
pebble gen tree --height 7 --shape skewed --nodes 9 | head -n 1
