here=$(dirname "$0")
pebble info "$here/tiny.json" --json | sed 's/"strategy":"[^"]*"/"strategy":"-"/g'
