here=$(dirname "$0")
pebble plan "$here/tiny.json" --cap 4 --strategy last-use -o s.json && cat s.json
