# What follows shows what the build was made with.
pebble --version | head -n 1 && pebble plan --version | head -n 1
pebble --version | grep -Ec '^(with Cbc|milp, lp-rounding: not built in)'
