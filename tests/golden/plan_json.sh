here=$(dirname "$0")
pebble plan "$here/tiny.json" --cap 100% --strategy last-use --json
