# The reason, and a smallest cap, which works.
pebble run synthetic:steps=9,batch=2,bytes=256,work=2 --cap 700 --repeat 1 >r.txt
echo "exit $?"
sed -n 1p r.txt
grep -o 'smallest cap with a known plan\|smallest cap that works' r.txt | sed 's/with a known plan/that works/'
cap=$(tr '\n' ' ' <r.txt | sed 's/.*Try *--cap *\([0-9.]*%*\).*/\1/')
pebble run synthetic:steps=9,batch=2,bytes=256,work=2 --cap "$cap" --repeat 1 --steps 1 --no-reference >/dev/null && echo "it works"
pebble run synthetic:steps=9,batch=2,bytes=256,work=2 --cap 700 --repeat 1 --json | sed 's/"least_\([a-z]*\)_cap":[0-9]*/"least_\1_cap":N/g'
