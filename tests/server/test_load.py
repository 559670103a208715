"""Many open streams and many requests at a time, for a bounded time: none fails, and nothing leaks (under the sanitizers the
server's exit code shows it)."""
import http.client
import os
import selectors
import socket
import threading
import time

from client import SANITIZED, Server, parse_events, run

SCALE = int(os.environ.get("PEBBLE_TEST_SCALE", "100"))
STREAMS = 400 if not SANITIZED else 200
SECONDS = 6 if SCALE >= 100 else 3

server = Server("--threads", "1")


def rss_kib():
    for line in open(f"/proc/{server.process.pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1])


def open_streams(job, count):
    sockets = []
    for _ in range(count):
        s = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        s.sendall(b"GET /api/jobs/%s/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Pebble-Token: %s\r\n\r\n" %
                  (job.encode(), server.port, server.token.encode()))
        sockets.append(s)
    return sockets


def streams_and_requests():
    unet = server.json("POST", "/api/graphs", {"gallery": "unet"})["id"]
    job = server.job(unet, kind="compare", game="remat", cap="45%", strategies=["auto", "chen"], time_ms=3600000)
    sockets = open_streams(job, STREAMS)
    heard = {s: b"" for s in sockets}
    failures, counts = [], []
    ends_at = time.time() + SECONDS

    def ask_all():
        count = 0
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        while time.time() < ends_at:
            for path in ("/api/about", f"/api/graphs/{unet}", f"/api/graphs/{unet}/layout", f"/api/graphs/{unet}/names",
                         f"/api/graphs/{unet}/node?node=7", f"/api/jobs/{job}"):
                connection.request("GET", path, headers={"X-Pebble-Token": server.token})
                answer = connection.getresponse()
                if answer.status != 200 or not answer.read():
                    failures.append((path, answer.status))
                count += 1
        counts.append(count)
        connection.close()
    askers = [threading.Thread(target=ask_all) for _ in range(6)]
    for t in askers:
        t.start()
    selector = selectors.DefaultSelector()
    for s in sockets:
        s.setblocking(False)
        selector.register(s, selectors.EVENT_READ)
    stopped = False
    open_count = STREAMS
    while open_count and time.time() < ends_at + 60:
        if not stopped and time.time() >= ends_at:
            server.json("POST", f"/api/jobs/{job}/stop", expect=202)
            stopped = True
        for key, _ in selector.select(0.2):
            data = key.fileobj.recv(65536)
            heard[key.fileobj] += data
            if not data or heard[key.fileobj].endswith(b"\r\n0\r\n\r\n"):
                selector.unregister(key.fileobj)
                open_count -= 1
    for t in askers:
        t.join()
    assert not failures, failures[:5]
    assert open_count == 0, f"{open_count} of {STREAMS} streams did not end"
    for s, data in heard.items():
        assert data.startswith(b"HTTP/1.1 200 "), data[:100]
        assert data.count(b"event: done") == 1, len(data)
        s.close()
    print(f"{STREAMS} streams, {sum(counts)} requests in {SECONDS} s, none failed, {rss_kib()} KiB resident")


def memory_does_not_grow():
    """The same work again and again: what is kept stays bounded."""
    chain = server.graph("adjoint-chain", steps="200")["id"]

    def round():
        job = server.job(chain, kind="compare", game="remat", cap="30%", strategies=["sqrt", "chain", "last-use"], ticks=1000000)
        rows, done = server.rows(job)
        server.bytes(f"/api/plans/{done['winner']}/frames")
        server.bytes(f"/api/plans/{done['winner']}/file?as=schedule")
        server.json("DELETE", f"/api/jobs/{job}", expect=202)
    for _ in range(20):
        round()
    before = rss_kib()
    for _ in range(100 * SCALE // 100 + 20):
        round()
    grown = rss_kib() - before
    assert SANITIZED or grown < 8192, f"{grown} KiB more"  # the sanitizers keep what was freed for a while


with server:
    run([streams_and_requests, memory_does_not_grow])
