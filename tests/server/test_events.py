"""Streams of events: in order, from the start or from where one left off; stopping keeps the best; slow readers hold up nobody."""
import http.client
import json
import socket
import threading
import time

from client import Server, parse_events, run

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
    job = server.job(server.graph("chain", nodes="3")["id"], kind="plan", cap="none", strategies=["last-use"])
    hold = [server.job(unet, **LONG) for _ in range(2)]
    job = server.job(unet, **LONG)  # waits, and has nothing to tell
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", f"/api/jobs/{job}/events", headers={"X-Pebble-Token": server.token})
    answer = connection.getresponse()
    data, begin = b"", time.time()
    while b": ping\n\n" not in data:
        data += answer.read1(65536)
    assert 5 < time.time() - begin < 15
    connection.close()
    for j in hold + [job]:
        server.json("DELETE", f"/api/jobs/{j}", expect=202)


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
         a_reader_who_does_not_read_holds_up_nobody, a_sign_of_life])
    server.job(unet, **LONG)  # the server ends in the middle of one
