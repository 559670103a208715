"""machine_prices.py -- prices random graphs by the text of docs/formats.md and docs/machines.md, and compares with what
`pebble plan --machine` states: work, io and the hash of the graph. Whole numbers only, no code of the project."""
import hashlib
import json
import random
import subprocess

UNITS = {"ns": 10**9, "us": 10**6, "ms": 10**3, "s": 1}
OPS, TYPES = ["conv", "matmul", "norm"], ["float32", "bfloat16", "int8"]


def ceil(a, b):
    return -(-a // b)


def duration(machine, node):
    p, unit = machine["processors"][0], UNITS.get(machine.get("time_unit", "ns"))
    if p["name"] in node.get("times", {}):
        return int(node["times"][p["name"]])
    if unit is None or not ("flops" in node or "bytes" in node):
        return node.get("cost", 0)
    rates, op, dtype = p.get("rates", {}), node.get("op"), node.get("dtype")
    rate = rates.get(f"{op}/{dtype}") or rates.get(dtype) or rates["other"]
    bandwidth = p.get("bandwidths", {}).get(op) or p.get("bandwidth")
    computing = ceil(int(node.get("flops", 0)) * unit, int(rate))
    moving = ceil(int(node.get("bytes", 0)) * unit, int(bandwidth)) if bandwidth else 0
    return p.get("overhead", 0) + max(computing, moving)


def copy_time(machine, name, size):
    link = next(x for x in machine["links"] if x["name"] == name)
    unit, bandwidth = UNITS.get(machine.get("time_unit", "ns")), link.get("bandwidth")
    moving = ceil(size * unit, bandwidth) if unit and bandwidth else 0
    return link.get("latency", 0) + link.get("per_unit", 0) * size + moving


def text(word):
    return f"{len(word.encode())}:{word}"


def graph_hash(graph, machine_text):
    nodes = graph["nodes"]
    read = {a for a, _ in graph["edges"]}
    lines = ["pebble-graph/1", "fixed_size 0"]
    for v, n in enumerate(nodes):
        flags = ("g" if n.get("given") else "-") + "-" + ("k" if n.get("keep") else "-") + ("-" if v in read else "t")
        lines.append(f"node {text(n['name'])} {n.get('cost', 0)} {n['size']} 0 {flags}")
    lines += [f"edge {a} {b}" for a, b in sorted(map(tuple, graph["edges"]))]
    lines += [f"order {v}" for v, n in enumerate(nodes) if not n.get("given")]
    for v, n in enumerate(nodes):
        if {"flops", "bytes", "op", "dtype"} & n.keys():
            words = [text(n[key]) if key in n else "-" for key in ("op", "dtype")]
            lines.append(f"work {v} {n.get('flops', '-')} {n.get('bytes', '-')} {words[0]} {words[1]}")
    for v, n in enumerate(nodes):
        on = n.get("on", [])
        lines += [f"time {v} {text(p)} {t}" for p, t in n.get("times", {}).items()]
        lines += [f"on {v} {text(p)}" for p in ([on] if isinstance(on, str) else on)]
        lines += [f"in {v} {text(n['in'])}"] if "in" in n else []
        lines += [f"keep {v} {text(n['keep'])}"] if isinstance(n.get("keep"), str) else []
    lines += [f"fixed {text(m)} {size}" for m, size in graph.get("fixed", {}).items()]
    if "machine" in graph:
        lines.append(f"machine {text(machine_text)}")
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()


def random_machine(r):
    number = lambda top: r.randint(1, 10 ** r.randint(1, top))
    rate = lambda top: r.randint(10**6, 10 ** r.randint(7, top))
    gpu = {"name": "gpu", "memory": "fast", "overhead": number(4), "bandwidth": rate(13)}
    gpu["rates"] = {"conv/float32": rate(14), "float32": rate(14), "bfloat16": rate(14), "other": rate(14)}
    if r.random() < 0.5:
        gpu["bandwidths"] = {"norm": rate(13)}
    if r.random() < 0.3:
        del gpu["bandwidth"]
    links = [{"name": "out", "from": "fast", "to": "slow", "bandwidth": rate(11), "latency": number(4)},
             {"name": "in", "from": "slow", "to": "fast", "bandwidth": rate(11), "per_unit": number(2)}]
    return {"format": "pebble-machine/1", "name": "random", "time_unit": r.choice(["ns", "us", "ms", "s", "step"]),
            "memories": [{"name": "fast"}, {"name": "slow"}], "processors": [gpu], "links": links}


def random_graph(r, machine):
    nodes, edges = [], []
    for v in range(r.randint(4, 14)):
        node = {"name": f"n{v}", "cost": r.randint(1, 1000), "size": r.randint(1, 9)}
        if v == 0 and r.random() < 0.5:
            node = {"name": "n0", "size": 1, "given": True, "in": "fast"}
        elif r.random() < 0.8:
            node["flops"] = r.randint(0, 10 ** r.randint(1, 12))
            node["bytes"] = r.randint(0, 10 ** r.randint(1, 11))
            for key in r.sample(["flops", "bytes"], r.randint(0, 1)):
                del node[key]
            if r.random() < 0.8:
                node["op"] = r.choice(OPS)
            if r.random() < 0.8:
                node["dtype"] = r.choice(TYPES)
        if "given" not in node and r.random() < 0.2:
            node["times"] = {r.choice(["gpu", "other gpu"]): r.randint(0, 10**9)}
        if "given" not in node and r.random() < 0.2:
            node["on"] = r.choice(["gpu", ["gpu", "cpu"]])
        if r.random() < 0.1:
            node["keep"] = "fast"
        nodes.append(node)
        edges += [[u, v] for u in r.sample(range(v), min(v, r.randint(1, 2)))]
    graph = {"format": "pebble-graph/1", "nodes": nodes, "edges": edges}
    if r.random() < 0.3:
        graph["machine"] = machine
    return graph


def plan(game, cap, machine):
    words = ["pebble", "plan", "g.json", "--game", game, "--cap", str(cap), "--ticks", "20000", "-o", "s.json", "--json"]
    done = subprocess.run(words + machine, capture_output=True, text=True)
    if done.returncode not in (0, 3, 4):
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout) if done.returncode == 0 else None


