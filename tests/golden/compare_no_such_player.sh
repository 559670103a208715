pebble gen chain 8 | pebble compare - --cap 100% --game reversible --strategy last-use
