# A policy asks a strategy for a larger cap, also where a quarter of the cap is no whole number.
echo '{"format":"pebble-graph/1","fixed_size":2,"nodes":[{"name":"a","size":1,"cost":2},{"name":"b","size":1,"cost":2}],"edges":[]}' > g.json
pebble plan g.json --cap 4 --strategy cache-all -o s.json -q > /dev/null
pebble plan g.json --cap 3 --strategy schedule:file=s.json --policy oldest -q
pebble plan g.json --cap 3 --strategy cache-all --policy oldest -q
