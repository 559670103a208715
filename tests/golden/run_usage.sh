# What cannot be asked for is told, with what is near.
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
