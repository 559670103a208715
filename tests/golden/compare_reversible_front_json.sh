pebble gen chain 6 | pebble compare - --cap 5 --game reversible --strategy bennett,exact --json
