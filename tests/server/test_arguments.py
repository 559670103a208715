"""Every argument of every address and every field of every document: wrong ones are refused with a sentence that names them."""
import json

from client import Server, run

server = Server()
graph = server.graph("chain")["id"]
job = server.job(graph, kind="plan", cap="none", strategies=["last-use"])
plan = server.rows(job)[0][0]["plan"]

WORDS = ("", "nan", "NaN", "inf", "-inf", "-1", "2", "1.5", "1e3", "+1", "%201", "1%20", "0x1", "auto0", "AUTO", "null", "%00", "%ff",
         "99999999999999999999", "-99999999999999999999", "9" * 400, "true", "openclosed", "..%2f..", "%7B%7D", "a,b")
NUMBERS = ("x", "", "-1", "+1", " 1", "1.0", 1.5, -1, True, [], {}, "1e3", 1e300, "nan", "0x10", "18446744073709551616",
           "99999999999999999999", "9" * 300)
DECIMALS = ("1.0", 1.5, "1e3")  # of NUMBERS: prices may be decimals
SIZES = ("x", "", "-1", "1.5", -1, True, [], {}, "nan", "NaN", "inf", "8 GiB", "8XB", "GiB", "%", "-5%", "1e3", "0x10",
         "99999999999999999999GiB", "99999999999999999999", "18446744073709551615", "18446744073709551616", "17179869184GiB",
         "99999999999999999999%", "9" * 300, "9" * 300 + "GiB", 1e300, "none ", "least", "60%..30%")


def refused(method, path, body=None, says="", expect=400, **more):
    status, _, data = server.ask(method, path, body, **more)
    assert status == expect, (method, path, str(body)[:200], status, data[:200])
    message = json.loads(data)["error"]["message"]
    assert says in message and len(message) < 600, (says, message)


def addresses():
    """Each address that is there, and the arguments that it takes with values that are right."""
    return {
        ("GET", "/api/about"): {},
        ("GET", "/api/health"): {},
        ("GET", f"/api/graphs/{graph}"): {},
        ("GET", f"/api/graphs/{graph}/file"): {},
        ("GET", f"/api/graphs/{graph}/names"): {},
        ("GET", f"/api/graphs/{graph}/layout"): {"lanes": ("auto", "0"), "groups": ("open", "closed"), "fold": ("1", "0")},
        ("GET", f"/api/graphs/{graph}/node"): {"node": ("0", "9")},
        ("GET", f"/api/jobs/{job}"): {},
        ("GET", f"/api/jobs/{job}/events"): {},
        ("POST", f"/api/jobs/{job}/stop"): {},
        ("GET", f"/api/plans/{plan}"): {},
        ("GET", f"/api/plans/{plan}/frames"): {},
        ("GET", f"/api/plans/{plan}/explain"): {"node": ("0", "9")},
        ("GET", f"/api/plans/{plan}/file"): {"as": ("schedule", "pbs", "metrics", "trace", "csv", "dot", "decisions")},
    }


def values_of_arguments():
    for (method, path), arguments in addresses().items():
        for key, good in arguments.items():
            for value in good:
                assert server.ask(method, f"{path}?{key}={value}")[0] == 200, (path, key, value)
            for value in WORDS:
                if value not in good and not (key == "node" and value == "2"):
                    refused(method, f"{path}?{key}={value}", says=key)


def groups_that_stay_open():
    graph = server.graph("unet")["id"]
    for good in ("0", "0,1", ""):
        assert server.ask("GET", f"/api/graphs/{graph}/layout?groups=closed&open={good}")[0] == 200, good
    for bad in ("-1", "x", "0,,1", "0;1", "99999999", "99999999999999999999"):
        refused("GET", f"/api/graphs/{graph}/layout?groups=closed&open={bad}", says="open")


def unknown_and_doubled_arguments():
    for (method, path), arguments in addresses().items():
        body = "{}" if method == "POST" else None
        refused(method, f"{path}?nothing=1", body, says="`nothing`")
        refused(method, f"{path}?token={server.token}&{'n' * 70}=1", body, says="nnnn")
        refused(method, f"{path}?token={server.token}&token={server.token}", body, says="twice")
        refused(method, path + "?" + "&".join(f"a{i}=1" for i in range(50)), body)
        for key, good in arguments.items():
            refused(method, f"{path}?{key}={good[0]}&{key}={good[0]}", body, says="twice")
            refused(method, f"{path}?{key.upper()}={good[0]}", body, says=key.upper())
    refused("POST", "/api/graphs?name=a&name=b", b"x", type="application/octet-stream", says="twice")
    refused("POST", "/api/graphs?names=a", b"x", type="application/octet-stream", says="`names`")
    refused("POST", "/api/graphs?name=a", {"gallery": "chain"}, says="`name`")
    refused("POST", f"/api/graphs/{graph}/jobs?cap=1", {"kind": "compare"}, says="`cap`")
    refused("DELETE", f"/api/jobs/{job}?now=1", says="`now`")
    assert server.ask("GET", f"/api/jobs/{job}")[0] == 200  # still there


def numbers_of_graphs_jobs_and_plans():
    for number in ("", "0", "00", "01", "+1", "-1", "%201", "1%20", "1.0", "0x1", "1e0", "18446744073709551617", "9" * 200, "1/", "1//"):
        for kind, ends in (("graphs/g", ("", "/layout", "/file")), ("jobs/j", ("", "/events")), ("plans/p", ("", "/frames"))):
            for end in ends:
                refused("GET", f"/api/{kind}{number}{end}", expect=404)


