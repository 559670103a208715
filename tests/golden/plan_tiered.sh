pebble gen chain 4 | pebble plan - --cap 4 --strategy last-use --load-cost 5 --store-cost 5 --json | grep -o '"game":"[a-z]*"\|"tiers":.*'
