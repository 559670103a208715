# Costs with decimals are counted in a finer unit, and prices of slow memory with them; the exported graph is whole.
nodes='{"name":"a","cost":0.5,"size":1},{"name":"b","cost":1,"size":2},{"name":"c","cost":25e-1,"size":3},{"name":"d","cost":1,"size":1}'
graph() { echo "{\"format\":\"pebble-graph/1\",\"name\":\"d\",$1\"nodes\":[$nodes],\"edges\":[[0,1],[1,2],[2,3],[0,3]]}"; }
graph >d.json
pebble info d.json 2>&1
pebble info d.json --json -q | grep -o '"cost_unit":[^,]*\|"needed_cost":[^,]*'
pebble plan d.json --cap 5 -o s.json 2>&1
pebble plan d.json --cap 5 --load-cost 0.2 --store-cost 0.15 -q -o t.json
grep -o '"tiers":.*' t.json
pebble compare d.json --cap 5 --game remat --strategy exact,recompute-all -q
pebble explain d.json s.json -q
pebble export d.json -o whole.json -q && cat whole.json
pebble verify whole.json s.json
graph '"cost_unit":"ms",' | pebble info - 2>&1 | grep cost
printf 'a,b\nnode,c,0.25\nedge,b,c\n' | pebble info - 2>&1 | grep cost
echo '{"format":"pebble-graph/1","nodes":[{"name":"a","cost":0.30000000000000004,"size":1}]}' | pebble info -
echo '{"format":"pebble-graph/1","nodes":[{"name":"a","cost":1e19,"size":1},{"name":"b","cost":0.5,"size":1}]}' | pebble info -
