# what is wrong with the arguments of price, and of machine measure, rescale and fit
here=$(dirname "$0")
pebble price
pebble gen chain 4 -o g.json
pebble price g.json
pebble price g.json --machine none
pebble price g.json --machine "$here/price_machine.json" -o - --json
pebble price none.json --machine "$here/price_machine.json"
pebble machine measure
pebble machine measure here
pebble machine measure -o -
pebble machine rescale "$here/price_machine.json"
pebble machine rescale a100-40 -o x.json
pebble machine fit -o x.json
pebble machine fit g.json -o x.json
printf 'op,dtype,flops,bytes,ns\nconv,float32,1,2,x\n' >bad.csv
pebble machine fit bad.csv -o x.json
# more operations than a machine file may have
for i in $(seq 1025); do echo "op$i,float32,$i,2,9"; done >many.csv
pebble machine fit many.csv -o x.json
[ ! -e x.json ] || echo "x.json was written"
pebble run synthetic --cap 50% --profile p.json --machine "$here/price_machine.json"
