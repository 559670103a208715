# times by the models of a fixed machine: which computations are outside the measured range, and the graph that is written
here=$(dirname "$0")
pebble gen unet --image 32 --width 8 --depth 2 --batch 2 -o g.json
pebble price g.json --machine "$here/price_machine.json" -o timed.json
grep -o '"times":{[^}]*}' timed.json | head -n 3
pebble price timed.json --machine "$here/price_machine.json" | tail -n 2
pebble price g.json --machine "$here/price_machine.json" --json | head -n 2
pebble plan timed.json --machine "$here/price_machine.json" --cap 60% --ticks 2000 --json | grep -o '"outcome":"[a-z]*"'
