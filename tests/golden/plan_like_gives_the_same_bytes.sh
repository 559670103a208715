pebble gen adjoint-chain 12 -o g.json
pebble plan g.json --cap 70% --seed 7 --ticks 20000 -q -o one.json >/dev/null && pebble plan g.json --like one.json -q -o two.json >/dev/null &&
    cmp one.json two.json && echo same
