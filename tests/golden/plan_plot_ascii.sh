pebble gen adjoint-chain 8 | LC_ALL=C COLUMNS=60 pebble plan - --cap none --strategy last-use --plot | tail -n 14
