# No number that stands for "without end", no name twice, no percentage in the thousands.
pebble gen chain 24 -o c.json
pebble sweep c.json --game reversible --caps 24,20,8 --strategy knill
pebble info c.json | grep reversible
pebble gen pyramid 3 -o p.json
pebble compare p.json --cap none --strategy tree,chain,kusumoto --load-cost 1
pebble plan p.json --cap none --strategy kusumoto --json -o s.json | grep -o '"options":{[^}]*}'
pebble plan p.json --like s.json --json | grep -o '"options":{[^}]*}'
pebble plan p.json --cap none --strategy kusumoto:budget=x
pebble gen chain --seed x
