pebble ui --help
