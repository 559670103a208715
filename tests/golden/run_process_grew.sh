# What the process grew is stated in bytes, against the block of addresses: a percentage of a tiny block means nothing.
pebble run synthetic --cap 50% | grep "process grew" | sed -E 's/[0-9.]+ (B|KiB|MiB)/SIZE/g; s/ +/ /g; s/(more|less) than/more or less than/; s/as much as/more or less than/'
