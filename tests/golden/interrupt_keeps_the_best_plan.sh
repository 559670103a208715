# Ctrl-C while planning: exit code 130, and what was found so far is written and legal. With a time limit planning goes on
# while nothing is proved. How long the first plan takes depends on the machine: wait longer until there is one.
pebble gen resnet --depth 101 -o g.json
for seconds in 2 4 8 16 32; do
    timeout --preserve-status -s INT $seconds pebble plan g.json --cap 50% --time 300s -q -o s.json >/dev/null 2>&1
    code=$?
    [ -e s.json ] && break
    [ $code = 130 ] || break
done
echo "exit $code"
pebble verify g.json s.json | sed 's/:.*//'
