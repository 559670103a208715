# What is in memory at the peak, and where the time goes. The parts of memory add up to the peak.
fit() { pebble info - --game remat --machine "$@"; }
pebble gen mlp --depth 3 --width 1000 --batch 4000 --optimizer adam -o g.json
fit a100-40 --ticks 1000 <g.json | sed '/^game/,$d'
fit a100-40 --ticks 1000 --json <g.json | python3 -c 'import json, sys
r = json.load(sys.stdin)
p = r["peak"]
kinds = "parameters", "optimizer_state", "fixed", "inputs", "activations", "gradients", "workspace"
print(r["machine"], r["fits"], p["phase"], p["node"], sum(p[k] for k in kinds) == r["written_peak"])
print(sum(o["time"] for o in r["time_by_op"]) == r["time"], {k: p[k] for k in kinds[:3]}, p["largest"][0])'
echo 'no split, no groups, and too large:'
pebble gen chain 5 --size 30000000000 | fit v100-16 --ticks 1000 --quiet | sed '/^game/,$d'
echo 'a statement about fixed memory that does not fit it is ignored:'
for parts in '"x"' '{"parameters":99}' '{"parameters":3,"other":[1]}'; do
    echo '{"format":"pebble-graph/1","fixed_size":5,"fixed_parts":'"$parts"',"nodes":[{"name":"a","size":4,"workspace":2}]}' |
        fit t4 --quiet | sed -n '/^in memory/,/^$/p'
done
