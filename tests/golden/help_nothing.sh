# Without a command: the overview, and exit code 2.
pebble
