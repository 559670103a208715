pebble help sweep
