"""What the page shows is what the command prints, and what it downloads is what the command writes."""
import csv
import functools
import io
import json
import os
import struct
import tempfile

from client import Server, pebble, run

folder = tempfile.TemporaryDirectory()
GRAPHS = {
    "unet": ["unet", "--depth", "2"],
    "chain": ["adjoint-chain", "30", "--form", "saved", "--inplace", "yes"],
    "merkle": ["merkle", "5", "--data-size", "64", "--data", "given"],
    "pipeline": ["pipeline", "--width", "512", "--height", "512", "--input", "slow"],
    "layered": ["layered", "60"],
}
for name, words in GRAPHS.items():
    pebble("gen", *words, "-o", os.path.join(folder.name, name + ".json"))
files = {name: os.path.join(folder.name, name + ".json") for name in GRAPHS}
with open(files["chain"]) as whole:
    decimal = json.load(whole)
decimal["nodes"][1]["cost"] = 0.5  # counted in 0.1 step
files["decimal"] = os.path.join(folder.name, "decimal.json")
with open(files["decimal"], "w") as out:
    json.dump(decimal, out)
server = Server(*files.values())
ids = dict(zip(files, server.json("GET", "/api/about")["opened"]))

TICKS = 20000
CASES = [
    ("unet", "60%", "remat", ["last-use", "chen", "every-k", "search"], [], None, [0, 0, 1]),
    ("unet", "60%", None, ["sqrt", "bennett", "auto"], [], None, [1, 0, 5]),
    ("chain", "30%", "remat", ["last-use", "chain", "griewank", "dtr"], [], None, [0, 0, 1]),
    ("chain", "12", "tiered", ["demand", "two-level"], ["--load-cost", "3", "--store-cost", "2"],
     {"load_cost": 3, "store_cost": 2}, ["0.5", "0", "1"]),
    ("merkle", "90%", "remat", ["last-use", "order", "recompute-all", "cache-all"], [], None, [0, 0, 1]),
    ("decimal", "12", "tiered", ["demand"], ["--store-cost", "0.5", "--load-cost", "1.25"], {"store_cost": 0.5, "load_cost": "1.25"}, [0, 0, 1]),
    ("pipeline", "70%", "tiered", ["demand", "last-use"], ["--load-per-unit", "1"], {"load_per_unit": 1}, [0, 0, 1]),
    ("chain", "12", "tiered", ["demand"], ["--load-per-unit", "0.04"], {"load_per_unit": 0.04}, [0, 1e-11, 1]),
    ("chain", "12", "tiered", ["demand"], ["--store-cost", "0.5", "--load-cost", "1.25"], {"store_cost": 0.5, "load_cost": "1.25"}, [0, 0, 1]),
    ("layered", "85%", "remat", ["order", "cut", "last-use"], [], None, [0, 0, 1]),
    ("layered", "none", "reversible", ["bennett", "eager-uncompute"], [], None, [0, 0.001, 1]),
    ("layered", "1", "remat", ["last-use"], [], None, [0, 0, 1]),
]


@functools.cache
def run_case(index):
    name, cap, game, strategies, words, prices, weights = CASES[index]
    job = server.job(ids[name], kind="compare", cap=cap, game=game, strategies=strategies, prices=prices, weights=weights,
                     ticks=TICKS)
    rows, done = server.rows(job)
    out = json.loads(pebble("compare", files[name], "--cap", cap, *(["--game", game] if game else []), "--strategy",
                            ",".join(strategies), "--weights", ",".join(str(w) for w in weights), "--ticks", str(TICKS),
                            "--json", *words, expect=(0, 3, 4)))
    return rows, done, out


def rows_equal_the_commands():
    for index, case in enumerate(CASES):
        rows, done, out = run_case(index)
        assert len(rows) == len(out["strategies"]) > 0, case
        # The server runs quick strategies first: compare row by row, by what was asked.
        for row in rows:
            same = [r for r in out["strategies"] if all(row[k] == r[k] for k in r if k != "seconds")]
            assert same, (case, row, out["strategies"])
        winner = rows[done["winner_index"]] if done["winner"] else None
        assert (winner["strategy"] if winner else None) == out["winner"], (case, done, out["winner"])
        if winner:
            assert winner["plan"] == done["winner"] and winner["game"] == out["winner_game"]
            assert done["sentence"]


