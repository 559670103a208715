# A plan for a model that was read with other options: what to pass, not only "another graph".
models=$(dirname "$0")/../fuzz/corpus/graph_onnx
cp "$models"/image.onnx "$models"/text_open.onnx .
pebble plan image.onnx --train --batch 3 --cap none --strategy last-use -q -o s.json >s.txt
grep -o '"read_with":"[^"]*"' s.json
pebble verify image.onnx s.json 2>&1; echo "exit $?"
pebble verify image.onnx s.json --train 2>&1; echo "exit $?"
pebble verify image.onnx s.json --train --batch=3 | cut -d: -f1; echo "exit $?"
pebble plan image.onnx --cap none --strategy last-use -q -o f.json >s.txt
grep -c read_with f.json
pebble verify image.onnx f.json --batch 3 2>&1; echo "exit $?"
pebble plan text_open.onnx --dim batch=1 --dim tokens=4 --cap none --strategy last-use -q -o t.json >s.txt
pebble explain text_open.onnx t.json --dim batch=1 --dim tokens=5 2>&1 | head -n 2
