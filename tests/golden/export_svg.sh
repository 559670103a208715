here=$(dirname "$0")
pebble plan "$here/tiny.json" --cap 4 --strategy last-use -q -o s.json >/dev/null
pebble export "$here/tiny.json" s.json --as svg