def a_baseline_that_fails_says_where():
    rows, _, _ = run_case(0)
    failed = rows[0]["failed"]
    assert rows[0]["plan"] is None and failed["need"] > 0 and failed["name"] and failed["over"] > 0
    assert str(failed["step"]) in rows[0]["reason"]


def identical_plans_have_one_hash():
    """The page shows them in one row."""
    tree = server.json("POST", "/api/graphs", {"family": "tree", "parameters": {"height": "6"}})["id"]
    names = ["cache-all", "last-use", "partial", "chen", "bennett"]
    rows, _ = server.rows(server.job(tree, kind="compare", cap="50", strategies=names, ticks=TICKS))
    by_name = {row["asked"]: row for row in rows}
    failed, hashes = by_name["cache-all"], {name: by_name[name]["plan_hash"] for name in names}
    assert hashes["cache-all"] is None and (failed["failed"]["step"], failed["failed"]["over"]) == (50, 1), failed
    assert hashes["last-use"] == hashes["partial"] == hashes["chen"] != hashes["bennett"], hashes
    assert [by_name[name]["operations"] for name in names[1:]] == [127, 127, 127, 407]
    assert failed["plan"] is None and [by_name[name]["attempt"] for name in names[1:]] == [None] * 4
    moves = server.bytes(f"/api/plans/{failed['attempt']}/frames")
    assert struct.unpack_from("<III", moves)[2] == 51  # the last one does not fit
    for what in ("file?as=schedule", "explain"):
        assert "up to" in server.json("GET", f"/api/plans/{failed['attempt']}/{what}", expect=404)["error"]["message"]
    assert [by_name[name]["title"] for name in names] == ["baseline", "program-order", "partial", None, "reversible"]


def facts_equal_the_commands():
    for name, path in files.items():
        info = server.json("GET", f"/api/graphs/{ids[name]}")
        out = json.loads(pebble("info", path, "--json", "--ticks", "1000"))
        for key in out:
            if key != "games":
                assert info[key] == out[key], (name, key)
        assert info["id"] == ids[name] and info["name"] == name + ".json"
        assert info["training"] == (name in ("unet", "chain", "decimal")), name
        for game in info["games"]:
            for other in out["games"]:
                if game["game"] == other["game"] and other["proved_cap"]:
                    assert game["proved_cap"] >= other["proved_cap"]  # the same function, with more than 1000 ticks


def files_equal_the_commands():
    for index, case in enumerate(CASES):
        name = case[0]
        rows, _, _ = run_case(index)
        for row in rows:
            if not row["plan"]:
                continue
            plan, path = row["plan"], os.path.join(folder.name, "plan.json")
            schedule = server.bytes(f"/api/plans/{plan}/file?as=schedule")
            open(path, "wb").write(schedule)
            pebble("verify", files[name], path)
            open(path + ".pbs", "wb").write(server.bytes(f"/api/plans/{plan}/file?as=pbs"))
            pebble("verify", files[name], path + ".pbs")
            for form in ("trace", "csv", "dot", "decisions"):
                assert server.bytes(f"/api/plans/{plan}/file?as={form}") == \
                    pebble("export", files[name], path, "--as", form), (case, form)
            metrics = json.loads(server.bytes(f"/api/plans/{plan}/file?as=metrics"))
            assert metrics["metrics"] == row["metrics"] or metrics["metrics"]["flux"] == str(row["metrics"]["flux"])
            assert server.json("GET", f"/api/plans/{plan}/explain") == \
                json.loads(pebble("explain", files[name], path, "--json"))
            node = server.json("GET", f"/api/graphs/{ids[name]}/node?node=5")["name"]
            assert server.json("GET", f"/api/plans/{plan}/explain?node=5") == \
                json.loads(pebble("explain", files[name], path, node, "--json"))
            frames_equal_the_steps(plan, pebble("export", files[name], path, "--as", "csv"), row)
            assert server.json("GET", f"/api/plans/{plan}")["metrics"] == row["metrics"]


