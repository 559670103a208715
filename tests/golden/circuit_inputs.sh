# A circuit's inputs are free, or count; a schedule belongs to the graph with its inputs; other graphs get a note.
cat > c17.bench <<'END'
INPUT(1)
INPUT(2)
INPUT(3)
INPUT(6)
INPUT(7)
OUTPUT(22)
OUTPUT(23)
10 = NAND(1, 3)
11 = NAND(3, 6)
16 = NAND(2, 11)
19 = NAND(11, 7)
22 = NAND(10, 16)
23 = NAND(16, 19)
END
for inputs in free given computed; do
    pebble info c17.bench --inputs $inputs | head -3
done
pebble export c17.bench
pebble plan c17.bench --game reversible --strategy bennett --cap 20 --inputs given -o plan.json -q >/dev/null
pebble verify c17.bench plan.json --inputs given -q | head -1
pebble verify c17.bench plan.json 2>&1 | head -1
pebble gen chain 3 | pebble info - --inputs free 2>&1 | head -2
pebble gen adjoint-chain 2 | pebble export - --inputs free | head -3
pebble info c17.bench --inputs some 2>&1
