# Errors in circuits: the place, the sentence, exit code 5.
printf 'INPUT(a)\nz = AND(a, b)\n' > a.bench
printf '.model m\n.inputs a\n.subckt x p=a\n' > a.blif
printf 'aag 3 2 0 1 1\n2\n4\n6\n6 2\n' > a.aag
printf 'INPUT(a)\nOUTPUT(z)\nOUTPUT(a)\nq = DFF(z)\nz = XOR(a, q)\n' > step.bench
for file in a.bench a.blif a.aag; do
    pebble info $file 2>&1
    echo "exit $?"
done
pebble export step.bench
