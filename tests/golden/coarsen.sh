# larger steps: the coarse graph, a plan of it, that plan operation by operation, and errors
pebble gen transformer --blocks 3 --width 96 --sequence 16 --batch 2 --vocabulary 100 -q -o g.json
pebble coarsen g.json --by block -o blocks.json
grep -o '"coarsened":.*"computations":[0-9]*' blocks.json | sed 's/"graph_hash":"[0-9a-f]*"/HASH/'
grep -o '"name":"block1","cost":.*' blocks.json
pebble plan blocks.json --cap 95% --ticks 5000 -q -o rough.json
pebble coarsen g.json --by block --expand rough.json -o plan.json
pebble verify g.json plan.json
pebble coarsen g.json --nodes 10 -o small.json
pebble coarsen g.json --nodes 10 --expand rough.json
pebble coarsen g.json --by size --small 1KiB -o size.json
pebble coarsen g.json --by blok
pebble coarsen g.json --nodes 0
pebble coarsen g.json --by chain --small 4
pebble gen chain 5 -o chain.json
pebble coarsen chain.json --by layer
pebble coarsen chain.json -o one.json
pebble plan g.json --cap 90% --grain block --ticks 2000 -q -o p.json && pebble verify g.json p.json
pebble plan g.json --cap 90% --grain block:x
pebble plan g.json --cap 90% --grain block --game reversible
pebble compare g.json --cap 90% --grain all,chain --ticks 2000 --json | grep -o '"level":"[a-z]*"\|"steps":[0-9]*\|"winner":"[a-z]*"'
