# The timed cut with large sizes, where almost the same must be kept at very different work: prices of memory reach their
# limit, and the bound must stay below the plan.
cat > m.json <<'M'
{"format":"pebble-machine/1","name":"m","time_unit":"tick","memories":[{"name":"fast","cap":132875551}],
 "processors":[{"name":"cpu","memory":"fast"}]}
M
cat > g.json <<'G'
{"format":"pebble-graph/1","nodes":[{"name":"p","size":54358180,"given":true},{"name":"q","size":54358180,"given":true},
 {"name":"w","size":12079595,"given":true},{"name":"v","size":12079596,"cost":1000000},{"name":"t","size":0,"cost":1},
 {"name":"z","size":0,"cost":1,"workspace":12079596},{"name":"r","size":0,"cost":1}],
 "edges":[["w","v"],["v","t"],["t","z"],["v","r"],["z","r"],["p","r"],["q","r"]],"targets":["r"]}
G
pebble plan g.json --game timed --machine m.json --strategy back-to-back -q --json |
    grep -o '"outcome":"[a-z]*"\|"lower_bound":[0-9]*\|"makespan":[0-9]*'
