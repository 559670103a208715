pebble gen chain 8 | pebble compare - --cap 5 --game remat --strategy cache-all,last-use
