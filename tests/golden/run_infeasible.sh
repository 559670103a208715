pebble run synthetic:steps=9,batch=2,bytes=256,work=2 --cap 700 --repeat 1
pebble run synthetic:steps=9,batch=2,bytes=256,work=2 --cap 700 --repeat 1 --json
