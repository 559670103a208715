# Ctrl-C: exit code 130, and what was found by then is shown. How long the first cell takes depends on the machine.
pebble gen layered --nodes 120 --seed 1 -o g.json
for seconds in 2 4 8 16 32; do
    timeout --preserve-status -s INT $seconds pebble sweep g.json --caps 100%..60% --time 1h --json >s.json 2>message
    code=$?
    grep -q '"outcome":"optimal"' s.json && break
    [ $code = 130 ] || break
done
echo "exit $code"
cat message
grep -o '"stopped":"[a-z]*"' s.json
