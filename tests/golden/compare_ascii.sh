pebble gen chain 8 | LC_ALL=C pebble compare - --cap 100% --game remat --strategy last-use
