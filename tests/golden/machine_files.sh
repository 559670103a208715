# A machine and the work of nodes in graph files, and schedules that carry the machine.
cat >g.json <<'END'
{"format":"pebble-graph/1","name":"w","size_unit":"byte","fixed":{"hbm":5},
"machine":{"name":"mine","time_unit":"us","memories":[{"name":"hbm","cap":1000},{"name":"host"}],
"processors":[{"name":"gpu","memory":"hbm","overhead":2,"bandwidth":1000000,"rates":{"conv/float32":250000,"other":500000},"vendor":[1]}],
"links":[{"name":"out","from":"hbm","to":"host","bandwidth":5000000,"latency":1},
{"name":"in","from":"host","to":"hbm","latency":9}]},
"nodes":[{"name":"x","size":300,"given":true,"in":"host"},
{"name":"a","cost":7,"size":200,"flops":100,"bytes":"50","op":"conv","dtype":"float32","on":"gpu"},
{"name":"b","cost":7,"size":400,"times":{"gpu":12,"cpu 0":3},"on":["gpu","cpu 0"]},
{"name":"c","cost":1,"size":200,"bytes":5000,"keep":"hbm"},{"name":"d","size":100,"flops":1,"keep":true}],
"edges":[["x","a"],["a","b"],["b","c"],["c","d"],["a","d"]]}
END
for format in json dot csv; do
    pebble export g.json --format $format -o g.$format.out && cat g.$format.out
    pebble plan g.$format.out --cap 1000 --json | grep -o '"graph_hash":"[^"]*"'
done
pebble plan g.json --cap 1000 --game tiered -o s.json >plan.txt
head -n 2 s.json
pebble plan g.json --cap 1000 --game tiered -o s.pbs >plan.txt
pebble verify g.json s.json && pebble verify g.json s.pbs
pebble plan g.json --like s.json -o t.json >plan.txt && cmp s.json t.json
pebble plan g.json --cap 1000 --machine none -o s.json >plan.txt
pebble verify g.json s.json
pebble plan g.json --like s.json -o t.json >plan.txt && cmp s.json t.json
# What cannot be priced, and what is not a machine
pebble plan g.json --cap 1000 --machine ./bad.json
sed 's/500000}/0}/' g.json >bad.json && pebble info bad.json
sed 's/,"other":500000//' g.json >bad.json && pebble plan bad.json --cap 1000
