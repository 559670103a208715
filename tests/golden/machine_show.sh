pebble machine show a100-40
pebble machine show 't4*2' | tail -n 8
pebble machine show red-blue
pebble machine show red-blue -o mine.json && pebble machine show ./mine.json --json
# every built-in machine reads back as it was written
for name in $(pebble machine list --json | sed -n 's/.*"name":"\([^"]*\)".*/\1/p') 'h100*3'; do
    pebble machine show "$name" -o m.json && pebble machine show m.json --json | cmp - m.json
done
