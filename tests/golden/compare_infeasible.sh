here=$(dirname "$0")
pebble compare "$here/tiny.json" --cap 3 --game remat --strategy last-use,cache-all --json >out
code=$?
grep -c '"infeasible"' out
exit $code
