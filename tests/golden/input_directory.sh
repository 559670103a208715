mkdir d
pebble info d
