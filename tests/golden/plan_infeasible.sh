here=$(dirname "$0")
pebble plan "$here/tiny.json" --cap 3 --strategy last-use -o s.json
code=$?
ls
exit $code