def frames_equal_the_steps(plan, steps, row):
    data = server.bytes(f"/api/plans/{plan}/frames")
    magic, tiers, m, a = struct.unpack_from("<4I", data)
    at = 16

    def take(form, count, align=4):
        nonlocal at
        at += -at % align
        values = struct.unpack_from(f"<{count}{form}", data, at)
        at += struct.calcsize(f"<{count}{form}")
        at += -at % 4
        return values
    assert magic == 0x31464250
    op, tier, node, over = take("B", m), take("B", m), take("I", m), take("I", m)
    also_start, also = take("I", m + 1), take("I", a)
    during, after, slow, time = (take("d", m, 8) for _ in range(4))
    cap, peak = take("d", 2, 8)
    peak_step, = take("I", 1)
    fast0 = take("I", take("I", 1)[0])
    slow0 = take("I", take("I", 1)[0])
    assert take("I", 1) == (0,)  # not of the timed game
    assert at == len(data), (at, len(data))
    assert also_start[-1] == a
    rows = list(csv.DictReader(io.StringIO(steps.decode())))
    assert len(rows) == m == row["metrics"]["moves"]
    names = ["compute", "uncompute", "free", "store", "load", "drop"]
    for k, step in enumerate(rows):
        assert names[op[k] & 0x7f] == step["op"], (k, step)
        assert during[k] == float(step["memory_during"]) and after[k] == float(step["memory_after"]), (k, step, during[k], after[k])
    assert peak == row["metrics"]["peak"]
    assert during[peak_step] == peak if peak_step != 0xFFFFFFFF else True
    assert sum(o >> 7 for o in op) == row["metrics"]["recompute_count"]
    assert all(x <= y for x, y in zip(time, time[1:]))
    replay(op, node, over, also_start, also, fast0, slow0)


def replay(op, node, over, also_start, also, fast0, slow0):
    """The page's own rules: nothing is made twice or taken away when it is not there."""
    fast, slow = set(fast0), set(slow0)
    for k, o in enumerate(op):
        v, o = node[k], o & 0x7f
        if o == 0:
            fast |= {v, *also[also_start[k]:also_start[k + 1]]}
            if over[k] != 0xFFFFFFFF:
                fast.remove(over[k])
        elif o in (1, 2):
            fast.remove(v)
        elif o == 3:
            assert v in fast and v not in slow
            slow.add(v)
        elif o == 4:
            assert v in slow and v not in fast
            fast.add(v)
        else:
            slow.remove(v)


def layouts_and_names_are_whole():
    for name, path in files.items():
        g = json.load(open(path))
        info = server.json("GET", f"/api/graphs/{ids[name]}")
        data = server.bytes(f"/api/graphs/{ids[name]}/names")
        count, = struct.unpack_from("<I", data)
        offsets = struct.unpack_from(f"<{count + 1}I", data, 4)
        text = data[8 + 4 * count:]
        assert offsets[-1] == len(text) and count == info["nodes"] + info["groups"]
        assert [text[a:b].decode() for a, b in zip(offsets, offsets[1:])][:info["nodes"]] == [n["name"] for n in g["nodes"]]
        for words in ("", "?lanes=0", "?lanes=auto&groups=open"):
            data = server.bytes(f"/api/graphs/{ids[name]}/layout{words}")
            magic, kind, n, m, q, flags, width, height = struct.unpack_from("<6I2f", data)
            assert (magic, n, m, q) == (0x314C4250, info["nodes"], info["edges"], info["groups"])
            assert flags == 0 and (kind == 2) == (info["training"] and words != "?lanes=0"), (name, words)
            at = 32 + 12 * n + (n + 3) // 4 * 4 + 4 * n + 8 * m + 20 * q
            at += -at % 8
            assert len(data) == at + 16 * n
            sizes = struct.unpack_from(f"<{n}d", data, at)
            assert list(sizes) == [float(v["size"]) for v in g["nodes"]]
            x = struct.unpack_from(f"<{n}f", data, 32)
            assert all(0 < v < width for v in x)
        for words in ("", "&open=0" if info["groups"] else ""):
            data = server.bytes(f"/api/graphs/{ids[name]}/layout?groups=closed{words}")
            magic, kind, n, m, q, flags, width, height = struct.unpack_from("<6I2f", data)
            at = 32 + 12 * n + (n + 3) // 4 * 4 + 4 * n + 8 * m + 20 * q
            at += -at % 8
            closed = struct.unpack_from(f"<{n}d", data, at)
            whole, = struct.unpack_from("<I", data, at + 16 * n)
            item = struct.unpack_from(f"<{whole}I", data, at + 16 * n + 4)
            of = struct.unpack_from(f"<{n}I", data, at + 16 * n + 4 + 4 * whole)
            assert flags == 1 and whole == info["nodes"] and len(data) == at + 16 * n + 4 + 4 * whole + 4 * n
            for i in range(n):
                assert closed[i] == sum(float(g["nodes"][v]["size"]) for v in range(whole) if item[v] == i)
                assert of[i] < whole and item[of[i]] == i or whole <= of[i] < whole + info["groups"]
                assert not words or of[i] != whole, "the first group is open"


