# One of each, in words.
pebble merkle --height 1 | head -1
pebble catalytic a --lanes 1 | head -1
