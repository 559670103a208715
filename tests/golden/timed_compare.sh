# The timed game compared and swept: waiting time by cause, the figures by lane as JSON and CSV, pictures, plans of a sweep.
cat > m.json <<'M'
{"format":"pebble-machine/1","name":"small","time_unit":"tick","memories":[{"name":"fast"},{"name":"far"}],
 "processors":[{"name":"cpu","memory":"fast"}],
 "links":[{"name":"out","from":"fast","to":"far","per_unit":2},{"name":"in","from":"far","to":"fast","per_unit":2}]}
M
pebble gen adjoint-chain 12 -o g.json
set -- g.json --game timed --machine m.json --ticks 20000
pebble compare "$@" --cap 6 2>&1
pebble compare "$@" --cap 6 --strategy offload-all --json -q | grep -o '"peaks".*"lanes".*\]'
pebble compare "$@" --cap 6 --svg c.svg -q > /dev/null && grep -c 'back-to-back' c.svg
pebble sweep "$@" --strategies all,auto --caps 100%,60%,40%,10% --plans plans --csv s.csv -q
grep -v infeasible s.csv | cut -d, -f 2-3,8,10,12-15,34-
for file in plans/*; do pebble verify g.json "$file"; done | sed 's/:.*//' | sort | uniq -c | sed 's/^ *//'
pebble sweep "$@" --caps least -q
