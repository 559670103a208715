pebble gen tree --height 1 --format dot
