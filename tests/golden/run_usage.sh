# Wrong arguments are reported, with the closest valid ones.
try() { echo "\$ pebble $*"; pebble "$@" 2>&1; echo "exit $?"; }
try run
try run synthetic
try run synthetik --cap 50%
try run synthetic:steps --cap 50%
try run synthetic:steps=0 --cap 50%
try run synthetic:stages=3 --cap 50%
try run synthetic --cap 50% --clock sun
try run synthetic --cap 50% --steps 0
try run synthetic --cap 50% -o -
try profile
try profile synthetic --repeat 10001
try fit synthetic
try fit synthetic --cap none
try fit synthetic --cap 1MiB --max-overhead 10
try fit synthetic --cap 1MiB --option length
try fit adjoint --cap 1MiB
try fit adjoint --cap 1MiB --option size
try run synthetic --cap 50% --slow-cap 1MiB
try run synthetic:batch=16777216,bytes=16777216,work=1000000 --cap 50%
try run merkle:file=nowhere --cap 50%
echo "P5 2 2 255" >short.pgm
try profile pipeline:file=short.pgm
pebble run synthetic:steps=8 --cap 60% --slow . --repeat 1 --steps 1 --ticks 100 -o tiered.json >out || cat out
try run synthetic:steps=8 --repeat 1 --plan tiered.json
