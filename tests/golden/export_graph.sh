here=$(dirname "$0")
pebble export "$here/tiny.json" --format csv && pebble export "$here/tiny.json" -o g.dot && pebble export g.dot | cmp - <(pebble export "$here/tiny.json") && echo same
