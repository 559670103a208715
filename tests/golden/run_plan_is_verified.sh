# A schedule that run is given is checked as verify checks it: rules, graph, addresses and figures.
spec=synthetic:steps=6,batch=2,bytes=256,work=2
try() { pebble "$@" --json 2>&1 | sed -n 's/.*"peak_equal":true,"results_equal":true.*/runs/p; /^pebble/p'; }
both() { pebble verify p.json "$1" -q; echo "verify exits $?"; try run $spec --profile p.json --plan "$1"; }
status() { pebble run $spec --profile p.json --plan "$1" -q >/dev/null 2>&1; echo "run exits $?"; }
pebble profile $spec --repeat 2 -o p.json -q >/dev/null
pebble plan p.json --cap 60% -q -o plan.json >/dev/null
try run $spec --profile p.json --plan plan.json; status plan.json
sed 's/"graph_hash":"......../"graph_hash":"01234567/' plan.json >hash.json
both hash.json; status hash.json
try run $spec --profile p.json --plan hash.json --any-graph
sed 's/"peak":[0-9]*/"peak":1/' plan.json >peak.json
both peak.json 2>&1 | sed 's/but [0-9]* in the replay/but N in the replay/'; status peak.json
pebble run $spec --profile p.json --plan peak.json --any-graph -q 2>&1 | sed 's/but [0-9]* in the replay/but N in the replay/'
sed 's/\["compute",[0-9]*\],//' plan.json >rule.json
both rule.json; status rule.json
# Other costs are another graph; it runs all the same where that is asked for.
pebble run $spec --repeat 2 --plan plan.json -q; echo "exit $?"
try run $spec --repeat 2 --plan plan.json --any-graph
