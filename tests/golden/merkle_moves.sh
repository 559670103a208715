pebble merkle --height 5 --leaf-cost 7 --cap 12 -o plan.json >/dev/null &&
    pebble gen merkle-traversal 5 --leaf-cost 7 -o g.json && pebble verify g.json plan.json
