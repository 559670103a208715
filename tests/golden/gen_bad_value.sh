pebble gen tree --height lots
