# the graph's own machine is the default, and times are in the unit of its clock, whatever that is
here=$(dirname "$0")
pebble gen mlp --depth 2 --batch 20000 -o g.json
cat >us.json <<'END'
{"format":"pebble-machine/1","name":"in-us","time_unit":"us","memories":[{"name":"ram"}],
 "processors":[{"name":"cpu","memory":"ram","overhead":3,"rates":{"other":1000000000}}]}
END
pebble price g.json --machine us.json
pebble price g.json --machine us.json --json | head -n 2
python3 -c 'import json; g = json.load(open("g.json")); g["machine"] = json.load(open("us.json")); json.dump(g, open("own.json", "w"))'
pebble price own.json -o timed.json | head -n 1
grep -o '"times":{[^}]*}' timed.json | head -n 1
pebble plan timed.json --cap 100% | grep work
pebble price own.json --machine "$here/price_machine.json" | head -n 1
# with an abstract clock nodes take their cost
pebble gen chain 4 -o chain.json
pebble price chain.json --machine red-blue
pebble price chain.json --machine red-blue --json
# a run is measured in ns
pebble run synthetic --cap 100% --machine us.json
