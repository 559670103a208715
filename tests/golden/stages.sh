# Pipelines: instances from parameters, JSON and tables; a proved plan, a known schedule; errors that name the part.
cat > i.json <<'I'
{"source":"x","instances":[{"name":"a","stages":4,"micro_batches":12,"f":5,"b":6,"w":4,"transfer":0,"memory":2,"memory_b":1,"known":[{"cap":10}]},
 {"name":"b","stages":2,"micro_batches":2,"f":[1,2],"b":1,"w":1,"memory":2,"memory_b":1,"recompute":true,"boundary":1,"transfer":3}]}
I
pebble gen stages --instance i.json --name a --cap 10 -o a.json
pebble plan a.json --game timed --objective span --ticks 100000 -o a.plan
pebble verify a.json a.plan
pebble plan a.json --game timed --strategy 1f1b
pebble export a.json a.plan --as torch-pipeline
pebble export a.json a.plan --as trace | grep -c '"name":"F0'
pebble gen chain 3 -o c.json
pebble plan c.json --cap 100% -q -o c.plan >c.txt
pebble export c.json c.plan --as torch-pipeline
pebble plan a.json --game timed --strategy zb-v -q
pebble gen stages --instance i.json --name b --cap 6
pebble gen stages --instance i.json --name b --cap 6 --forward 9 | grep -c '"cost":9'
printf 'stage,f,b,w,memory,memory_b\n0,1.4,2,1,2,1\n1,1,2.6,1,2,1\n' | pebble gen stages --instance - --micro-batches 1 | grep -o '"name":"[FBW][01].0","cost":[0-9]*'
pebble gen stages --instance i.json
pebble gen stages --instance i.json --name c
pebble gen stages --name c
pebble gen chain --instance i.json
printf 'stage,f,speed\n0,1,2\n' | pebble gen stages --instance -
printf '{"stages":2,"f":{"x":1}}' | pebble gen stages --instance -
pebble gen stages --stages 2 --placement 0,2
pebble gen stages --memory 4 --cap 3
