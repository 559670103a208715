# layers to keep for proofs, fractal traversal, and the graph families of proofs and recursive checks
pebble merkle --height 8 --proofs 4 --cap 70 --leaf-cost 10
pebble merkle --height 3 --proofs 2 --json
pebble merkle --height 8 --proofs 4 --cap 8
pebble merkle --height 3 --proofs 9
pebble merkle --height 3 --proofs 2 --algorithm bds
pebble merkle --height 8 --algorithm fractal:k=4 -o plan.json
pebble gen merkle-traversal 8 -q -o paths.json && pebble verify paths.json plan.json
pebble gen merkle-proofs 4 --proofs 3 -q -o p.json && pebble plan p.json --cap 8 --ticks 20000 -q | head -4
pebble gen merkle-proofs 3 --proofs 4 --batch multi --format csv | grep ',proof$\|,proof,' | head -8
pebble gen merkle-proofs 3 --proofs 9
pebble gen recursive-checks 2 --queries 2 --path 3 -q | pebble info - | head -6
