# Values that must be kept in another memory, or start there, are not those of the remat game on the first processor.
cat > m.json <<'M'
{"format":"pebble-machine/1","name":"m","time_unit":"tick","memories":[{"name":"fast"},{"name":"far"}],
 "processors":[{"name":"cpu","memory":"fast"}],"links":[{"name":"out","from":"fast","to":"far","per_unit":1}]}
M
echo '{"format":"pebble-graph/1","nodes":[{"name":"a","size":1,"cost":1,"keep":"far"},{"name":"b","size":1,"cost":1}],
 "edges":[["a","b"]]}' > kept.json
pebble plan kept.json --game timed --machine m.json --cap 4 -q
echo '{"format":"pebble-graph/1","nodes":[{"name":"x","size":1,"given":true,"in":"far"},{"name":"a","size":1,"cost":1},
 {"name":"b","size":1,"cost":1}],"edges":[["a","b"]],"targets":["b"]}' > given.json
pebble plan given.json --game timed --machine m.json --cap 2 --strategy back-to-back -q
cat > back.json <<'M'
{"format":"pebble-machine/1","name":"m","time_unit":"tick","memories":[{"name":"fast"},{"name":"far"}],
 "processors":[{"name":"cpu","memory":"fast"}],"links":[{"name":"out","from":"fast","to":"far","per_unit":1},
 {"name":"in","from":"far","to":"fast","per_unit":1}]}
M
sed 's/"in":"far"/"in":"far","keep":"fast"/' given.json > moved.json
pebble plan moved.json --game timed --machine back.json --cap 4 -q
