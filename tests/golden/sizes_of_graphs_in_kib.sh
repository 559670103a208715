# Byte sizes are turned into the graph's own unit, down.
pebble gen chain 3 --size 7 | sed 's/"size_unit":"[a-z]*"/"size_unit":"KiB"/' >g.json
for cap in 14 1MiB 1MB 2047; do pebble plan g.json --cap "$cap" --strategy cache-all --json | grep -o '"cap":[^,]*'; done
