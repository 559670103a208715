# Without a limit a plan of a small graph is no worse than with 200,000 ticks.
work() { pebble plan "$@" --json -q 2>/dev/null | sed -n 's/.*"makespan":\([0-9]*\).*/\1/p'; }
no_worse() { a=$(work "$@"); b=$(work "$@" --ticks 200000); [ "$a" -le "${b:-$a}" ] && echo "$*: no worse" || echo "$*: $a, with ticks $b"; }
pebble gen tree --height 6 -o tree.json
pebble gen pyramid --height 7 -o pyramid.json
pebble gen layered --nodes 30 --seed 3 -o layered.json
no_worse tree.json --game reversible --cap 12
[ "$a" -le 741 ] && echo "at most 741"
for seed in 3 4 11; do # where a search ends must not depend on the seed; a sanitizer has nothing new to find in these
    [ "${PEBBLE_TEST_SCALE:-100}" -lt 50 ] && a=0 || a=$(work tree.json --game reversible --cap 12 --seed $seed)
    [ "$a" -le 741 ] && echo "seed $seed: at most 741" || echo "seed $seed: $a"
done
no_worse pyramid.json --game reversible --cap 14
no_worse layered.json --cap 80% --game tiered --store-cost 2 --load-cost 2
