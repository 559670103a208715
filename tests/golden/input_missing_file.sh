pebble info nowhere.json
