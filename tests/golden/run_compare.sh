# Several strategies really run, one table: measured peaks are the planned ones, and all results are the same.
spec=synthetic:steps=9,batch=2,bytes=256,work=2
pebble run $spec --cap 70% --steps 2 --repeat 2 --compare --json >r.json || exit
grep -o '"results_equal":true' r.json
tr '{' '\n' <r.json | grep -o '"peak":[0-9]*' | paste - - | awk '{ print $1 == $2 ? "peak as planned" : $0 }'
grep -o '"asked":"[^"]*"' r.json | sort
grep -o '"digest":"[^"]*"' r.json | sort -u
pebble run $spec --cap 70% --steps 2 --repeat 2 --compare --weights 1ms/KiB,0,1 --strategy 'last-use,every-k:k=2' |
    sed -E 's/[0-9.]+ (ns|µs|ms|s)\b/TIME/g; s/[+-][0-9.]+ %//; s/ +/ /g'
pebble run $spec --cap 70% --steps 2 --repeat 2 --compare --strategy last-use,cache-all >/dev/null
echo "exit $?"
pebble run $spec --cap 70% --compare --plan r.json 2>&1
pebble run $spec --cap 70% --compare --strategy last-use,nothing 2>&1 | cut -c1-70
