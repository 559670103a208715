# Each is reported, and ends with 2.
for words in "" "--height x" "--height 25" "--height 4 --by size" "--height 4 --algorithm bds:k=9" "--height 4 g.json"; do
    pebble merkle $words
    echo "$?"
done
