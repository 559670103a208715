# Weights with units and names; flux in units of size and cost; the parts of the cost add up.
pebble gen mlp --batch 4096 -o g.json
pebble plan g.json --machine v100-16 --cap 90% --strategy demand --weights 0.5s/GiB,0.01/GiB,1 -o s.json
grep -o '"weights":[^"]*' s.json
pebble plan g.json --cap 90% -q --strategy demand --weights peak=2Gflop/GiB | grep -E 'flux|cost'
pebble compare g.json --machine v100-16 --cap 90% --strategy order,demand --weights peak=1ms/GiB,time=2
pebble sweep g.json --machine v100-16 --caps 90%,60% --strategy demand --weights 1ms/GiB,0,1
pebble gen chain 20 -o c.json
pebble sweep c.json --caps 8,6 --strategy sqrt,bennett
for weights in 1s/GiB,0,1 0,1/qubit,1 0,1s/GiB,1 0,0,1s peak=1,peak=2 height=1; do
    pebble plan g.json --cap 90% --weights $weights; echo $?
done
