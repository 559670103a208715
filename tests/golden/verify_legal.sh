here=$(dirname "$0")
printf '{"format":"pebble-schedule/1","graph":"tiny","game":"remat","cap":4,"moves":[["compute","a"],["compute","b"],["compute","c"]]}' |
    pebble verify "$here/tiny.json" -
