here=$(dirname "$0")
pebble compare "$here/tiny.json" --cap 2 --strategy last-use,bennett
