pebble gen grid --rows 4 --cols 5 | pebble compare - --cap 12 --game reversible --strategy bennett,exact
