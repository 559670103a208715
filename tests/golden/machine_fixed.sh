# `fixed` replaces fixed_size: the first memory's entry is in every peak, the others leave less room in their tiers
cat >box.json <<'END'
{"format":"pebble-machine/1","name":"box","time_unit":"ns",
 "memories":[{"name":"fast","cap":40},{"name":"host","cap":500,"reserve":50},{"name":"disk"}],
 "processors":[{"name":"p","memory":"fast"}],
 "links":[{"name":"out","from":"fast","to":"host","latency":1},{"name":"in","from":"host","to":"fast","latency":1},
          {"name":"write","from":"fast","to":"disk","latency":9},{"name":"read","from":"disk","to":"fast","latency":9}]}
END
pebble gen adjoint-chain 12 -o plain.json -q
sed 's/"nodes"/"fixed_size":5,"fixed":{"host":200,"fast":30},"nodes"/' plain.json >fixed.json
for graph in plain fixed; do pebble info $graph.json --machine box.json | grep -E 'sizes|in program order  |^(remat|reversible|tiered) '; done
for how in '--cap 36' '--cap 90%' '--cap 36 --game tiered' '--cap 48 --game reversible'; do
    pebble plan fixed.json --machine box.json $how -o s.json -q | sed -n '2,3p'
    pebble verify fixed.json s.json
done
pebble plan fixed.json --machine box.json --game tiered --json -q | grep -o '"tiers":[^]]*]'
# the machine that the graph carries; without any, fixed_size counts
python3 -c 'import json; g = json.load(open("fixed.json")); g["machine"] = json.load(open("box.json")); json.dump(g, open("own.json", "w"))'
pebble plan own.json -o s.json -q | sed -n 2p
pebble verify own.json s.json
pebble plan own.json --machine none --cap 14 | sed -n 2p
# memories that the machine does not have, or too small ones
sed 's/"host":200/"vram":1/' fixed.json >unknown.json
sed 's/"host":200/"host":451/' fixed.json >large.json
for graph in unknown large; do
    pebble plan $graph.json --machine box.json
    echo $?
done
sed 's/"fast":30/"fast":41/' fixed.json >full.json
pebble plan full.json --machine box.json
echo $?