def the_graph_comes_back():
    for name, path in files.items():
        copy = os.path.join(folder.name, "copy.json")
        open(copy, "wb").write(server.bytes(f"/api/graphs/{ids[name]}/file"))
        assert pebble("export", copy, "--format", "csv") == pebble("export", path, "--format", "csv")
        answer = server.json("POST", f"/api/graphs?name={name}.json", open(path, "rb").read(), type="application/octet-stream")
        assert answer["id"] == ids[name]  # the same once more
        other = server.json("POST", "/api/graphs?name=other", open(path, "rb").read(), type="application/octet-stream")
        assert other["id"] != ids[name] and other["hash"] == answer["hash"]


def sweeps_equal_the_commands():
    for game, words in (("remat", []), (None, [])):
        job = server.job(ids["unet"], kind="sweep", game=game, strategies=["last-use", "every-k"], caps=["100%..40%", "30%"], points=5,
                         ticks=TICKS)
        events = server.events(job)
        document = [data for _, name, data in events if name == "sweep"][-1]
        out = json.loads(pebble("sweep", files["unet"], *(["--game", game] if game else []), "--strategy", "last-use,every-k",
                                "--caps", "100%..40%,30%", "--points", "5", "--ticks", str(TICKS), "--json"))
        for cell in document["sweeps"][0]["cells"]:
            plan = cell.pop("plan")
            assert (plan is None) == (cell["metrics"] is None)
            cell.pop("seconds")
            if plan:
                assert server.json("GET", f"/api/plans/{plan}")["metrics"]["peak"] == cell["metrics"]["peak"]
                assert len(server.bytes(f"/api/plans/{plan}/frames")) > 0
        for cell in out["sweeps"][0]["cells"]:
            cell.pop("seconds")
        assert document == out
        assert events[-1][1] == "done" and events[-1][2]["state"] == "done"


def least_caps_have_a_plan():
    rows, done = server.rows(server.job(ids["unet"], kind="least", game="remat", ticks=TICKS))
    assert done["winner"] and rows[0]["plan"] == done["winner"]
    info = json.loads(pebble("info", files["unet"], "--json", "--game", "remat", "--ticks", str(TICKS)))
    assert rows[0]["metrics"]["peak"] == info["games"][0]["known_cap"]


def the_gallery_works():
    about = server.json("GET", "/api/about")
    assert {"chain", "merkle", "unet", "transformer", "pipeline", "reversible"} <= {item["id"] for item in about["gallery"]}
    families = {f["name"]: {p["key"] for p in f["parameters"]} for f in about["families"]}
    names = {s["name"] for s in about["strategies"]}
    for item in about["gallery"]:
        assert set(item["parameters"]) <= families[item["family"]] and set(item["strategies"]) <= names, item
        assert item["text"].count(".") >= 2
        info = server.json("POST", "/api/graphs", {"gallery": item["id"]})
        quick = [s for s in item["strategies"] if s != "auto"]
        rows, done = server.rows(server.job(info["id"], kind="compare", game=item["game"], cap=item["cap"], strategies=quick,
                                            prices=item["prices"], ticks=2000000))
        assert done["winner"], (item["id"], rows, done)
        assert len(rows) == len(quick)


with server:
    run([rows_equal_the_commands, a_baseline_that_fails_says_where, identical_plans_have_one_hash,
         facts_equal_the_commands, files_equal_the_commands, layouts_and_names_are_whole, the_graph_comes_back, sweeps_equal_the_commands, least_caps_have_a_plan,
         the_gallery_works])
