# Keeping everything takes 8; the cap would do for other strategies.
pebble gen chain 8 | pebble plan - --cap 5 --strategy cache-all
