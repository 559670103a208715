# A short binary schedule is a plan to start from, and one to compare, like a JSON one.
echo '{"format":"pebble-graph/1","nodes":[{"name":"a","size":1,"cost":1},{"name":"b","size":1,"cost":1}],"edges":[["a","b"]]}' > g.json
pebble plan g.json --cap 2 --strategy last-use -q -o s.pbs > /dev/null
pebble plan g.json --cap 2 --start s.pbs --json -q | grep -o '"outcome":"[a-z]*"'
pebble plan g.json --cap 2 --strategy schedule:file=s.pbs -q
