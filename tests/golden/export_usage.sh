here=$(dirname "$0")
pebble export "$here/tiny.json" x.json
pebble export "$here/tiny.json" x.json --as chart
pebble export "$here/tiny.json" --as trace
