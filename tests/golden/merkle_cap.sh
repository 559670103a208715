pebble merkle --height 10 --cap 30 --leaf-cost 1071 --by average
