# The table of one portfolio: caps from the peak in program order down to the smallest, front, knee, flips, least cap.
pebble gen adjoint-chain 12 -o g.json
pebble sweep g.json --points 6
