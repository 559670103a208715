# The timed game: a plan with copies that overlap, its verification, figures by lane and exports.
cat > m.json <<'M'
{"format":"pebble-machine/1","name":"small","time_unit":"tick","memories":[{"name":"fast"},{"name":"far"}],
 "processors":[{"name":"cpu","memory":"fast"}],
 "links":[{"name":"out","from":"fast","to":"far","per_unit":1},{"name":"in","from":"far","to":"fast","per_unit":1}]}
M
pebble gen adjoint-chain 6 -o g.json
pebble plan g.json --game timed --machine m.json --cap 8 --ticks 20000 -o s.json
pebble verify g.json s.json
pebble explain g.json s.json
pebble plan g.json --game timed --machine m.json --cap 5 --strategy back-to-back --ticks 20000 --json | sed 's/,"seconds.*//; s/"version":"[^"]*"/"version":""/'
pebble plan g.json --game timed --cap 5
cat > by.json <<'G'
{"format":"pebble-graph/1","nodes":[{"name":"a","size":1},{"name":"m","size":1,"byproduct_of":"a"},{"name":"b","size":1}],"edges":[["a","b"],["m","b"]]}
G
pebble plan by.json --game timed --machine m.json --cap 4 --ticks 20000 -q | head -n 2
