pebble gen chain 3 -o g.json
for cap in 12x 1.5 -3 101%% '' 99999999999999999999; do
    pebble plan g.json --cap "$cap"
    echo "exit $?"
done
