pebble gen chain 9 >/dev/full
