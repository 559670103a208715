here=$(dirname "$0")
printf '{"format":"pebble-schedule/1","game":"remat","cap":4,"moves":[["compute",0],["compute",1],["compute",2]]}' >s.json
pebble verify "$here/tiny.json" s.json --cap 4 && pebble verify "$here/tiny.json" s.json --cap 3
