# The strategies and policies come and go with the library; the rest is fixed.
pebble help plan | sed '/^Strategies$/,/^Exit codes$/d'
