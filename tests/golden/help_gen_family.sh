pebble gen pyramid --help && pebble help gen grid
