# a plan without transfers is a plan of both games, so what is proved of the tiered game bounds the remat game too
pebble gen adjoint-chain 40 -o g.json
pebble compare g.json --cap 60% --store-cost 1 --load-cost 1 --strategy last-use,demand --ticks 2000 --json -q >rows.json
python3 -c 'import json
for row in json.load(open("rows.json"))["strategies"]:
    print(row["strategy"], row["game"], row["outcome"], row["lower_bound"])'
