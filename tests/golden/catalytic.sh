# A formula in borrowed registers; bad formulas; a plan with borrowed memory, verified.
pebble catalytic '(a + b)*(c - d)' --lanes 100 | grep -v '^  time'
pebble catalytic 'a*b + a*c + b*c' --ring bits --registers 2 --json | sed 's/,"seconds".*/}/'
pebble catalytic '(a + b' || echo "exit $?"
pebble catalytic 'a' --registers 4 || echo "exit $?"
pebble gen chain 16 -o c.json
pebble plan c.json --game reversible --cap 3 --borrow 2 -o s.json
pebble verify c.json s.json
pebble export c.json s.json --as decisions | head -4
pebble plan c.json --game reversible --cap 2 --borrow 2 || echo "exit $?"
pebble gen tree --height 2 -o t.json
pebble plan t.json --cap 3 --borrow 3 --json | sed 's/.*"metrics"/"metrics"/;s/,"seconds".*/}/'
