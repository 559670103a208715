pebble merkle --height 10
