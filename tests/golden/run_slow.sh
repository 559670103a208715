# With a file as slow memory: the same bits; what cannot be a file is reported.
spec=synthetic:steps=30,batch=8,bytes=4096,work=40
pebble run $spec --cap 15% --slow . --steps 2 --repeat 2 --json >r.json || exit
grep -o '"game":"tiered"' r.json
grep -o '"peak_equal":true,"results_equal":true,"text":"[^"]*"' r.json
ls
pebble run $spec --cap 15% --slow /dev/null/file --repeat 1 2>&1 | sed "s/file-[A-Za-z0-9]*/file-X/"
echo "exit ${PIPESTATUS[0]}"
