# A file that may not grow further: an error like any other, and nothing is left behind.
ulimit -f 8
pebble gen chain 3000 -o chain.json; echo "exit $?"
pebble gen chain 3000 >printed.json; echo "exit $?"
pebble gen chain 20 -o small.json && pebble plan small.json --cap 5 -q -o plan.json >/dev/null && pebble verify small.json plan.json
ls
