"""Who gets in, and what is refused: after every refusal the server goes on."""
import json
import re

from client import Server, run

server = Server()


def refused(expect, method, path, body=None, **more):
    status, headers, data = server.ask(method, path, body, **more)
    assert status == expect, (method, path, more, status, data[:200])
    if path.startswith("/api/"):
        assert json.loads(data)["error"]["message"], data
    assert headers["X-Content-Type-Options"] == "nosniff"
    server.works()
    return data


def no_token():
    refused(403, "GET", "/api/about", token=False)
    refused(403, "GET", "/api/about", headers={"X-Pebble-Token": "0" * 48})
    refused(403, "GET", "/api/about", headers={"X-Pebble-Token": server.token[:-1]})
    refused(403, "GET", "/api/about?token=" + server.token[:-1] + "g", token=False)
    refused(403, "GET", "/api/jobs/j1/events", token=False)
    refused(403, "POST", "/api/graphs", {"gallery": "chain"}, token=False)
    assert b"pebble ui" in refused(403, "GET", "/", token=False)
    assert b"pebble ui" in refused(403, "GET", "/?token=1234", token=False)


def three_ways_to_show_the_token():
    status, headers, _ = server.ask("GET", "/?token=" + server.token, token=False)
    assert status == 200
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"
    server.json("GET", "/api/about", headers={"Cookie": cookie.split(";")[0]}, token=False)
    server.json("GET", "/api/about?token=" + server.token, token=False)
    server.json("GET", "/api/about")
    refused(403, "GET", "/api/about", headers={"Cookie": cookie.split(";")[0] + "0"}, token=False)


def wrong_host():
    for host in ("evil.example", "evil.example:%d" % server.port, "127.0.0.1", "127.0.0.1:1", "localhost:0",
                 "127.0.0.1.evil.example:%d" % server.port, "10.0.0.1:%d" % server.port, ":%d" % server.port, ""):
        refused(403, "GET", "/api/about", headers={"Host": host})
        refused(403, "GET", "/", headers={"Host": host})
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        server.json("GET", "/api/about", headers={"Host": "%s:%d" % (host, server.port)})
    assert b"403" in server.raw(b"GET /api/about HTTP/1.0\r\n\r\n").split(b"\r\n")[0]
    server.works()


def hosts_without_a_port():
    """Browsers leave out port 80; where it can be had, that is the server's address."""
    try:
        other = Server("--port", "80")
    except AssertionError:
        print("port 80 is not to be had")
        return
    with other:
        for host in ("127.0.0.1", "localhost", "[::1]", "127.0.0.1:80"):
            other.json("GET", "/api/about", headers={"Host": host, "Origin": "http://" + host})
        for host in ("", ":80", "127.0.0.1:8080", "::1", "[::1", "evil.example", "evil.example:80"):
            assert other.ask("GET", "/api/about", headers={"Host": host})[0] == 403, host


def open_to_all_takes_addresses_and_no_names():
    with Server("--host", "0.0.0.0") as other:
        for host in ("192.168.1.7", "[fe80::1]", "localhost"):
            other.json("GET", "/api/about", headers={"Host": f"{host}:{other.port}"})
        for host in ("evil.example", "[evil]", "[", "]", "1.2.3", "1.2.3.4.example", "0x7f.1"):
            assert other.ask("GET", "/api/about", headers={"Host": f"{host}:{other.port}"})[0] == 403, host


def wrong_origin():
    for origin in ("http://evil.example", "https://127.0.0.1:%d" % server.port, "null", "http://127.0.0.1:1", "",
                   "http://127.0.0.1:%d.evil.example" % server.port):
        refused(403, "GET", "/api/about", headers={"Origin": origin})
        refused(403, "POST", "/api/graphs", {"gallery": "chain"}, headers={"Origin": origin})
    server.json("GET", "/api/about", headers={"Origin": "http://127.0.0.1:%d" % server.port})


def plain_forms_change_nothing():
    for type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", None):
        refused(415, "POST", "/api/graphs", "gallery=chain", type=type)
    refused(415, "DELETE", "/api/jobs/j1", type="text/plain")


