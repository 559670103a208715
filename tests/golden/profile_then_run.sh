# A profile is a graph like any other; plans made with it run, and it belongs to one workload.
spec=synthetic:steps=6,batch=2,bytes=256,work=2
pebble profile $spec --repeat 2 -o p.json | sed -n '1p'
grep -c '"ns_low"' p.json
grep -o '"cost_unit":"ns","size_unit":"byte"' p.json
pebble plan p.json --cap 60% -q -o plan.json >/dev/null && pebble verify p.json plan.json >/dev/null && echo legal
pebble run $spec --profile p.json --plan plan.json --json | grep -o '"peak_equal":true,"results_equal":true'
sed 's/"outcome":"[a-z]*"/"outcome":"optimal"/' plan.json >claim.json
grep -c '"outcome":"optimal"' claim.json; pebble run $spec --profile p.json --plan claim.json --json | grep -o '"outcome":"found"'
pebble run $spec --cap 60% --profile p.json -o again.json -q >/dev/null && pebble verify p.json again.json >/dev/null && echo legal
pebble run $spec --profile p.json --plan plan.json --cap 600; echo "exit $?"
pebble run synthetic:steps=7,batch=2,bytes=256,work=2 --cap 60% --profile p.json; echo "exit $?"
pebble gen chain 3 -o chain.json; pebble run $spec --cap 60% --profile chain.json; echo "exit $?"
sed 's/"cost_unit":"ns"/"cost_unit":"flop"/' p.json >flop.json; pebble run $spec --cap 60% --profile flop.json; echo "exit $?"
pebble run $spec --cap 60% --profile missing.json; echo "exit $?"
