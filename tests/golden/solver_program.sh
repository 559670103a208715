# Checkmate's program for other solvers, a solution read back, what is refused
pebble gen adjoint-chain 4 -q -o a.json
pebble export a.json --as mps --cap 4 | head -12
pebble export a.json --as lp --cap 4 | grep -A2 '^Minimize'
printf 'Model status\nOptimal\n\nR_5_2 1\nR_6_1 1\nR_7_0 1\n' >s.sol
pebble plan a.json --cap 6 --solution s.sol -o plan.json -q | head -4
pebble plan a.json --cap 5 --solution s.sol
pebble plan a.json --cap 5 --solution plan.json
pebble plan a.json --cap 5 --solution s.sol --strategy milp
pebble plan a.json --cap 5 --solution nothing.sol
pebble export a.json --as mps
pebble export a.json --as mps --cap none
pebble export a.json plan.json --as lp --cap 4
pebble export a.json plan.json --as csv --cap 4
pebble plan a.json --cap 4 --gap x
pebble plan a.json --cap 6 --strategy milp:solver=glpk
