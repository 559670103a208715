# Ctrl-C while planning: exit code 130, and what was found so far is written and legal. How long the first plan takes
# depends on the machine: wait longer until there is one.
pebble gen adjoint-chain 120000 -o g.json
for seconds in 2 4 8 16 32; do
    timeout --preserve-status -s INT $seconds pebble plan g.json --cap 2% -q -o s.json >/dev/null 2>&1
    code=$?
    [ -e s.json ] && break
    [ $code = 130 ] || break
done
echo "exit $code"
pebble verify g.json s.json | sed 's/:.*//'
