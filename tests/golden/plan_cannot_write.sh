here=$(dirname "$0")
pebble plan "$here/tiny.json" --cap 4 --strategy last-use -o nowhere/s.json
