# Options before and after, = and blank, last one wins.
pebble gen --cols=2 grid 2 --size 3 --size=4 --format csv
