# What fits without a plan follows from sizes; a plan fits more.
pebble fit synthetic:steps=9,bytes=256,work=2 --cap 64KiB --max-overhead 200% --json >f.json || exit
grep -o '"way":"\(store-all\|written\|order\)","value":[0-9]*,"bounded":true,"ran":true' f.json
written=$(sed -n 's/.*"way":"written","value":\([0-9]*\),.*/\1/p' f.json) planned=$(sed -n 's/.*"way":"planned","value":\([0-9]*\),.*/\1/p' f.json)
[ "$planned" -gt "$((2 * written))" ] && echo "more than twice as many"
pebble fit synthetic:steps=9,bytes=256,work=2 --cap 64KiB | sed -n '1p'
pebble fit synthetic --cap 100 --json | grep -o '"way":"[a-z-]*","value":0'
# Where nothing fits, the smallest cap that is known to work is named, and it works.
cap=$(pebble fit synthetic:steps=9,bytes=256,work=2 --cap 100 --max-overhead 900000% | tr '\n' ' ' | sed -n 's/.*no batch fits 100 B; .*Try --cap \([0-9]*\).*/\1/p')
pebble fit synthetic:steps=9,bytes=256,work=2 --cap "$cap" --max-overhead 900000% --json | grep -o '"way":"planned","value":[1-9]' | sed 's,.$,some,'
pebble fit synthetic:steps=9,bytes=256,work=2 --cap 64KiB --json | grep -o '"least_known_cap":null'