def paths_lead_nowhere_else():
    for path in ("/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/./index.html",
                 "/index.html/..", "/.git/config", "/app.js%00.html", "/\\..\\x", "/" + "a" * 4000, "/api", "/favicon"):
        refused(404, "GET", path)
    for path in ("/api/", "/api/graphs/../about", "/api/graphs/g1/../../about", "/api/plans/p1/../../../etc/passwd",
                 "/api/nothing", "/api/jobs/j99999999999999999999999", "/api/graphs/g", "/api/graphs/-1",
                 "/api/graphs/g1x", "/api/graphs/j1", "/api/plans/p0", "/api/graphs/g999/layout"):
        refused(404, "GET", path)


def other_methods():
    for method in ("PUT", "PATCH", "TRACE", "OPTIONS"):
        status, _, _ = server.ask(method, "/api/about")
        assert status in (404, 405, 415), (method, status)
        server.works()
    refused(405, "POST", "/api/about", {})
    refused(405, "GET", "/api/graphs")
    refused(405, "POST", "/", {})


def malformed_control_documents():
    texts = ("", "{", "[]", "null", '"gallery"', '{"gallery":1}', '{"gallery":"nothing"}', '{"family":"nothing"}',
             '{"family":"chain","parameters":[]}', '{"family":"chain","parameters":{"nodes":[]}}',
             '{"family":"chain","parameters":{"nodes":"x"}}', '{"family":"chain","parameters":{"nope":"1"}}',
             '{"family":"chain","family":"tree"}', "\x00\x01\x02", "{" * 100000, "[" * 5000, '{"family":"chain"} x',
             '{"family":"\\u0000"}', '{"family":"chain","parameters":{"nodes":"99999999999999999999999"}}')
    for text in texts:
        refused(400, "POST", "/api/graphs", text.encode())
    error = json.loads(refused(400, "POST", "/api/graphs", '{"gallery":\n  oops}'))["error"]
    assert error["line"] == 2 and error["column"] > 1 and error["code"] == "PB_EFORMAT", error


def malformed_jobs():
    g = server.graph("chain")["id"]
    for control in ("", "{}", "[]", '{"kind":"nothing"}', '{"kind":1}', {"kind": "compare", "cap": "much"},
                    {"kind": "compare", "cap": -1}, {"kind": "compare", "cap": {}}, {"kind": "compare", "game": "chess"},
                    {"kind": "compare", "weights": [1, 2]}, {"kind": "compare", "weights": [1, 2, -3]},
                    {"kind": "compare", "weights": ["1,2", "3", "4"]}, {"kind": "compare", "weights": "1,2,3"},
                    {"kind": "compare", "strategies": []}, {"kind": "compare", "strategies": [1]},
                    {"kind": "compare", "strategies": ["x" * 5000]}, {"kind": "compare", "time_ms": "long"},
                    {"kind": "compare", "time_ms": 1e300}, {"kind": "compare", "threads": 100000},
                    {"kind": "compare", "seed": -1}, {"kind": "sweep", "caps": "100%"},
                    {"kind": "compare", "prices": []}, {"kind": "compare", "prices": {"load_cost": "x"}},
                    {"kind": "compare", "policy": 7}):
        refused(400, "POST", f"/api/graphs/{g}/jobs", control if isinstance(control, dict) else control.encode())
    # What only planning finds out is told at the end.
    for control in ({"strategies": ["nothing"]}, {"strategies": ["every-k:k=0"]}, {"policy": "nothing"},
                    {"strategies": ["every-k:nope=1"]}):
        rows, done = server.rows(server.job(g, kind="compare", game="remat", cap="100%", **control))
        assert done["state"] == "failed" and done["error"]["message"], (control, done)
    rows, done = server.rows(server.job(g, kind="sweep", game="remat", caps=["much"]))
    assert done["state"] == "failed" and "caps" in done["error"]["message"], done


def broken_files_say_where():
    def upload(name, data):
        return server.ask("POST", "/api/graphs?name=" + name, data, type="application/octet-stream")
    for name, data in (("a.json", b'{"format":"pebble-graph/1",\n "nodes":[{"name":"a","cost":1,"size":1},\n  {"name":"b","cost":1}]}'),
                       ("b.json", b'{"nodes":[{"name":"a","cost":1,"size":1}],\n"edges":[[0,7]]}'), ("c.dot", b"digraph {\n a -> }"),
                       ("d", b""), ("e", b"\xff\xfe\x00garbage"), ("f.json", b"[" * 200000)):
        status, _, answer = upload(name, data)
        error = json.loads(answer)["error"]
        assert status == 400 and error["message"], (name, status, answer)
        assert error.get("line", 1) >= 1
        server.works()
    status, _, answer = upload("a.json", b'{"format":"pebble-graph/1",\n "nodes":[{"name":"a","cost":1,"size":1},\n  {"name":"b","cost":1}]}')
    assert json.loads(answer)["error"]["line"] == 3, answer


