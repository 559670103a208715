"""A server for one test, and requests to it: only what Python brings along."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys

PEBBLE = os.environ.get("PEBBLE", "build/pebble")
SANITIZED = os.environ.get("PEBBLE_SANITIZED", "") not in ("", "0")


class Server:
    def __init__(self, *args, env=None):
        self.process = subprocess.Popen([PEBBLE, "ui", "--no-open", "-q", *args], stdout=subprocess.PIPE, text=True, env=env)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"Pebble-Bridge is at http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32,})\n", line)
        assert match, line
        self.port, self.token = int(match[1]), match[2]

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(60)
        if kind is None:
            assert code == 0, f"the server ended with {code}"

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method, path, body=None, headers=None, type="application/json", token=True):
        """Status, headers, bytes."""
        sent = {"X-Pebble-Token": self.token} if token else {}
        if body is not None or method != "GET":
            sent["Content-Type"] = type
        sent.update(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        connection = self.connect()
        try:
            connection.request(method, path, body, {k: v for k, v in sent.items() if v is not None})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def json(self, method, path, body=None, expect=200, **more):
        status, _, data = self.ask(method, path, body, **more)
        assert status == expect, (method, path, status, data[:300])
        return json.loads(data)

    def bytes(self, path):
        status, _, data = self.ask("GET", path)
        assert status == 200, (path, status, data[:300])
        return data

    def graph(self, family, **parameters):
        return self.json("POST", "/api/graphs", {"family": family, "parameters": parameters})

    def job(self, graph, **control):
        return self.json("POST", f"/api/graphs/{graph}/jobs", control, expect=202)["job"]

    def events(self, job, last=None):
        """All events of a job, to its end: (id, name, data)."""
        headers = {"Last-Event-ID": str(last)} if last else {}
        status, _, data = self.ask("GET", f"/api/jobs/{job}/events", headers=headers)
        return parse_events(data) if status == 200 else status

    def rows(self, job):
        """The last word on each row, and the end."""
        rows, done = {}, None
        for _, name, data in self.events(job):
            if name == "row":
                rows[data["index"]] = data
            if name == "done":
                done = data
        assert done, "no end"
        return [rows[i] for i in sorted(rows)], done

    def raw(self, data, wait=5.0):
        """Bytes sent as they are; what comes back until the other side closes or nothing comes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as s:
            s.sendall(data)
            got = b""
            try:
                while True:
                    more = s.recv(65536)
                    if not more:
                        break
                    got += more
            except (TimeoutError, ConnectionResetError):
                pass
            return got

    def works(self):
        """Whatever was sent before: a plain request is still answered."""
        assert self.json("GET", "/api/about")["version"]
        assert self.process.poll() is None


def parse_events(data):
    events = []
    for block in data.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if lines.get("event", "ping") != "ping":  # a sign of life carries nothing
            number = int(lines["id"]) if "id" in lines else None  # the server's own goodbye has none
            events.append((number, lines["event"], json.loads(lines["data"])))
    return events


def pebble(*args, input=None, expect=(0,)):
    """Standard output of the command."""
    done = subprocess.run([PEBBLE, *args], capture_output=True, input=input)
    assert done.returncode in expect, (args, done.returncode, done.stderr)
    return done.stdout


def run(tests):
    """Every function once; the first that fails ends the test."""
    for test in tests:
        test()
        print("ok", test.__name__)
        sys.stdout.flush()
