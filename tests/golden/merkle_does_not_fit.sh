pebble merkle --height 6 --cap 12 --algorithm szydlo
