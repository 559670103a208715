pebble help --as bash | bash -n && echo bash
pebble help --as zsh | grep -c '^    [a-z]*)$'
pebble help --as fish | grep -c -- '-l cap '
