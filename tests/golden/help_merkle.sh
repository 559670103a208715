pebble merkle --help
