pebble gen adjoint-chain 8 | pebble plan - --cap 100% --strategy last-use --plot
