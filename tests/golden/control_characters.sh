# Names from files, and words of the command line, move no cursor, set no title and turn no text around.
esc=$'\e' c1=$'\u009b' bidi=$'\u202e'
printf '{"format":"pebble-graph/1","name":"g\\u001b[2J\\nsecond line","cost_unit":"s\\u001b[1m","size_unit":"u\\u0007","nodes":[
{"name":"a\\u001b]0;title\\u0007","size":2,"cost":1},{"name":"b\\u009b31m\\u007f","size":5,"cost":2},
{"name":"c\\u202egpj.exe\\u2066","size":3,"cost":1},{"name":"d\\ré wörld ★","size":2,"cost":4}],
"edges":[["a\\u001b]0;title\\u0007","b\\u009b31m\\u007f"],["a\\u001b]0;title\\u0007","c\\u202egpj.exe\\u2066"],
["b\\u009b31m\\u007f","d\\ré wörld ★"],["c\\u202egpj.exe\\u2066","d\\ré wörld ★"]]}' >g.json
{
    pebble info g.json
    pebble plan g.json --cap 10 --strategy last-use -o s.json
    pebble plan g.json --cap 2
    pebble compare g.json --cap 10 --strategy cache-all
    pebble sweep g.json --points 2 --strategies cache-all
    pebble explain g.json s.json
    pebble explain g.json s.json "c${bidi}gpj.exe"$'\u2066'
    pebble export g.json s.json --as decisions
    pebble verify g.json s.json
    pebble verify g.json s.json --cap 9
    pebble explain g.json s.json "x$esc[2J"
    pebble "x$esc[2J"
    pebble info "missing$esc[2J$c1$bidi"$'\xff'.json
    pebble info g.json --"x$esc[2J"
    pebble plan g.json --cap "1$esc[2J"
    pebble gen chain "$esc[2J"
    pebble gen chain 3 --format "$esc"
    pebble catalytic "$esc"
    pebble run "x$esc" --cap 1
    printf 'digraph { "a%s[2J" -> ! }' "$esc" >bad.dot && pebble info bad.dot
    printf '{"nodes":[{"name":"\\u001b","size":1},{"name":"\\u001b","size":1}]}' >twice.json && pebble info twice.json
    printf 'digraph { "a\xff" }' >latin.dot && pebble info latin.dot
} >all 2>&1
cat all
LC_ALL=C grep -aqP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xff' all && echo "something came through"
iconv -f UTF-8 -t UTF-8 all >/dev/null || echo "broken UTF-8"
# Colours are ours, and files for other programs have the names themselves.
pebble info g.json --color always | LC_ALL=C grep -ac "^$esc\[1mg\\\\x1b\[2J\\\\nsecond line$esc\[0m: 4 nodes"
pebble export g.json s.json --as csv | LC_ALL=C grep -ac "a$esc]0;title"
pebble export g.json --format dot | LC_ALL=C grep -ac "a$esc]0;title"
pebble info g.json --json | grep -c "\"graph\":\"g\\\\u001b\[2J\\\\nsecond line\""
