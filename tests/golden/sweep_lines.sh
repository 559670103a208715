# Several strategies in their own games, two ways to count: winners, refusals below the table, flips.
pebble gen adjoint-chain 12 -o g.json
pebble sweep g.json --caps 100%..20%,none --points 4 --strategy auto,every-k:k=3,sqrt,bennett --weights 0,0,1 --weights 10,0,1 --ticks 200000
