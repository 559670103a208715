# The largest batch of a network on a machine, with and without a plan; several smaller batches next to it.
pebble fit mlp --depth 40 --width 64 --machine a100-40 --cap 4MB --max-overhead forward --ticks 2000
echo "exit $?"
# The answers are what `info` and `plan` find for that batch, and the next batch does not fit.
pebble fit mlp --depth 9 --width 64 --optimizer adam --grads update --machine t4 --cap 3MB --max-overhead 40% --ticks 2000 --json >f.json
python3 - <<'P'
import json
import subprocess


def peak(batch):
    gen = ["pebble", "gen", "mlp", "--depth", "9", "--width", "64", "--optimizer", "adam", "--grads", "update", "--batch", str(batch)]
    graph = subprocess.run(gen, capture_output=True, check=True).stdout
    info = ["pebble", "info", "-", "--machine", "t4", "--game", "remat", "--ticks", "1", "--json"]
    found = json.loads(subprocess.run(info, input=graph, capture_output=True, check=True).stdout)
    return found["written_peak"], found["time"], {o["op"]: o["time"] for o in found["time_by_op"]}["update"]


f = json.load(open("f.json"))
order, planned = f["program_order"], f["planned"]
print(f["option"], f["machine"], f["cap"], f["cost_unit"])
print(peak(order["value"])[:2] == (order["peak"], order["cost"]), peak(order["value"] + 1)[0] > f["cap"])
print(planned["value"] > order["value"], planned["peak"] <= f["cap"], 0 < planned["overhead"] <= f["max_overhead"])
_, time, update = peak(planned["part"])
print(planned["parts_cost"] == planned["parts"] * (time - update) + update, planned["parts"] * planned["part"] >= planned["value"])
P
pebble fit transformer --blocks 1 --width 32 --heads 2 --vocabulary 50 --batch 2 --vary sequence --cap 2MB --machine v100-16 --ticks 500
pebble fit mlp --depth 40 --machine a100-40 --cap 4MB --ticks 500
echo "exit $?"
# Models: a batch, and a dimension that the model leaves open.
models=$(dirname "$0")/../fuzz/corpus/graph_onnx
pebble fit "$models/image.onnx" --train --optimizer adam --machine t4 --cap 200kB --ticks 500 | sed 1d
pebble fit "$models/text_open.onnx" --train --dim batch=2 --vary tokens --machine t4 --cap 200kB --ticks 500 | sed 1d
for wrong in "mlp --batch 3 --machine t4" "mlp --heads 2 --machine t4" "mlp --vary norm --machine t4" "mlp" "mlp --cap 50%" \
    "none.json --machine t4" "synthetic --cap 2MiB --batch 3" "synthetic --cap 2MiB --depth 3" "model.onnx --depth 3 --machine t4"; do
    pebble fit $wrong 2>&1
    echo "exit $?"
done
