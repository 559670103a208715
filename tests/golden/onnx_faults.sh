# Models that are damaged, open or not read: a sentence with the node or the byte, and what to do.
models=$(dirname "$0")/../fuzz/corpus/graph_onnx
cp "$models"/*.onnx .
for file in cut.onnx group.onnx empty.onnx wide.onnx if.onnx text_open.onnx; do
    pebble info $file 2>&1
    echo "exit $?"
done
pebble info text_open.onnx --dim seq=4 2>&1
echo "exit $?"
pebble info image.onnx --train --optimizer magic 2>&1 | head -1
pebble info image.onnx --grads keep 2>&1 | head -1
pebble info image.onnx --dim batch 2>&1 | head -1
