pebble gen chain 0 | pebble info - --game remat | sed '$s/ *[^ ]*$//' # whichever strategy shows it
