# Whatever is printed: where it cannot be written the command fails and says why, however little or much it is.
count=0
full() {
    count=$((count + 1))
    pebble "$@" >/dev/full 2>err
    code=$?
    grep -v '^pebble: standard output: cannot be written: No space left on device; check the free space, or the program that reads it$' err | grep '^pebble:' && echo "that is $*"
    [ "$code $(grep -c 'standard output: cannot be written' err)" = "1 1" ] || echo "exit $code of: $*"
}
full && full --help && full --version && full plan --help && full gen chain --help
for form in man bash zsh fish; do full help --as $form; done
for format in json dot csv; do
    for nodes in 3 60 100 2000 9000; do full gen chain $nodes --format $format; done
    full gen chain 9 --format $format -o -
done
pebble gen adjoint-chain 8 -o g.json && pebble plan g.json --cap 60% -q -o s.json >plain && pebble gen chain 4 -o other.json
pebble gen chain 3000 -o long.json && pebble plan long.json --cap 60% -q -o long_plan.json >/dev/null
for json in '' --json; do
    full info g.json $json
    full plan g.json --cap 60% $json
    full plan g.json --cap 1 $json
    full compare other.json --cap 3 $json
    full sweep other.json --points 2 $json
    full sweep other.json other.json --points 2 $json
    full verify g.json s.json $json
    full verify g.json s.json --cap 1 $json
    full explain g.json s.json $json
    full explain g.json s.json x_1 $json
    full merkle --height 5 $json
    full catalytic 'a*b' $json
    full profile synthetic:steps=6,batch=2,bytes=256,work=2 --repeat 1 $json
    full run synthetic:steps=6,batch=2,bytes=256,work=2 --cap 60% --steps 1 --repeat 1 $json
    full fit synthetic:steps=9,bytes=256,work=2 --cap 2KiB $json
done
full plan g.json --cap 60% --plot
full plan g.json --cap 60% -q -o -
full plan long.json --cap 60% -q -o -
full sweep other.json --points 2 --csv -
full sweep other.json --points 2 --svg - --csv /dev/null --json
for form in decisions csv json dot trace; do
    full export g.json s.json --as $form
    full export long.json long_plan.json --as $form
    full export g.json s.json --as $form -o -
done
full export g.json s.json --as actions
full export long.json
full profile synthetic:steps=6,batch=2,bytes=256,work=2 --repeat 1 -q -o -
full profile synthetic:steps=2500,batch=1,bytes=64,work=1 --repeat 1 --json # more than the buffer
echo "$count commands"
# Closed is not written either; nor does the plan's file take what was meant for the screen.
pebble info g.json >&- 2>err; echo "exit $?: $(cat err)"
pebble plan g.json --cap 60% -o t.json >&- 2>err; echo "exit $?: $(cat err)"; cmp s.json t.json
pebble plan g.json --cap 60% -q -o t.json 2>&- >other; echo "exit $?"; cmp plain other; cmp s.json t.json
pebble info - <&- >out 2>err; echo "exit $?: $(cat err)"
# A reader that has seen enough is not an error.
set -o pipefail
pebble help --as bash | true; pebble compare other.json --cap 3 --json | head -c 0; pebble export long.json long_plan.json --as csv | head -n 1
echo "exit $?"
pebble profile synthetic:steps=2500,batch=1,bytes=64,work=1 --repeat 1 --json | head -c 12; echo " exit $?"
