pebble merkle --height 4 --cap 12 --algorithm bds:k=2 --json
