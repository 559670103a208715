here=$(dirname "$0")
pebble info "$here/tiny.json" --game remat | sed '$s/ *[^ ]*$//' # whichever strategy shows it
