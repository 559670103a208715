"""Bodies that are too large, clients that are too slow: they are turned away, and others are served meanwhile."""
import json
import socket
import threading
import time

from client import Server, run

server = Server("--max-body", "64KiB", "--memory", "2MB")


def head(length, extra=b""):
    return (b"POST /api/graphs?name=x HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Pebble-Token: %s\r\n"
            b"Content-Type: application/octet-stream\r\n%s" % (server.port, server.token.encode(), extra) +
            (b"Content-Length: %d\r\n" % length if length is not None else b"") + b"\r\n")


def bodies_beyond_the_limit_are_refused_unread():
    for length in (65537, 1 << 30, 1 << 62, 18446744073709551616):
        answer = server.raw(head(length), wait=3)
        assert answer == b"" or answer.split(b" ")[1] in (b"413", b"400"), answer[:200]
        server.works()
    assert b" 413 " in server.raw(head(1 << 30), wait=3).split(b"\r\n")[0]
    status, _, answer = server.ask("POST", "/api/graphs", b" " * 65536)
    assert status == 400, (status, answer)  # read, and no JSON


def a_gigabyte_is_not_taken():
    sent = 0
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as s:
        s.sendall(head(1 << 30))
        try:
            while sent < 1 << 30:
                sent += s.send(b"\0" * 65536)
        except OSError:
            pass
    assert sent < 64 << 20, sent
    server.works()


def chunks_of_unknown_length_are_refused():
    answer = server.raw(head(None, b"Transfer-Encoding: chunked\r\n") + b"5\r\nhello\r\n", wait=3)
    assert b" 411 " in answer.split(b"\r\n")[0], answer[:200]
    server.works()


def drip(data, seconds):
    """A byte at a time; how long the other side put up with it."""
    begin = time.time()
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as s:
        try:
            for i in range(int(seconds / 0.25)):
                s.sendall(data[i:i + 1])
                s.settimeout(0.25)
                try:
                    if s.recv(1000) == b"":
                        break
                except TimeoutError:
                    pass
        except OSError:
            pass
    return time.time() - begin


def slow_clients_are_dropped():
    """Heads and bodies that drip, many at a time, and one who says nothing after a request."""
    lasted = []
    slow = [b"GET /api/about HTTP/1.1\r\nHost: " + b"a" * 4000] * 20 + [head(60000)[:0] + b"POST / HTTP/1.1\r\nX: " + b"b" * 4000] * 10
    threads = [threading.Thread(target=lambda data=data: lasted.append(drip(data, 25))) for data in slow]
    body = []
    threads.append(threading.Thread(target=lambda: body.append(slow_body())))
    for t in threads:
        t.start()
    begin = time.time()
    served = 0
    while time.time() - begin < 5:
        server.works()
        served += 1
    for t in threads:
        t.join()
    assert served > 20, served
    assert len(lasted) == 30 and max(lasted) < 15, max(lasted)
    assert body and body[0] < 15, body
    server.works()


def slow_body():
    begin = time.time()
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as s:
        s.sendall(head(60000))
        try:
            for i in range(100):
                s.sendall(b"x")
                s.settimeout(0.25)
                try:
                    if s.recv(1000) == b"":
                        break
                except TimeoutError:
                    pass
        except OSError:
            pass
    return time.time() - begin


def what_was_not_used_is_forgotten():
    first = server.graph("layered", nodes="2000", seed="1")["id"]
    rows, _ = server.rows(server.job(first, kind="plan", cap="none", strategies=["last-use"]))
    plan = rows[0]["plan"]
    server.bytes(f"/api/plans/{plan}/frames")
    for seed in range(2, 30):
        g = server.graph("layered", nodes="2000", seed=str(seed))["id"]
        server.rows(server.job(g, kind="plan", cap="none", strategies=["last-use"]))
    for path in (f"/api/graphs/{first}", f"/api/plans/{plan}/frames", f"/api/plans/{plan}"):
        status, _, answer = server.ask("GET", path)
        assert status == 410 and json.loads(answer)["error"]["message"], (path, status, answer)
    again = server.graph("layered", nodes="2000", seed="1")["id"]
    assert again != first
    server.json("GET", f"/api/graphs/{again}")


def too_large_graphs_are_refused():
    status, _, answer = server.ask("POST", "/api/graphs", {"family": "chain", "parameters": {"nodes": "150000000"}})
    assert status == 413, (status, answer)
    server.works()


with server:
    run([bodies_beyond_the_limit_are_refused_unread, a_gigabyte_is_not_taken, chunks_of_unknown_length_are_refused,
         what_was_not_used_is_forgotten, too_large_graphs_are_refused, slow_clients_are_dropped])
