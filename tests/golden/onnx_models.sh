# Models of networks: what comes out, planned and verified; open sizes, training steps and options.
models=$(dirname "$0")/../fuzz/corpus/graph_onnx
pebble export "$models/image.onnx" --format csv
pebble export "$models/image.onnx" --train --batch 4 --optimizer adam --format csv | grep -c '^node'
pebble export "$models/text_open.onnx" --dim batch=2 --dim tokens=8 | cmp - <(pebble export "$models/text.onnx") && echo same
pebble plan "$models/text.onnx" --train --cap 90% --ticks 50000 -q -o s.json >/dev/null
pebble verify "$models/text.onnx" s.json --train | cut -d: -f1
pebble verify "$models/text.onnx" s.json 2>&1 >/dev/null
echo "exit $?"
pebble gen chain 3 | pebble info - --train 2>&1 | head -1
