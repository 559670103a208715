# a machine with more slow memories than games have tiers: the first of them are used, and a line says so
pebble gen chain 4 -o chain.json
python3 - >ten.json <<'PY'
import json
slow = [f"s{i}" for i in range(1, 11)]
links = [{"name": f"{a}-{b}", "from": a, "to": b, "per_unit": 2} for s in slow for a, b in (("fast", s), (s, "fast"))]
print(json.dumps({"format": "pebble-machine/1", "name": "ten", "time_unit": "step",
                  "memories": [{"name": "fast", "cap": 3}] + [{"name": s} for s in slow],
                  "processors": [{"name": "p", "memory": "fast"}], "links": links}))
PY
pebble compare chain.json --machine ten.json --strategy last-use,demand --no-plot
pebble info chain.json --machine ten.json --ticks 1000 | tail -n 4
pebble plan chain.json --machine ten.json --game tiered --json -q | grep -o '"store":"[^"]*"'
