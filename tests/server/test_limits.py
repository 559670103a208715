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
        answer = server.raw(head(length), wait=20)
        assert answer == b"" or answer.split(b" ")[1] in (b"413", b"400"), answer[:200]
        server.works()
    assert b" 413 " in server.raw(head(1 << 30), wait=20).split(b"\r\n")[0]
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


def bodies_that_nobody_asked_for_are_refused_unread():
    """Files of the page need no token, so that anyone on this machine could make the server hold bodies."""
    for line in (b"GET /app.js", b"GET /", b"HEAD /x"):
        answer = server.raw(b"%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Pebble-Token: %s\r\nContent-Length: 60000\r\n\r\n" %
                            (line, server.port, server.token.encode()), wait=20)
        assert b" 413 " in answer.split(b"\r\n")[0], (line, answer[:200])
    answer = server.raw(b"POST /x HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 60000\r\n\r\n" % server.port, wait=20)
    assert b" 405 " in answer.split(b"\r\n")[0], answer[:200]
    server.works()


def control_documents_are_short():
    """A document takes many times its length once it is taken apart."""
    with Server() as roomy:
        g = roomy.graph("chain")["id"]
        big = b'{"kind":"compare","caps":[' + b"1," * (1 << 20) + b"1]}"
        for path in ("/api/graphs", f"/api/graphs/{g}/jobs"):
            head = (b"POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Pebble-Token: %s\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n" % (path.encode(), roomy.port, roomy.token.encode(), len(big)))
            assert b" 413 " in roomy.raw(head, wait=20).split(b"\r\n")[0], path
        roomy.works()


def in_time(act, seconds=60):
    """What another thread of the server does may take a moment on a busy machine."""
    ends_at = time.time() + seconds
    while not act():
        assert time.time() < ends_at, act.__name__
        time.sleep(0.05)


def bodies_together_are_limited():
    """Room is taken when a body is announced: whoever comes too late gets an error before sending anything."""
    def is_full():  # those who announced more are dropped after a while: each try has its own
        sockets = []
        for _ in range(3):
            s = socket.create_connection(("127.0.0.1", server.port), timeout=20)
            s.sendall(head(60000) + b"x")
            sockets.append(s)
        time.sleep(0.2)
        answer = server.raw(head(60000), wait=3)
        server.works()
        for s in sockets:
            s.close()
        return b" 503 " in answer.split(b"\r\n")[0]
    in_time(is_full, 120)

    def is_read():
        status, _, _ = server.ask("POST", "/api/graphs?name=x", b"x" * 60000, type="application/octet-stream")
        assert status in (400, 503), status
        return status == 400  # read, and no graph
    in_time(is_read)


def answers_that_nobody_reads_are_limited():
    with Server("--memory", "64MiB") as small:
        nodes = [{"name": chr(97 + i) * (1 << 20), "cost": 1, "size": 1} for i in range(22)]  # names of 22 MiB together
        document = {"format": "pebble-graph/1", "nodes": nodes, "edges": [[0, 1]]}
        g = small.json("POST", "/api/graphs?name=long", json.dumps(document), type="application/octet-stream")["id"]
        request = (b"GET /api/graphs/%s/names HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Pebble-Token: %s\r\n\r\n" %
                   (g.encode(), small.port, small.token.encode()))
        sockets, answers = [], []
        for _ in range(3):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(60)
            s.connect(("127.0.0.1", small.port))
            s.sendall(request)
            sockets.append(s)
            answers.append(s.recv(12)[9:12])
        assert answers == [b"200", b"200", b"503"], answers
        small.works()
        for s in sockets:
            s.close()
        in_time(lambda: small.ask("GET", f"/api/graphs/{g}/names")[0] == 200)
        assert len(small.bytes(f"/api/graphs/{g}/names")) > 22 << 20


def chunks_of_unknown_length_are_refused():
    answer = server.raw(head(None, b"Transfer-Encoding: chunked\r\n") + b"5\r\nhello\r\n", wait=20)
    assert b" 411 " in answer.split(b"\r\n")[0], answer[:200]
    server.works()


def drip(data, begin_with=b""):
    """A byte at a time; did the other side put an end to it?"""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as s:
        try:
            s.sendall(begin_with)
            for i in range(240):
                s.sendall(data[i:i + 1])
                s.settimeout(0.25)
                try:
                    if s.recv(1000) == b"":
                        return True
                except TimeoutError:
                    pass
        except OSError:
            return True
    return False


def slow_clients_are_dropped():
    """Heads and bodies that drip, many at a time, and one who says nothing after a request."""
    dropped = []
    slow = [b"GET /api/about HTTP/1.1\r\nHost: " + b"a" * 4000] * 20 + [b"POST / HTTP/1.1\r\nX: " + b"b" * 4000] * 10
    threads = [threading.Thread(target=lambda data=data: dropped.append(drip(data))) for data in slow]
    threads.append(threading.Thread(target=lambda: dropped.append(drip(b"x" * 240, head(60000)))))
    for t in threads:
        t.start()
    begin = time.time()
    served = 0
    while time.time() - begin < 5:
        server.works()
        served += 1
    for t in threads:
        t.join()
    assert served > 2, served  # while they were there: they are given eight seconds
    assert len(dropped) == 31 and all(dropped), dropped
    server.works()


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
    run([bodies_beyond_the_limit_are_refused_unread, a_gigabyte_is_not_taken,
         bodies_that_nobody_asked_for_are_refused_unread, control_documents_are_short, bodies_together_are_limited,
         answers_that_nobody_reads_are_limited, chunks_of_unknown_length_are_refused,
         what_was_not_used_is_forgotten, too_large_graphs_are_refused, slow_clients_are_dropped])
