# The plot is a whole picture, the plans are schedule files that the verifier takes.
pebble gen adjoint-chain 10 -o g.json
pebble sweep g.json --points 4 --strategy auto,recompute-all --svg plot.svg --csv table.csv --plans plans >/dev/null
ls plans
for plan in plans/*; do pebble verify g.json $plan | sed 's/:.*//'; done | sort | uniq -c | sed 's/^ *//'
wc -l <table.csv
python3 -c 'import sys, xml.dom.minidom; print(xml.dom.minidom.parse("plot.svg").documentElement.tagName)'
grep -c 'class="line"' plot.svg
