pebble verify --help
