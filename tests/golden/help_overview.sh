pebble --help
