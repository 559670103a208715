# Ctrl-C: exit code 130, and the runs that were measured by then are kept. How long the first takes depends on the machine.
for seconds in 2 4 8 16 32; do
    timeout --preserve-status -s INT $seconds pebble profile synthetic:batch=4 --repeat 10000 -o p.json >text 2>message
    code=$?
    [ -s p.json ] && break
    [ $code = 130 ] || break
done
echo "exit $code"
sed 's/[0-9][0-9]* runs*/N runs/' message
grep -c '"ns_high"' p.json
