pebble gen chain 8 | pebble plan - --cap 5 --strategy cache-all --json
