here=$(dirname "$0")
pebble plan "$here/tiny.json" --cap 4 --strategy last-use -q -o s.json >/dev/null
pebble explain "$here/tiny.json" s.json d
