pebble gen adjoint-chain 6 -o g.json
cat >s.json <<S
{"format":"pebble-schedule/1","game":"remat","cap":7,"moves":[["compute","x_1"],["compute","x_2"],["free","x_1"],
["compute","x_3"],["compute","x_4"],["compute","x_5"],["compute","x_6"],["compute","g_5"],["free","x_6"],["compute","g_4"],
["free","g_5"],["free","x_5"],["compute","g_3"],["free","g_4"],["free","x_4"],["compute","g_2"],["free","g_3"],
["free","x_3"],["compute","x_1"],["compute","g_1"],["free","g_2"],["free","x_2"],["compute","g_0"]]}
S
pebble explain g.json s.json && pebble explain g.json s.json x_1 && pebble explain g.json s.json x_2 --json
