# Prices and weights are exact decimals, and read back from the schedule.
pebble gen adjoint-chain 16 --grad-size 2 -o g.json
pebble plan g.json --cap 8 --ticks 20000 --store-per-unit 0.04 --load-per-unit 15e-2 -o s.json
grep -o '"tiers":.*' s.json
pebble verify g.json s.json
pebble plan g.json --like s.json -q -o t.json >s.txt && cmp s.json t.json
pebble plan g.json --like s.json -q -o t.pbs >s.txt && pebble verify g.json t.pbs
pebble plan g.json --cap 8 --ticks 20000 --weights 0,1e-11,1 -o w.json | grep cost
grep -o '"weights":[^"]*' w.json
pebble verify g.json w.json
pebble plan g.json --cap 8 --weights 0,1e-30,1
pebble plan g.json --cap 8 --load-per-unit 0.0000000001
pebble plan g.json --cap 8 --load-per-unit cheap
pebble plan g.json --cap 8 --load-cost 0,5
pebble plan g.json --cap 8 --ticks 20000 --store-cost 0.5 --load-cost 125e-2 --load-per-unit 0.04 -o f.json
grep -o '"tiers":.*' f.json
grep -o '"links":.*' f.json
pebble verify g.json f.json
pebble plan g.json --like f.json -q -o t.json >s.txt && cmp f.json t.json
pebble plan g.json --cap 8 --store-cost 18446744073709551615 --load-cost 0.5
