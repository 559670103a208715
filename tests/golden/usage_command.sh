pebble pln g.json
