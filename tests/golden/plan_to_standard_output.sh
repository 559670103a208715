here=$(dirname "$0")
pebble plan "$here/tiny.json" --cap 4 --strategy last-use -q -o - | tail -n 2
