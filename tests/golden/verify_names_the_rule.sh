here=$(dirname "$0")
printf '{"format":"pebble-schedule/1","game":"remat","cap":4,"moves":[["compute",0],["free",0],["compute",1]]}' >s.json
pebble verify "$here/tiny.json" s.json --json
pebble verify "$here/tiny.json" s.json
