pebble gen chain 2 -o g.dot && head -n 1 g.dot && ls
