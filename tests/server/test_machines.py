"""Jobs on a machine: the figures of the command, for built-in machines, machine files and the graph's own machine."""
import json
import os
import subprocess
import tempfile

from client import PEBBLE, Server, pebble, run

folder = tempfile.TemporaryDirectory()


def place(name):
    return os.path.join(folder.name, name)


pebble("gen", "unet", "--depth", "2", "-o", place("unet.json"))
pebble("gen", "adjoint-chain", "40", "--grad-size", "0", "-o", place("chain.json"))
pebble("machine", "show", "red-blue", "-o", place("two.json"))
with open(place("two.json")) as file:
    two = json.load(file)
# three memories: tiers 1 and 2
two["name"] = "three"
two["memories"] = [{"name": "fast", "cap": 6}, {"name": "near", "cap": 4}, {"name": "far"}]
two["links"] = [{"name": f"{way}{i}", "from": a, "to": b, "latency": cost}
                for i, (m, cost) in enumerate((("near", 2), ("far", 5))) for way, a, b in (("out", "fast", m), ("in", m, "fast"))]
with open(place("three.json"), "w") as file:
    json.dump(two, file)
with open(place("chain.json")) as file:
    own = json.load(file)
own["machine"] = two
with open(place("own.json"), "w") as file:
    json.dump(own, file)
server = Server(place("unet.json"), place("chain.json"), place("own.json"))
ids = dict(zip(("unet", "chain", "own"), server.json("GET", "/api/about")["opened"]))

# graph, machine in the job, machine of the command, game, strategies, cap
CASES = [
    ("unet", "a100-40", ["--machine", "a100-40"], "remat", ["last-use", "chen"], "70%"),
    ("unet", "rtx4090*2", ["--machine", "rtx4090*2"], "tiered", ["last-use", "demand"], "70%"),
    ("unet", "laptop", ["--machine", "laptop"], None, ["last-use", "sqrt"], None),
    ("chain", two, ["--machine", place("three.json")], "tiered", ["chain", "demand"], None),
    ("own", None, [], "tiered", ["chain", "demand"], None),
    ("unet", "a100-40", ["--machine", "a100-40"], "timed", ["back-to-back", "offload-all"], "50%"),
    ("own", "none", ["--machine", "none"], "remat", ["chain"], "8"),
]


def rows_equal_the_commands():
    for name, machine, words, game, strategies, cap in CASES:
        job = server.job(ids[name], kind="compare", machine=machine, game=game, strategies=strategies, ticks=20000, **({"cap": cap} if cap else {}))
        rows, done = server.rows(job)
        out = json.loads(pebble("compare", place(name + ".json"), *words, *(["--game", game] if game else []), *(["--cap", cap] if cap else []),
                                "--strategy", ",".join(strategies), "--ticks", "20000", "--json", "-q"))
        assert len(rows) == len(out["strategies"]) > 0
        for row in rows:
            assert any(all(row[k] == r[k] for k in r if k != "seconds") for r in out["strategies"]), (name, machine, row)
        assert done["sentence"]
        assert machine != "a100-40" or game == "timed" or "extra time" in done["sentence"], done


def a_machine_has_memories_and_links():
    about = server.json("GET", "/api/about")
    machines = {m["name"]: m for m in about["machines"]}
    assert len(machines) == 12 and machines["a100-40"]["time_unit"] == "ns"
    assert machines["a100-40"]["memories"][0] == {"name": "hbm", "cap": 40000000000, "reserve": 0}
    assert machines["red-blue"]["links"][0] == {"name": "out", "from": "fast", "to": "slow", "bandwidth": None, "latency": 100, "per_unit": 0}
    assert server.json("GET", f"/api/graphs/{ids['own']}")["machine"]["name"] == "three"
    assert server.json("GET", f"/api/graphs/{ids['unet']}")["machine"] is None


def wrong_machines_are_refused():
    def refused(machine, text):
        status, _, data = server.ask("POST", f"/api/graphs/{ids['unet']}/jobs", {"kind": "compare", "machine": machine, "cap": "80%"})
        message = json.loads(data)["error"]["message"]
        assert status == 400 and message.startswith("machine: ") and text in message, message
    refused("a100-4", "did you mean a100-40?")
    refused(place("two.json"), "there is no machine")  # never a path
    refused(["a100-40"], "expected a name")
    refused({"format": "pebble-machine/1"}, "machine file:1:")
    refused({**two, "links": [{"name": "x", "from": "fast", "to": "attic"}]}, "attic")


def the_command_names_the_default():
    """`--machine` replaces a graph's own machine; a job may name another, or none."""
    with Server(place("chain.json"), place("own.json"), "--machine", "red-blue") as other:
        for number, name in zip(other.json("GET", "/api/about")["opened"], ("chain", "own")):
            assert other.json("GET", f"/api/graphs/{number}")["machine"]["name"] == "red-blue"
            for machine, word in ((None, "red-blue"), ("none", "none"), (two, place("three.json"))):
                rows, _ = other.rows(other.job(number, kind="compare", machine=machine, strategies=["chain"], ticks=20000, cap="8"))
                out = json.loads(pebble("compare", place(name + ".json"), "--machine", word, "--cap", "8", "--strategy", "chain", "--ticks", "20000", "--json", "-q"))
                assert len(rows) == len(out["strategies"]) == (1 if word == "none" else 2)
                assert all(any(all(row[k] == r[k] for k in r if k != "seconds") for r in out["strategies"]) for row in rows), (name, word)
    with Server(place("own.json"), "--machine", "none") as other:
        assert other.json("GET", f"/api/graphs/{other.json('GET', '/api/about')['opened'][0]}")["machine"] is None
    for word, code in (("a100-4", 2), (place("chain.json"), 5)):
        assert subprocess.run([PEBBLE, "ui", "--no-open", "--machine", word], capture_output=True, timeout=60).returncode == code


with server:
    run([rows_equal_the_commands, a_machine_has_memories_and_links, wrong_machines_are_refused, the_command_names_the_default])
    server.works()
