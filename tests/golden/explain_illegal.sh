here=$(dirname "$0")
printf '{"format":"pebble-schedule/1","game":"remat","cap":4,"moves":[["compute",1]]}' >s.json
pebble explain "$here/tiny.json" s.json