def unknown_nodes_and_forms():
    g = server.graph("chain")["id"]
    for node in ("", "x", "-1", "10", "4294967296", "18446744073709551616", "1x"):
        refused(400, "GET", f"/api/graphs/{g}/node?node={node}")
    refused(400, "GET", f"/api/graphs/{g}/node")
    refused(404, "GET", f"/api/graphs/{g}/nothing")
    rows, _ = server.rows(server.job(g, kind="plan", cap="none", strategies=["last-use"]))
    plan = rows[0]["plan"]
    refused(400, "GET", f"/api/plans/{plan}/file")
    refused(400, "GET", f"/api/plans/{plan}/file?as=../../etc/passwd")
    refused(400, "GET", f"/api/plans/{plan}/explain?node=77")
    refused(404, "GET", f"/api/plans/{plan}/nothing")


def names_of_files_stay_inside_their_quotes():
    data = b'{"format":"pebble-graph/1","nodes":[{"name":"a","cost":1,"size":1},{"name":"b","cost":1,"size":1}],"edges":[["a","b"]]}'
    for name in ("a%22%0d%0aSet-Cookie:%20x=y", "..%2f..%2fetc%2fpasswd", "%c3%a4%ff%00z", "x" * 3000):
        info = server.json("POST", "/api/graphs?name=" + name, data, type="application/octet-stream")
        rows, _ = server.rows(server.job(info["id"], kind="plan", cap="none", strategies=["last-use"]))
        for form, ending in (("schedule", "json"), ("metrics", "json"), ("csv", "csv")):
            _, headers, _ = server.ask("GET", f"/api/plans/{rows[0]['plan']}/file?as={form}")
            end = "-last-use.json" if form == "schedule" else f"-last-use-{form}.{ending}"
            assert re.fullmatch(r'attachment; filename="[A-Za-z0-9_-]+%s"' % re.escape(end), headers["Content-Disposition"]), headers
            assert "Set-Cookie" not in headers
        server.works()


def the_smallest_graphs():
    """No node, one that is given: layouts, names, plans and frames without a move."""
    for data in (b'{"format":"pebble-graph/1","nodes":[],"edges":[]}',
                 b'{"format":"pebble-graph/1","nodes":[{"name":"a","cost":1,"size":1}],"edges":[]}'):
        status, _, answer = server.ask("POST", "/api/graphs?name=s.json", data, type="application/octet-stream")
        assert status in (200, 400), answer
        if status == 200:
            g = json.loads(answer)["id"]
            for path in ("/layout", "/layout?groups=collapsed", "/names", "/file", ""):
                server.bytes(f"/api/graphs/{g}{path}")
            rows, done = server.rows(server.job(g, kind="compare", cap="none", strategies=["auto", "last-use"]))
            for row in rows:
                if row["plan"]:
                    for path in ("", "/frames", "/explain", "/file?as=schedule", "/file?as=dot"):
                        server.bytes(f"/api/plans/{row['plan']}{path}")
        server.works()


def broken_http():
    for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/9.9\r\n\r\n", b"A" * 70000,
                 b"GET /api/about HTTP/1.1\r\nHost: a\r\n" + b"X: " + b"y" * 100000 + b"\r\n\r\n",
                 b"POST /api/graphs HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Pebble-Token: %s\r\nContent-Type: application/json\r\n"
                 b"Content-Length: -5\r\n\r\n" % (server.port, server.token.encode())):
        server.raw(data, wait=1.0)
        server.works()


with server:
    run([no_token, three_ways_to_show_the_token, wrong_host, hosts_without_a_port,
         open_to_all_takes_addresses_and_no_names, wrong_origin, plain_forms_change_nothing,
         paths_lead_nowhere_else, other_methods, malformed_control_documents, malformed_jobs, broken_files_say_where,
         unknown_nodes_and_forms, names_of_files_stay_inside_their_quotes, the_smallest_graphs, broken_http])
