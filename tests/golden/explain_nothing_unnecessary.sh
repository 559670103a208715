# What the planner returns has no recomputation that the cap did not ask for, by explain's own count.
needless() { pebble explain "$1" plan.json --json | grep -o '"needless":[0-9]*'; }
pebble gen adjoint-chain 100 --grad-size 0 -o chain.json
for s in two-level griewank recompute-all; do
    pebble plan chain.json --game tiered --cap 11 --store-cost 100 --load-cost 100 --strategy $s -q -o plan.json >/dev/null
    echo "$s $(needless chain.json)"
done
pebble gen resnet --depth 18 -o resnet.json
pebble plan resnet.json --cap 60% --strategy search --ticks 30000 -q -o plan.json >/dev/null
echo "search $(needless resnet.json)"
