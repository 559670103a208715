pebble gen piramid 3
