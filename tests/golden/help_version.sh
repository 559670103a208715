pebble --version && pebble plan --version
