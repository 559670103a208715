"""The package in processes and threads: Ctrl-C, several threads, without numpy, other libraries."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pebble_bridge as pb
import pytest

PYTHON = Path(__file__).resolve().parents[1]


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=PYTHON, env={**os.environ, **environment}, capture_output=True, text=True
    )


def interrupted(code: str, times: int = 1) -> tuple[subprocess.Popen[str], str, float]:
    """Runs a program, sends Ctrl-C when it prints that it has started, and waits for its end."""
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", listen + code],
        cwd=PYTHON,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begins\n"
    time.sleep(1.0)
    begin = time.monotonic()
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    rest, _ = process.communicate(timeout=30)
    return process, rest, time.monotonic() - begin


SEARCH = """
import pebble_bridge as pb
g = pb.generate("layered", nodes=150)
print("begins")
p = pb.plan(g, "75%", strategy="search", time="10m"{})
print(p.interrupted, p.stopped, bool(p), bool(pb.verify(g, p)))
"""


@pytest.mark.parametrize("extra", ["", ", progress=lambda state: None"])
def test_ctrl_c_keeps_the_best_plan(extra):
    process, output, seconds = interrupted(SEARCH.format(extra))
    assert (process.returncode, output) == (0, "True interrupt True True\n")
    assert seconds < 5


def test_ctrl_c_before_anything_was_found_is_cancelled():
    code = """
import pebble_bridge as pb
g = pb.generate("layered", nodes=60)
print("begins")
try:
    pb.plan(g, "150%", game="reversible", strategy="exact:limit=999999999", time="10m")
except KeyboardInterrupt as stop:
    print(type(stop).__name__, isinstance(stop, pb.PebbleError))
"""
    process, output, seconds = interrupted(code)
    assert (process.returncode, output) == (0, "Cancelled True\n") and seconds < 5


def test_ctrl_c_ends_a_sweep_with_what_it_has():
    code = """
import pebble_bridge as pb
g = pb.generate("layered", nodes=300)
print("begins")
s = pb.sweep(g, "100%..60%", points=10, time="10m")
print(s.interrupted, len(s.cells))
"""
    process, output, seconds = interrupted(code)
    assert (process.returncode, output) == (0, "True 10\n") and seconds < 5


def test_several_threads_plan_at_once():
    g = pb.generate("layered", nodes=150)
    alone = pb.plan(g, "70%", strategy="search", ticks=30000).moves
    answers: dict[int, object] = {}

    def work(k: int) -> None:
        answers[k] = pb.plan(g, "70%", strategy="search", ticks=30000).moves if k % 2 else pb.verify(g, [("free", k)])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(answers[k] == alone for k in (1, 3, 5, 7))
    assert all(answers[k].rule == "free-not-resident" for k in (0, 2, 4, 6))


def test_other_threads_run_while_one_plans():
    g = pb.generate("layered", nodes=1500)
    planner = threading.Thread(target=lambda: pb.plan(g, "60%", time=0.5))
    planner.start()
    count = 0
    while planner.is_alive():
        count += 1
        time.sleep(0.001)
    assert count > 20


def test_everything_works_without_numpy():
    code = """
import sys; sys.modules["numpy"] = None
from array import array
import pebble_bridge as pb
g = pb.Graph([1, 1, 3], array("Q", [1, 1, 2]), [(0, 1), (1, 2), (0, 2)], groups=["x", None, "y"], keep=[1])
assert list(g.cost) == [1, 1, 3] and [list(e) for e in g.edges] == [[0, 0, 1], [1, 2, 2]] and g.keep == [1]
assert g.names == ["0", "1", "2"] and g.groups == ["x", None, "y"] and g.inputs(2) == [0, 1]
try: g.cost[0] = 4
except TypeError: pass
else: raise SystemExit("written")
p = pb.plan(g, 4)
assert [m.node for m in p.moves] == [0, 1, 2] and list(p.memory()[1]) == [1, 2, 4] and pb.verify(g, p)
assert "data:image/svg+xml" in p._repr_html_() and p.to_svg().startswith("<svg") and pb.compare(g, 4).winner and pb.sweep(g, points=2).cells and pb.info(g).games
assert len(list(pb.adjoint.revolve(10, 3))) > 10 and pb.explain(g, p, 0).text
try: pb.Graph([-1], [1])
except pb.RangeError: print("done")
"""
    done = python(code)
    assert done.stdout == "done\n", done.stderr


def test_the_library_is_found_or_missed_with_a_sentence(tmp_path):
    built = PYTHON.parent / "build" / "libpebble.so"
    copy = tmp_path / "mine.so"
    copy.write_bytes(built.read_bytes())
    output = python("import pebble_bridge as pb; print(pb.version().library)", PEBBLE_LIBRARY=str(copy))
    assert output.stdout == f"{copy}\n"
    gone = python("import pebble_bridge", PEBBLE_LIBRARY=str(tmp_path / "gone.so"))
    assert "there is no such file" in gone.stderr and gone.returncode == 1
    (tmp_path / "text.so").write_text("not a library")
    assert "cannot be loaded" in python("import pebble_bridge", PEBBLE_LIBRARY=str(tmp_path / "text.so")).stderr
    assert "libpebble" in python("import runpy; runpy.run_module('pebble_bridge', run_name='__main__')").stdout
