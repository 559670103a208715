pebble plan g.json --weigths 1,0,0
