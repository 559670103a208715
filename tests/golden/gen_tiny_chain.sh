pebble gen chain 3
