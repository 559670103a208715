# Recipes in the remat game although the slow memory of another game has prices; and a value that is given in slow memory
# and kept, but that nothing reads.
cat > g.json <<'G'
{"format":"pebble-graph/1","nodes":[{"name":"a","size":1,"cost":5},{"name":"b","size":1,"cost":1},{"name":"c","size":2,"cost":1},
 {"name":"d","size":1,"cost":1,"recipes":[{"inputs":["c"],"cost":1}]},{"name":"e","size":1,"cost":1}],
 "edges":[["a","b"],["b","c"],["c","d"],["d","e"],["a","e"]]}
G
pebble info g.json --load-cost 1 --json | grep -o '"games":.*'
pebble compare g.json --cap 3 --load-cost 1 --strategy exact --json |
    grep -o '"strategy":"exact","game":"[a-z]*","outcome":"[a-z]*"\|"makespan":[0-9]*'
echo '{"format":"pebble-graph/1","nodes":[{"name":"x","size":2,"given":"slow","keep":true,"recipes":[{"inputs":["a"],"cost":1}]},
 {"name":"a","size":1,"cost":1}],"edges":[],"targets":["a"]}' > kept.json
pebble info kept.json --json | grep -o '"games":.*'
pebble plan kept.json --cap 3 --game remat --strategy demand -q
