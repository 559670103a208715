"""The bounds that the page shows are those that the command prints: jobs, sweeps, and the proven caps of an opened graph."""
import json
import os
import tempfile

from client import Server, pebble, run

folder = tempfile.TemporaryDirectory()
GRAPHS = {
    "adjoint": ["adjoint-chain", "40"],
    "chain12": ["chain", "12"],
    "chain64": ["chain", "64"],
    "tree3": ["tree", "3"],
    "tree10": ["tree", "10"],
    "pyramid3": ["pyramid", "3"],
    "pyramid4": ["pyramid", "4"],
    "butterfly": ["butterfly", "2"],
    "layered": ["layered", "14"],
}
# Least caps that are proved, as docs/bounds.md and the unit test have them; None: whatever the command prints.
CAPS = [
    ("tree10", "reversible", 14, "bennett"),
    ("chain64", "reversible", 7, "bennett"),
    ("tree10", "remat", 12, "demand"),
    ("pyramid4", "remat", 6, "demand"),
    ("pyramid3", "reversible", 6, "demand"),
    ("layered", "remat", None, "demand"),
    ("butterfly", "remat", None, "demand"),
]
# Work that any plan takes, under a cap.
WORK = [
    ("adjoint", "remat", "9", "griewank,dtr,chain", [], None),
    ("adjoint", "tiered", "6", "two-level,last-use", ["--store-cost", "5", "--load-cost", "5"], {"store_cost": 5, "load_cost": 5}),
    ("chain64", "reversible", "8", "bennett,lange,edge-rank,knill", [], None),
    ("chain12", "reversible", "5", "bennett,demand,exact", [], None),
    ("tree3", "reversible", "7", "eager-uncompute,edge-rank,exact", [], None),
    ("pyramid3", "remat", "5", "demand,recompute-all,exact", [], None),
    ("butterfly", "remat", "6", "demand,last-use", [], None),
    ("layered", "remat", "20000", "demand", [], None),
]
files = {name: os.path.join(folder.name, name + ".json") for name in GRAPHS}
for name, words in GRAPHS.items():
    pebble("gen", *words, "-o", files[name])
server = Server(*files.values())
ids = dict(zip(files, server.json("GET", "/api/about")["opened"]))


def command(*words):
    return json.loads(pebble(*words, "--json", expect=(0, 3, 4)))


def caps_of_info(name):
    return {g["game"]: g["proved_cap"] for g in command("info", files[name])["games"]}


def opened_graphs_show_the_commands_caps():
    for name in GRAPHS:
        shown = {g["game"]: g["proved_cap"] for g in server.json("GET", f"/api/graphs/{ids[name]}")["games"]}
        printed = caps_of_info(name)
        assert printed and all(shown[game] == cap for game, cap in printed.items()), (name, shown, printed)


def jobs_show_the_commands_caps():
    for name, game, least, strategy in CAPS:
        printed = caps_of_info(name)[game]
        assert least in (None, printed), (name, game, printed)
        events = server.events(server.job(ids[name], kind="least", game=game))
        bounds = [data["least_cap"] for _, event, data in events if event == "bound"]
        assert bounds == [printed], (name, game, bounds, printed)
        below = str(printed - 1)
        rows, done = server.rows(server.job(ids[name], kind="compare", game=game, cap=below, strategies=[strategy]))
        out = command("compare", files[name], "--game", game, "--cap", below, "--strategy", strategy)
        assert rows[0]["outcome"] == out["strategies"][0]["outcome"] == "infeasible", (name, rows, out)
        assert rows[0]["reason"] == out["strategies"][0]["reason"], (name, rows, out)
        assert out["least_caps"][0]["proved_cap"] == printed, (name, out)
        known = out["least_caps"][0]["known_cap"]
        assert f"{known:,}" in done["sentence"], (name, done, known)


def sweeps_show_the_commands_caps():
    for name, game, _, strategy in CAPS:
        job = server.job(ids[name], kind="sweep", game=game, strategies=[strategy], caps=["100%"])
        shown = [data for _, event, data in server.events(job) if event == "sweep"][-1]["sweeps"][0]["games"]
        printed = command("sweep", files[name], "--game", game, "--strategy", strategy, "--caps", "100%")["sweeps"][0]["games"]
        assert shown == printed, (name, game, shown, printed)
        assert shown[0]["proved_least_cap"] == caps_of_info(name)[game], (name, game, shown)


def bounds_of(rows):
    return [(r["strategy"], r["outcome"], r["lower_bound"], r["gap"]) for r in rows]


def jobs_show_the_commands_work():
    for name, game, cap, strategies, words, prices in WORK:
        for asked in [strategies, *strategies.split(",")]:
            rows, _ = server.rows(server.job(ids[name], kind="compare", game=game, cap=cap, strategies=asked.split(","), prices=prices))
            out = command("compare", files[name], "--game", game, "--cap", cap, "--strategy", asked, *words)["strategies"]
            assert sorted(bounds_of(rows)) == sorted(bounds_of(out)), (name, bounds_of(rows), bounds_of(out))
            assert len({r["lower_bound"] for r in rows + out}) == 1, (name, bounds_of(rows))
        first = strategies.split(",")[0]
        rows, _ = server.rows(server.job(ids[name], kind="plan", game=game, cap=cap, strategies=[first], prices=prices))
        assert rows[0]["lower_bound"] == out[0]["lower_bound"], (name, rows, out)


with server:
    run([opened_graphs_show_the_commands_caps, jobs_show_the_commands_caps, sweeps_show_the_commands_caps,
         jobs_show_the_commands_work])