def check(seed):
    r = random.Random(seed)
    machine = random_machine(r)
    graph = random_graph(r, machine)
    json.dump(graph, open("g.json", "w"))
    json.dump(machine, open("m.json", "w"))
    nodes, plans = graph["nodes"], 0
    whole = sum(n["size"] for n in nodes)
    for game in ("remat", "reversible", "tiered"):
        said = plan(game, r.randint(max(1, whole // 3), whole), [] if "machine" in graph else ["--machine", "m.json"])
        if not said:
            continue
        schedule = json.load(open("s.json"))
        assert schedule["machine"] == machine, (seed, schedule["machine"])
        canonical = json.dumps(machine, separators=(",", ":"))
        assert said["graph_hash"] == graph_hash(graph, canonical), (seed, "graph_hash")
        links = {"store": "store", "load": "load"}
        work = sum(duration(machine, nodes[m[1]]) for m in schedule["moves"] if m[0] in ("compute", "uncompute"))
        io = sum(copy_time(machine, schedule["tiers"][m[2] - 1][links[m[0]]], nodes[m[1]]["size"])
                 for m in schedule["moves"] if m[0] in links)
        assert (int(said["metrics"]["work"]), int(said["metrics"]["io"])) == (work, io), (seed, game, work, io, said)
        verify = subprocess.run(["pebble", "verify", "g.json", "s.json"], capture_output=True, text=True)
        assert verify.returncode == 0, (seed, game, verify.stdout, verify.stderr)
        plans += 1
    return plans


if __name__ == "__main__":
    plans = sum(check(seed) for seed in range(40))
    print("plans agree" if plans > 80 else f"only {plans} plans were compared")
