# Borrowed memory: as in plan, for several strategies; the front without it is not shown.
pebble gen chain 16 -o c.json
pebble compare c.json --cap 3 --borrow 2 --game reversible --strategy knill,bennett -q
pebble compare c.json --cap 3 --borrow 2 --game reversible --strategy knill --json | grep -oE '"borrow":2|"peak":3|"reversible_front":null'
