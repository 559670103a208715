here=$(dirname "$0")
pebble plan "$here/tiny.json" --cap 4 --strategy last-use -q -o s.json >/dev/null
sed 's/"cost":3/"cost":4/' "$here/tiny.json" >other.json
sed 's/"metrics":{[^}]*}/"metrics":null/' s.json >plain.json
pebble verify other.json plain.json --any-graph && pebble verify other.json plain.json
