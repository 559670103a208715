pebble merkle --height 6 --cap 6
