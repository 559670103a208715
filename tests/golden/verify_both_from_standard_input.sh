pebble verify - -
