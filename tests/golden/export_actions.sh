# An adjoint chain as an adjoint code reads it; other shapes get a sentence.
pebble gen adjoint-chain 6 --form inputs --inplace yes --grad-size 0 -o chain.json
pebble plan chain.json --cap 3 -o plan.json >/dev/null
pebble export chain.json plan.json --as actions
pebble plan chain.json --game tiered --cap 2 --store-cost 1 --load-cost 1 --strategy demand -o plan.json >/dev/null
pebble export chain.json plan.json --as actions
pebble gen tree --height 2 -o tree.json
pebble plan tree.json --cap 7 -o plan.json >/dev/null
pebble export tree.json plan.json --as actions 2>&1
