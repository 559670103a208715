# Caps in every spelling, on a graph that needs 14 in program order; shares are rounded up, byte sizes down.
pebble gen chain 3 --size 7 -o g.json
for cap in 0 14 0014 12.5% 33.3% 0.000000001% 50% 100% 250% 1KiB 1k 1.5KB 2MiB 0.3KiB 8GiB 500MB 15EiB 18446744073709551614 \
    none unlimited; do
    printf '%s ' "$cap"
    pebble plan g.json --cap "$cap" --strategy cache-all --json | grep -o '"cap":[^,]*'
done
for cap in 16EiB 18446744073709551615 1e3 5% % .5 0.1234567891% 3XB; do pebble plan g.json --cap "$cap" --json --strategy cache-all; done |
    grep -o '"cap":[^,]*'
