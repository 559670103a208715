echo old >s.json
pebble gen chain 8 | pebble plan - --cap 5 --strategy cache-all -o s.json >/dev/null
cat s.json
ls
