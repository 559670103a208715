pebble gen tree --hight 3
