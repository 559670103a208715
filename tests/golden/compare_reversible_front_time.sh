# A limit on the time leaves some for the front, and for the rows behind those that prove.
pebble gen adder --bits 4 | pebble compare - --game reversible --cap 12 --time 3s --json -q |
    grep -oE '"complete":true|"strategy":"search","game":"reversible","outcome":"[a-z_]*"' | sort
