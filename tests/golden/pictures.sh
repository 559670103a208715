# Files for browsers: what they are, and that the page loads nothing.
here=$(dirname "$0")
pebble compare "$here/tiny.json" --cap 4 --game remat --strategy cache-all,last-use -q --svg c.svg --html c.html >/dev/null
head -c 60 c.svg; echo; grep -c 'last-use' c.svg
grep -o '<script type="text/plain" id="[a-z0-9-]*"' c.html
grep -c "default-src 'none'" c.html; grep -cE '(src|href)="?https?:' c.html
pebble sweep "$here/tiny.json" --strategy last-use -q --html s.html >/dev/null
grep -o 'id="data-[a-z0-9-]*"' s.html | tr '\n' ' '; echo
pebble sweep "$here/tiny.json" "$here/tiny.json" --html s.html
pebble sweep "$here/tiny.json" --html -
