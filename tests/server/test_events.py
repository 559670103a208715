"""Streams of events: in order, from the start or from where one left off; stopping keeps the best; slow readers hold up nobody."""
import http.client
import json
import resource
import signal
import socket
import threading
import time

from client import SANITIZED, Server, parse_events, run

server = Server("--threads", "2")
unet = server.json("POST", "/api/graphs", {"gallery": "unet"})["id"]
LONG = dict(kind="compare", game="remat", cap="45%", strategies=["auto", "last-use"], time_ms=600000)


def read_until(job, name, most=30):
    """Reads a stream until an event of this name has come; the events so far."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=most)
    connection.request("GET", f"/api/jobs/{job}/events", headers={"X-Pebble-Token": server.token})
    answer = connection.getresponse()
    assert answer.status == 200 and answer.getheader("Content-Type") == "text/event-stream"
    data = b""
    while b"event: " + name.encode() not in data or not data.endswith(b"\n\n"):
        more = answer.read1(65536)
        assert more, data
        data += more
    connection.close()
    return parse_events(data)


def events_come_in_order():
    job = server.job(unet, kind="compare", game="remat", cap="60%", strategies=["auto", "chen", "sqrt", "last-use"], ticks=200000)
    events = server.events(job)
    numbers = [number for number, _, _ in events]
    names = [name for _, name, _ in events]
    assert numbers == sorted(set(numbers))
    assert names[0] == "state" and events[0][2]["state"] == "queued" and events[1][2]["state"] == "running"
    assert names[-1] == "done" and names.count("done") == 1
    assert "bound" in names and "incumbent" in names
    rows = [data for _, name, data in events if name == "row"]
    assert [r["asked"] for r in rows[:4]] == ["chen", "sqrt", "last-use", "auto"]  # the quick ones first
    best = rows[-1]["metrics"]["makespan"]
    incumbents = [data for _, name, data in events if name == "incumbent"]
    spans = [i["makespan"] for i in incumbents if i["strategy"] == "auto"]
    assert spans == sorted(spans, reverse=True) and min(spans) >= best
    bound = [data for _, name, data in events if name == "bound"][-1]
    assert bound["makespan"] <= best and bound["least_cap"] > 0 and bound["over"] is False


def late_listeners_hear_all_and_others_the_rest():
    job = server.job(unet, kind="plan", cap="60%", strategies=["chen"], ticks=1000)
    def lasting(events):  # progress may be replaced by newer
        return [e for e in events if e[1] not in ("progress", "incumbent")]
    live, events = server.events(job), server.events(job)
    assert lasting(live) == lasting(events) and server.events(job) == events
    middle = events[len(events) // 2][0]
    assert server.events(job, last=middle) == [e for e in events if e[0] > middle]
    assert server.events(job, last=events[-1][0]) == 204
    document = server.json("GET", f"/api/jobs/{job}")
    assert document["state"] == "ended"
    assert [(e["event"], e["data"]) for e in document["events"]] == [(n, d) for _, n, d in events]


def stopping_keeps_the_best():
    job = server.job(unet, **LONG)
    read_until(job, "incumbent")
    assert server.json("GET", f"/api/jobs/{job}")["state"] == "running"
    begin = time.time()
    server.json("POST", f"/api/jobs/{job}/stop", expect=202)
    rows, done = server.rows(job)
    assert time.time() - begin < 10
    assert done["state"] == "stopped" and done["winner"], done
    winner = rows[done["winner_index"]]
    assert winner["asked"] == "auto" and winner["metrics"]["peak"] > 0
    schedule = json.loads(server.bytes(f"/api/plans/{done['winner']}/file?as=schedule"))
    assert len(schedule["moves"]) == winner["metrics"]["moves"]
    server.json("POST", f"/api/jobs/{job}/stop", expect=202)  # once more does no harm


def a_stopped_sweep_tells_what_it_has():
    job = server.job(unet, kind="sweep", game="remat", strategies=["last-use", "auto"], caps=["100%..40%"], points=12, time_ms=600000)
    read_until(job, "progress")
    time.sleep(1)
    server.json("POST", f"/api/jobs/{job}/stop", expect=202)
    events = server.events(job)
    assert events[-1][1] == "done" and events[-1][2]["state"] == "stopped"
    sweep = [data for _, name, data in events if name == "sweep"][0]["sweeps"][0]
    assert sweep["stopped"] == "interrupt" and any(cell["plan"] for cell in sweep["cells"])


def a_waiting_job_can_be_stopped():
    jobs = [server.job(unet, **LONG) for _ in range(3)]  # two workers
    read_until(jobs[0], "row")
    assert [e["event"] for e in server.json("GET", f"/api/jobs/{jobs[2]}")["events"]] == ["state"]
    for job in reversed(jobs):
        server.json("POST", f"/api/jobs/{job}/stop", expect=202)
    for job in jobs:
        assert server.rows(job)[1]["state"] == "stopped"


def stopped_and_deleted_jobs_do_not_wait_in_line():
    """While the workers are busy a waiting job that is stopped ends at once, and its place in line is free."""
    busy = [server.job(unet, **LONG) for _ in range(2)]
    read_until(busy[0], "row")
    waiting = server.job(unet, **LONG)
    server.json("POST", f"/api/jobs/{waiting}/stop", expect=202)
    read_until(waiting, "done", most=5)
    assert server.json("GET", f"/api/jobs/{waiting}")["state"] == "ended"
    done = server.rows(waiting)[1]
    assert done["state"] == "stopped" and done["winner"] is None and done["elapsed_ms"] < 60000, done
    for _ in range(300):
        server.json("DELETE", f"/api/jobs/{server.job(unet, **LONG)}", expect=202)
    for job in busy:
        server.json("DELETE", f"/api/jobs/{job}", expect=202)


def too_many_jobs_are_refused():
    jobs, status = [], 202
    while status == 202 and len(jobs) < 300:
        status, _, answer = server.ask("POST", f"/api/graphs/{unet}/jobs", LONG)
        if status == 202:
            jobs.append(json.loads(answer)["job"])
    assert status == 503 and 256 <= len(jobs) <= 258, (status, len(jobs))  # 256 wait, two run
    for job in reversed(jobs):
        server.json("DELETE", f"/api/jobs/{job}", expect=202)
    assert server.rows(server.job(unet, kind="plan", cap="60%", strategies=["chen"], ticks=1000))[1]["winner"]


def deleted_jobs_are_gone():
    job = server.job(unet, **LONG)
    read_until(job, "row")
    begin = time.time()
    server.json("DELETE", f"/api/jobs/{job}", expect=202)
    assert server.ask("GET", f"/api/jobs/{job}")[0] == 410
    assert server.ask("GET", f"/api/jobs/{job}/events")[0] == 410
    # its worker is free again
    rows, done = server.rows(server.job(unet, kind="plan", cap="60%", strategies=["chen"], ticks=1000))
    assert done["state"] == "done" and time.time() - begin < 10


def time_is_for_each_strategy():
    begin = time.time()
    job = server.job(unet, kind="compare", game="remat", cap="45%", strategies=["auto", "search"], time_ms=700)
    rows, done = server.rows(job)
    assert len(rows) == 2 and all(0.5 < r["seconds"] < 5 for r in rows), rows
    assert 1.0 < time.time() - begin < 10


def a_reader_who_does_not_read_holds_up_nobody():
    """Streams and downloads that nobody reads, while others are served."""
    big = server.graph("layered", nodes="50000")["id"]
    job = server.job(unet, **LONG)
    sockets = []
    for path in [f"/api/graphs/{big}/layout"] * 20 + [f"/api/jobs/{job}/events"] * 20:
        s = socket.create_connection(("127.0.0.1", server.port))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.sendall(b"GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Pebble-Token: %s\r\n\r\n" %
                  (path.encode(), server.port, server.token.encode()))
        sockets.append(s)
    time.sleep(0.3)
    begin = time.time()
    for _ in range(20):
        server.works()
    assert time.time() - begin < 10
    rows, done = server.rows(server.job(unet, kind="plan", cap="60%", strategies=["chen"], ticks=1000))
    assert done["winner"]
    for s in sockets:
        s.close()
    server.json("DELETE", f"/api/jobs/{job}", expect=202)
    server.works()


def a_sign_of_life():
    """A stream is never silent for long, as a comment and as an event that a page receives."""
    hold = [server.job(unet, **LONG) for _ in range(2)]
    job = server.job(unet, **LONG)  # waits, and has nothing to report
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", f"/api/jobs/{job}/events", headers={"X-Pebble-Token": server.token})
    answer = connection.getresponse()
    data, begin = b"", time.time()
    while data.count(b": ping\nevent: ping\ndata: {}\n\n") < 2:
        data += answer.read1(65536)
    assert 4 < time.time() - begin < 60  # every three seconds
    assert parse_events(data) == [(1, "state", {"state": "queued"})]
    connection.close()
    for j in hold + [job]:
        server.json("DELETE", f"/api/jobs/{j}", expect=202)


def what_a_job_does_is_told():
    """Also while every worker is busy: other requests are answered, and nothing is called stopped before it is."""
    busy = [server.job(unet, **LONG) for _ in range(2)]
    waiting = server.job(unet, **LONG)
    while any(server.json("GET", f"/api/jobs/{job}")["state"] == "queued" for job in busy):
        time.sleep(0.01)  # a worker takes it
    assert server.json("GET", f"/api/jobs/{waiting}")["state"] == "queued"
    assert server.json("GET", f"/api/jobs/{busy[0]}")["state"] == "running"
    health = server.json("GET", "/api/health")
    assert (health["workers"], health["running"], health["waiting"]) == (2, 2, 1) and health["version"], health
    for path in ("/api/about", f"/api/graphs/{unet}", f"/api/graphs/{unet}/layout", f"/api/graphs/{unet}/node?node=3", f"/api/jobs/{waiting}"):
        assert server.ask("GET", path)[0] == 200, path
    server.graph("chain")
    server.json("POST", f"/api/jobs/{busy[0]}/stop", expect=202)
    server.json("POST", f"/api/jobs/{busy[0]}/stop", expect=202)
    document = server.json("GET", f"/api/jobs/{busy[0]}")
    assert document["state"] in ("stopping", "ended"), document["state"]
    server.json("POST", f"/api/jobs/{waiting}/stop", expect=202)
    server.json("POST", f"/api/jobs/{busy[1]}/stop", expect=202)
    for job, states in ((busy[0], ["queued", "running", "stopping"]), (waiting, None)):
        events = server.events(job)
        if states:
            assert [d["state"] for _, n, d in events if n == "state"] == states, events
        assert events[-1][1] == "done" and events[-1][2]["state"] == "stopped" and [n for _, n, _ in events].count("done") == 1
        assert server.json("GET", f"/api/jobs/{job}")["state"] == "ended"
        server.json("POST", f"/api/jobs/{job}/stop", expect=202)  # nothing more is reported about one that has ended
        assert server.events(job) == server.events(job, last=0) and server.events(job)[-1] == events[-1]
    server.events(busy[1])


def rows_say_what_was_asked_for():
    """The same strategy twice, with other options and in several games, can be distinguished; what is proved is called so."""
    asked = ["every-k:k=2", "every-k", "every-k:k=5", "sqrt"]
    chain = server.graph("adjoint-chain", steps="12")["id"]
    rows, _ = server.rows(server.job(chain, kind="compare", game="remat", cap="none", strategies=asked, ticks=10**6))
    assert [row["asked"] for row in rows] == asked
    assert all(row["strategy"] == row["asked"].split(":")[0] and row["game"] == "remat" for row in rows)
    assert rows[0]["options"]["k"] == "2" and rows[2]["options"]["k"] == "5"
    assert server.json("GET", f"/api/plans/{rows[2]['plan']}")["asked"] == "every-k:k=5"
    # All games at a cap that only one of them can be played at, and at one that none can: each row has its own answer.
    line = server.graph("chain", nodes="30")["id"]
    for cap, remat, reversible in (("2", ("found", "optimal"), ("gave_up", "infeasible")), ("1", ("infeasible",), ("infeasible",))):
        rows, _ = server.rows(server.job(line, kind="compare", cap=cap, strategies=["last-use", "bennett"], ticks=10**6))
        assert [(row["game"], row["asked"]) for row in rows] == [("remat", "last-use"), ("reversible", "bennett")], rows
        assert rows[0]["outcome"] in remat and rows[1]["outcome"] in reversible, rows
        assert all((row["plan"] is None) == (row["outcome"] in ("gave_up", "infeasible")) == bool(row["reason"]) for row in rows), rows
    sweep = [d for _, n, d in server.events(server.job(chain, kind="sweep", game="remat", caps=["100%"], strategies=asked, ticks=10**6)) if n == "sweep"][0]
    plans = [cell["plan"] for cell in sweep["sweeps"][0]["cells"]]
    assert [server.json("GET", f"/api/plans/{p}")["asked"] for p in plans] == asked


def streams_end_with_done_when_the_server_ends():
    other = Server("--threads", "1")
    graph = other.json("POST", "/api/graphs", {"gallery": "unet"})["id"]
    jobs = [other.job(graph, **LONG) for _ in range(2)]  # one runs, one waits
    connections = []
    for job in jobs:
        connection = other.connect()
        connection.request("GET", f"/api/jobs/{job}/events", headers={"X-Pebble-Token": other.token})
        connections.append((connection, connection.getresponse()))
    connections[0][1].read1(10)
    other.process.send_signal(signal.SIGINT)
    for connection, answer in connections:
        events = parse_events(answer.read())
        assert events[-1][1] == "done" and events[-1][2]["state"] == "failed" and "stopping" in events[-1][2]["error"]["message"], events[-1]
        connection.close()
    assert other.process.wait(60) == 0


def memory_use(process, key):
    with open(f"/proc/{process.pid}/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(key + ":"))


def streams_end_with_done_when_memory_is_out():
    """The machine refuses more memory while a job runs: its stream ends as all do, and the server goes on when there is memory."""
    if SANITIZED:  # they have reserved what they may ever need
        return
    other = Server("--threads", "1")
    with other:
        big = other.graph("layered", nodes="30000")["id"]
        ends = set()
        for spare in (0, 1 << 20, 4 << 20, 16 << 20):
            resource.prlimit(other.process.pid, resource.RLIMIT_AS, (memory_use(other.process, "VmSize") + spare, resource.RLIM_INFINITY))
            status, _, answer = other.ask("POST", f"/api/graphs/{big}/jobs", dict(kind="compare", game="remat", cap="60%", strategies=["last-use", "cut"],
                                                                                ticks=1000, time_ms=1000))
            events = other.events(json.loads(answer)["job"]) if status == 202 else None
            resource.prlimit(other.process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert status in (202, 503), (status, answer)
            if status == 202:
                assert events != 204 and events[-1][1] == "done" and [e[1] for e in events].count("done") == 1, events
                ends.add(events[-1][2]["state"])
            other.works()
        assert "failed" in ends, ends
        rows, done = other.rows(other.job(other.graph("chain")["id"], kind="plan", cap="none", strategies=["last-use"]))
        assert done["winner"]


def many_jobs_at_a_time():
    jobs = [server.job(unet, kind="plan", cap="60%", strategies=["sqrt"], ticks=1000, seed=i) for i in range(40)]
    answers = {}

    def listen(job):
        answers[job] = server.rows(job)[1]
    threads = [threading.Thread(target=listen, args=(job,)) for job in jobs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(answers) == 40 and all(a["winner"] for a in answers.values())


with server:
    run([events_come_in_order, late_listeners_hear_all_and_others_the_rest, stopping_keeps_the_best, a_stopped_sweep_tells_what_it_has,
         a_waiting_job_can_be_stopped, stopped_and_deleted_jobs_do_not_wait_in_line, too_many_jobs_are_refused, deleted_jobs_are_gone, time_is_for_each_strategy, many_jobs_at_a_time,
         a_reader_who_does_not_read_holds_up_nobody, a_sign_of_life, what_a_job_does_is_told, rows_say_what_was_asked_for,
         streams_end_with_done_when_the_server_ends, streams_end_with_done_when_memory_is_out])
    server.job(unet, **LONG)  # the server ends in the middle of one
