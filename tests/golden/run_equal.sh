# Whatever the times are: the peak is the plan's, the results are those with everything kept, and they are these.
for cap in 100% 70% 50%; do
    pebble run synthetic:steps=9,batch=2,bytes=256,work=2 --cap $cap --steps 2 --repeat 2 --json >r.json || exit
    grep -o '"peak_equal":true,"results_equal":true,"text":"[^"]*"' r.json
    grep -o '"digest":"[^"]*"' r.json | sort -u
done
pebble run synthetic:steps=9,batch=2,bytes=256,work=2 --cap 50% --steps 1 --repeat 2 --no-reference --json | grep -o '"reference":null'
pebble run synthetic:steps=9,batch=2,bytes=256,work=2 --cap 50% --steps 2 --repeat 2 | grep -o 'exactly equal\|^the results .*'
