# --like with another machine: slow memory is that of the new machine; a machine without slow memory is refused.
pebble gen adjoint-chain 12 -o g.json -q
pebble plan g.json --machine red-blue --game tiered --cap 5 --ticks 20000 -o s.json -q >/dev/null
cat >other.json <<'END'
{"format":"pebble-machine/1","name":"other","time_unit":"step","memories":[{"name":"a","cap":5},{"name":"b"}],
 "processors":[{"name":"p","memory":"a"}],
 "links":[{"name":"down","from":"a","to":"b","latency":1},{"name":"up","from":"b","to":"a","latency":1}]}
END
pebble plan g.json --like s.json --machine other.json --ticks 20000 -o t.json -q >/dev/null
grep -o '"store":"[a-z]*"' t.json
pebble verify g.json t.json
pebble plan g.json --like s.json --machine none -o u.json
echo $?
sed 's/,{"name":"up".*}\]}/]}/' other.json >one_way.json
pebble plan g.json --machine one_way.json --game tiered
echo $?
