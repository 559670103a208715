"""Who gets in, and what is refused: after every refusal the server goes on."""
import base64
import hashlib
import html.parser
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


class Page(html.parser.HTMLParser):
    """The words of a page, its style, and every element with what could load or run something."""

    def __init__(self, data):
        super().__init__()
        self.words, self.style, self.elements, self.inside = "", "", [], []
        self.feed(data.decode())

    def handle_starttag(self, tag, attributes):
        self.inside.append(tag)
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" in self.inside:
            self.style += data
        else:
            self.words += " ".join(data.split()) + " "


BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"}


def visit(path, **headers):
    """What a browser that opens the address shows: nothing secret, nothing that it would load, and what to do."""
    status, sent, data = server.ask("GET", path, headers={**BROWSER, **headers}, token=False)
    assert sent["Content-Type"].startswith("text/html") and int(sent["Content-Length"]) == len(data), (path, sent)
    assert sent["Cache-Control"] == "no-store" and sent["Referrer-Policy"] == "no-referrer" and "Set-Cookie" not in sent
    assert sent["X-Content-Type-Options"] == "nosniff"
    page, policy = Page(data), sent["Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and f"style-src 'sha256-{digest}'" in policy, policy
    assert server.token.encode() not in data and not re.search(rb"[0-9a-f]{16}", data), data
    for tag, attributes in page.elements:
        assert tag not in ("script", "link", "img", "iframe", "form") and not any(a.startswith("on") for a in attributes), tag
    return status, page.words


def a_link_in_another_browser_is_explained():
    for path in ("/", "/?token=" + "0" * 48, "/?token=" + server.token[:-1], "/index.html", "/?ticket=1234", "/?graph=g1"):
        status, words = visit(path)
        assert status == 403, (path, status)
        for part in ("pebble ui", "no access yet", "token", "Copy the whole address", "printed in its terminal", "start it again"):
            assert part in words, (path, part, words)
    status, words = visit("/", Cookie=f"pebble_token_{server.port}=" + "0" * 48)  # of an earlier server at this port
    assert status == 403 and "Copy the whole address" in words
    status, words = visit("/", Host=f"my-machine:{server.port}")
    assert status == 403 and "not the address" in words and "my-machine" not in words
    status, words = visit("/no/such/place")
    assert status == 404 and "nothing here" in words
    # Programs, and whatever asks the interface, get JSON, as ever.
    for path, headers in (("/", {}), ("/", {"Accept": "application/json"}), ("/api/about", BROWSER), ("/api/jobs/j1/events", BROWSER)):
        status, sent, data = server.ask("GET", path, headers=headers, token=False)
        assert status == 403 and sent["Content-Type"].startswith("application/json"), (path, headers, sent)
        assert "pebble ui" in json.loads(data)["error"]["message"]
    # The address that was printed lets any number of browsers in, and them alone.
    for _ in range(2):
        status, sent, _ = server.ask("GET", "/?token=" + server.token, headers=BROWSER, token=False)
        assert status == 200 and "Set-Cookie" in sent
    status, sent, _ = server.ask("GET", "/index.html", headers={**BROWSER, "Cookie": sent["Set-Cookie"].split(";")[0]}, token=False)
    assert status == 200


def raw_status(lines, path="/api/about", method="GET"):
    """The status of a request with exactly these headers."""
    answer = server.raw(f"{method} {path} HTTP/1.1\r\n".encode() + b"".join(line.encode() + b"\r\n" for line in lines) +
                        b"Connection: close\r\n\r\n", wait=20)
    return int(answer.split(b" ")[1]), answer


def of_two_headers_none_is_believed():
    host, token = f"Host: 127.0.0.1:{server.port}", f"X-Pebble-Token: {server.token}"
    origin = f"Origin: http://127.0.0.1:{server.port}"
    cookie = f"Cookie: pebble_token_{server.port}={server.token}"
    assert raw_status([host, token])[0] == raw_status([host, cookie])[0] == raw_status([host, origin, token])[0] == 200
    for good, other in ((host, "Host: evil.example"), (host, host), (host, host.lower()), (host, "HOST: evil.example:80"),
                        (origin, "Origin: http://evil.example"), (origin, origin), (origin, "oRiGiN: null"),
                        (token, "X-Pebble-Token: " + "0" * 48), (token, token), (cookie, "Cookie: a=b"), (cookie, cookie),
                        ("Authorization: a", "Authorization: b"), ("Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"),
                        ("Content-Type: application/json", "Content-Type: text/plain"), ("Last-Event-ID: 0", "Last-Event-ID: 1")):
        rest = [line for line in (host, token) if line not in (good, other)]
        for pair in ((good, other), (other, good)):
            for path in ("/api/about", "/api/jobs/j1/events", "/", "/app.js"):
                status, answer = raw_status([*pair, *rest], path)
                assert status == 400 and b"twice" in answer, (pair, path, answer[:300])
    for pair in (("Content-Length: 2", "Content-Length: 2"), ("Content-Length: 2", "Content-Length: 40"), ("Content-Length: 40", "Content-Length: 2"),
                 ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"), ("Content-Length: 2", "Transfer-Encoding: chunked")):
        status, answer = raw_status([host, token, "Content-Type: application/json", *pair], "/api/graphs", "POST")
        assert status in (400, 411), (pair, answer[:300])
        assert answer.count(b"HTTP/1.1 ") == 1, answer  # what follows is no second request
    server.works()


def of_two_cookies_the_right_one_counts():
    """Another server of this machine may set a cookie of the same name; it must not lock anyone out, nor let anyone in."""
    name, host = f"pebble_token_{server.port}", f"Host: 127.0.0.1:{server.port}"
    good, bad = f"{name}={server.token}", f"{name}={'0' * 48}"
    for pair, status in (((good, bad), 200), ((bad, good), 200), ((bad, bad), 403), ((bad, f"x{good}"), 403), ((bad, good.upper()), 403)):
        assert raw_status([host, "Cookie: " + "; ".join(pair)])[0] == status, pair


def other_pages_of_this_machine_get_nothing():
    """Pages of another port are the same site for cookies; browsers report where a request comes from."""
    g = server.graph("chain")["id"]
    for site in ("cross-site", "same-site", "x"):
        for path in ("/api/about", f"/api/graphs/{g}/layout"):
            refused(403, "GET", path, headers={"Sec-Fetch-Site": site})
    for site in ("same-origin", "none"):
        server.json("GET", "/api/about", headers={"Sec-Fetch-Site": site})
    assert server.ask("GET", "/?token=" + server.token, headers={"Sec-Fetch-Site": "cross-site"}, token=False)[0] == 200  # a link


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
    # What only planning finds out is reported at the end.
    rows, done = server.rows(server.job(g, kind="compare", game="remat", cap="100%", strategies=["every-k:k=0"]))
    assert done["state"] == "failed" and done["error"]["message"], done


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
            for path in ("/layout", "/layout?groups=closed", "/names", "/file", ""):
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
    run([no_token, a_link_in_another_browser_is_explained, of_two_headers_none_is_believed, of_two_cookies_the_right_one_counts,
         other_pages_of_this_machine_get_nothing, three_ways_to_show_the_token, wrong_host, hosts_without_a_port,
         open_to_all_takes_addresses_and_no_names, wrong_origin, plain_forms_change_nothing,
         paths_lead_nowhere_else, other_methods, malformed_control_documents, malformed_jobs, broken_files_say_where,
         unknown_nodes_and_forms, names_of_files_stay_inside_their_quotes, the_smallest_graphs, broken_http])
