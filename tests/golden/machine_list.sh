pebble machine list
pebble machine list --json | head -n 3
