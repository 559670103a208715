"""The same bad value gives the same sentence from the command, the server and Python; only the name is written in each one's way."""
import json
import os
import subprocess
import sys
from pathlib import Path

from client import PEBBLE, SANITIZED, Server, run

ROOT = Path(__file__).resolve().parents[2]
server = Server()
graph = server.graph("chain")["id"]

# setting, value, field of the control document (None: the setting itself), the value there
CASES = [
    ("game", "tierd", None, "tierd"),
    ("game", "chess", None, "chess"),
    ("cap", "lots", None, "lots"),
    ("machine", "a100-4", None, "a100-4"),
    ("machine", "t4*65", None, "t4*65"),
    ("weights", "1,2,x", None, ["1", "2", "x"]),
    ("strategy", "serch", "strategies", ["serch"]),
    ("strategy", "every-k:j=3", "strategies", ["every-k:j=3"]),
    ("policy", "oldst", None, "oldst"),
    ("seed", "-1", None, "-1"),
    ("ticks", "many", None, "many"),
    ("threads", "x2", None, "x2"),
    ("store_cost", "-1", "prices", {"store_cost": "-1"}),
    ("load_per_unit", "x", "prices", {"load_per_unit": "x"}),
    ("slow_cap", "far", "prices", {"slow_cap": "far"}),
]
LIMITS = {"threads": ("from 0 to 1024", "from 0 to 64")}  # the server allows fewer


def by_command(setting, value):
    option = "--" + setting.replace("_", "-")
    graph_file = '{"format":"pebble-graph/1","nodes":[{"name":"a","cost":1,"size":1}]}'
    words = [PEBBLE, "plan", "-", option + "=" + value] + ([] if setting == "cap" else ["--cap", "100%"])
    done = subprocess.run(words, input=graph_file, capture_output=True, text=True)
    assert done.returncode == 2, (words, done)
    first = done.stderr.splitlines()[0]
    assert first.startswith(f"pebble: {option}: "), first
    return first.removeprefix(f"pebble: {option}: ")


def by_server(setting, field, value):
    status, _, data = server.ask("POST", f"/api/graphs/{graph}/jobs", {"kind": "compare", field or setting: value})
    message = json.loads(data)["error"]["message"]
    name = "strategies" if setting == "strategy" else setting
    assert status == 400 and message.startswith(f"{name}: "), message
    return message.removeprefix(f"{name}: ")


def by_python(setting, value):
    sys.path.insert(0, str(ROOT / "python"))
    os.environ.setdefault("PEBBLE_LIBRARY", str(Path(PEBBLE).resolve().parent / "libpebble.so"))
    from pebble_bridge import generate
    from pebble_bridge._session import Session
    from pebble_bridge.errors import PebbleError
    session = Session(**{setting: value})
    try:
        session.make("pb_session_plan", generate("chain", 3)._handle, None)
    except PebbleError as error:
        assert error.sentence.startswith(f"{setting}: "), error.sentence
        return error.sentence.removeprefix(f"{setting}: ")
    raise AssertionError(f"{setting}={value} was accepted")


def the_sentences_are_the_same():
    for setting, value, field, there in CASES:
        sentence = by_command(setting, value)
        own, servers = LIMITS.get(setting, ("", ""))
        assert by_server(setting, field, there).replace(servers, own) == sentence, (setting, sentence)
        if not SANITIZED:
            assert by_python(setting, value) == sentence, (setting, sentence)


with server:
    run([the_sentences_are_the_same])
    server.works()