def numbers_of_events():
    for last in ("x", "-1", "+1", " ", "1.5", "nan", "0x1", "18446744073709551616", "9" * 300, "99999"):
        refused("GET", f"/api/jobs/{job}/events", headers={"Last-Event-ID": last}, says="Last-Event-ID")


def fields_of_graphs():
    for body in ({"gallery": "chain", "family": "chain"}, {"gallery": "chain", "x": 1}, {"family": "chain", "x": 1}, {"gallery": None},
                 {"family": "chain", "parameters": {"nodes": True}}, {"family": "chain", "parameters": None},
                 {"family": ["chain"]}, {"family": "chain", "parameters": {f"p{i}": "1" for i in range(100)}}, {}):
        refused("POST", "/api/graphs", body)
    for value in NUMBERS:
        refused("POST", "/api/graphs", {"family": "chain", "parameters": {"nodes": value}})
    refused("POST", "/api/graphs", ["chain"], says="expected a JSON object")


def numbers_of_graphs():
    skew = 0.4999999999999  # no digit may be lost
    hashes = [server.graph("tree", shape="skewed", nodes=63, skew=text)["hash"] for text in (skew, repr(skew), 0.5)]
    assert hashes[0] == hashes[1] != hashes[2], hashes


def fields_of_jobs():
    path = f"/api/graphs/{graph}/jobs"

    def bad(says, **fields):
        refused("POST", path, {"kind": "compare", **fields}, says=says)
    bad("`nothing`", nothing=1)
    bad("`Cap`", Cap="60%")
    bad("`points `", **{"points ": 1})
    bad("``", **{"": 1})
    bad("prices: there is no field `cost`", prices={"cost": 1})
    for key in ("time_ms", "ticks", "seed", "threads", "points"):
        for value in NUMBERS:
            bad(key + ":", **{key: value})
    for key, value in (("time_ms", 86400001), ("threads", 65), ("points", 1001)):
        bad(key + ":", **{key: value})
    for key in ("store_cost", "load_cost", "store_per_unit", "load_per_unit"):
        for value in NUMBERS:
            if value not in DECIMALS:
                bad(key + ":", prices={key: value})
    for value in SIZES:
        bad("cap:", cap=value)
        bad("slow_cap:", prices={"slow_cap": value})
        if value not in ("least", "60%..30%"):
            refused("POST", path, {"kind": "sweep", "caps": ["100%", value]}, says="caps:")
    for value in ("60%..", "..60%", "..", "60%..30%..20%", "none..30%", "30%..none", "least..x", "1" * 200, "1.." + "2" * 200):
        refused("POST", path, {"kind": "sweep", "caps": [value]}, says="caps:")
    refused("POST", path, {"kind": "sweep", "caps": ["100%..50%"] * 64, "points": 1000}, says="caps:")
    refused("POST", path, {"kind": "sweep", "caps": ["1"] * 65}, says="caps:")
    for value in ("nothing", "", "every-k:nope=1", "every-k:k", "sqrt,chen", "sqrt,", " sqrt", "auto\n", "demand:policy=x", "x" * 5000):
        bad("", strategies=["last-use", value])
    for value in ("sqrt", [], [[]], [None], {"sqrt": 1}, 1):
        bad("strategies:", strategies=value)
    refused("POST", path, {"kind": "plan", "strategies": ["sqrt", "chen"]}, says="strategies:")
    for value in ("nothing", "", 7, [], True):
        bad("policy:", policy=value)
    for value in ("", "Remat", "all", 1, [], True):
        bad("game:", game=value)
    for value in ([], [1, 2], [1, 2, 3, 4], "1,2,3", [1, 2, "nan"], [1, 2, "inf"], [1, 2, -1], [1, 2, None], [1, 2, [3]], [0, 0, "9" * 36]):
        bad("", weights=value)
    for text in ('{"kind":"compare","cap":NaN}', '{"kind":"compare","cap":Infinity}', '{"kind":"compare","cap":99999999999999999999}',
                 '{"kind":"compare","cap":1e999}', '{"kind":"compare","cap":"1","cap":"2"}', '{"kind":"compare","cap":"1\\u0000"}'):
        refused("POST", path, text.encode())


def the_largest_values_that_are_taken():
    """Work and transfers that pass 64 bits end as an answer, not as a wrong plan."""
    most = str(2**64 - 1)
    rows, done = server.rows(server.job(graph, kind="compare", game="tiered", cap=str(2**64 - 2), strategies=["demand", "last-use"], ticks=10**6,
                                        seed=most, prices=dict(store_cost=most, load_cost=most, store_per_unit=most, load_per_unit=most, slow_cap="none")))
    assert done["state"] in ("done", "failed"), done
    rows, done = server.rows(server.job(graph, kind="sweep", game="remat", caps=[str(2**64 - 2) + "..1", "none", "least"], points=3, strategies=["last-use"], ticks=10**6))
    assert done["state"] == "done", done


with server:
    run([values_of_arguments, groups_that_stay_open, unknown_and_doubled_arguments, numbers_of_graphs_jobs_and_plans, numbers_of_events, fields_of_graphs,
         numbers_of_graphs, fields_of_jobs, the_largest_values_that_are_taken])
    server.works()
