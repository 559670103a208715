# --check runs kernels twice and names those that are not deterministic.
spec=synthetic:steps=9,batch=2,bytes=256,work=2
pebble run $spec --cap 50% --steps 2 --repeat 2 --check | tail -1
pebble run $spec,unsteady=4 --cap 50% --steps 2 --repeat 2 --check | tail -1
pebble run $spec,unsteady=4 --cap 50% --steps 2 --repeat 2 --check --json >r.json
echo "exit $?"
grep -o '"checked":.*' r.json
