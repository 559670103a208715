printf '{"format":"pebble-graph/1",\n "nodes":[{"name":"a",]}\n' >bad.json
pebble info bad.json
