# times in place of flops, the machine's memory as cap, its slow memories as tiers; verified by the machine in the file
pebble gen mlp --depth 6 --width 256 --inputs 256 --batch 2000 -o mlp.json
cat >small.json <<'END'
{"format":"pebble-machine/1","name":"small","time_unit":"ns",
 "memories":[{"name":"fast","cap":15000000,"reserve":1000000},{"name":"near","cap":3000000},{"name":"far"}],
 "processors":[{"name":"cpu","memory":"fast","overhead":1000,"bandwidth":10000000000,"rates":{"other":100000000000}}],
 "links":[{"name":"o1","from":"fast","to":"near","bandwidth":5000000000},{"name":"i1","from":"near","to":"fast","bandwidth":5000000000},
          {"name":"o2","from":"fast","to":"far","bandwidth":1000000000,"latency":5000},{"name":"i2","from":"far","to":"fast","bandwidth":2000000000}]}
END
pebble plan mlp.json --machine small.json --cap 80% -o remat.json && pebble verify mlp.json remat.json
pebble plan mlp.json --machine small.json --cap 60% --game tiered --strategy demand -o tiered.json && pebble verify mlp.json tiered.json
pebble explain mlp.json tiered.json | head -n 9
pebble export mlp.json tiered.json --as json | grep -o '"phases":.*}}'
grep -o '"tiers":\[.*\]' tiered.json
# a schedule's settings include its machine
pebble plan mlp.json --like tiered.json -q -o again.json >out.txt && cmp tiered.json again.json
pebble plan mlp.json --like tiered.json -q -o again.pbs >out.txt && pebble verify mlp.json again.pbs
# the graph's own machine is the default, its memory the cap
python3 -c 'import json; g = json.load(open("mlp.json")); g["machine"] = json.load(open("small.json")); json.dump(g, open("own.json", "w"))'
pebble plan own.json --json -q | grep -o '"game":"remat","cap":[0-9]*'
pebble plan own.json --machine none --cap 80% | head -n 3
pebble compare own.json --cap 80% --strategy last-use,sqrt,demand --no-plot
pebble sweep mlp.json --machine small.json --caps 100%,80% --strategy sqrt
pebble info mlp.json --machine small.json --game tiered
# what may surprise
pebble gen chain 4 -o chain.json
pebble plan chain.json --machine small.json | head -n 3
pebble plan chain.json --machine red-blue | head -n 3
