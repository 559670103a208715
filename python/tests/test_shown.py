"""What notebooks and terminals show, and plots."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
import time
import types
import xml.etree.ElementTree as xml

import pebble_bridge as pb
import pytest
from pebble_bridge import progress
from pebble_bridge.text import amount, percent


def well_formed(html: str) -> xml.Element:
    """Our HTML is XML too, so that every tag is known to be closed and every text escaped."""
    return xml.fromstring(html)


def drawn(html: str) -> str:
    """The drawing inside the HTML."""
    return base64.b64decode(well_formed(html).find("img").get("src").split(",")[1]).decode()


def texts_of(svg: str) -> list[str | None]:
    return [t.text for t in well_formed(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_plan_shows_its_memory_with_the_cap(chain):
    p = pb.plan(chain, 8)
    assert drawn(p._repr_html_()) == p.to_svg() == p.export("svg")
    texts = texts_of(p.to_svg())
    assert "cap 8 pebble" in texts and any(t.startswith("peak 8 pebble at ") for t in texts)
    assert any("peak 8 pebble, 58 step" in t for t in texts)
    assert "optimal by chain in the remat game, chosen by auto" in p._repr_html_()


def test_a_plan_plays_in_a_frame_of_its_own(chain, tmp_path, monkeypatch):
    from pebble_bridge.player import command

    p = pb.plan(chain, 8)
    try:
        command()
        page = p.to_html()
    except pb.LibraryError as error:
        pytest.skip(str(error))
    assert (
        page.startswith("<!doctype html>")
        and 'id="data-frames-0"' in page
        and "http://" not in page.split("<script")[0]
    )
    shown = p.show(height=300)
    frame = shown._repr_html_()
    assert 'sandbox="allow-scripts"' in frame and "height:300px" in frame and "<script" not in frame
    shown.write(tmp_path / "plan.html")
    assert (tmp_path / "plan.html").read_text(encoding="utf-8") == shown.html
    monkeypatch.setenv("PEBBLE", str(tmp_path / "none"))
    with pytest.raises(pb.LibraryError, match=r"PEBBLE is .* not a program"):
        p.to_html()


def test_colours_suit_light_and_dark(chain):
    html = pb.plan(chain, 8)._repr_html_()
    svg = drawn(html)
    assert "prefers-color-scheme:dark" in svg
    assert not re.search(r"(?:fill|color)[:=]\"?(?:#000|black|#fff|white)", html + svg)
    assert "<script" not in html + svg and "<style" not in html


def test_names_are_escaped():
    g = pb.Graph([1, 1], [1, 1], [(0, 1)], names=["<a&b>", "c"], name="<script>alert(1)</script>", cost_unit="<i>")
    things = [g, pb.plan(g, 2), pb.plan(g, 1), pb.compare(g, 2, strategies="demand"), pb.sweep(g, points=2), pb.info(g)]
    for thing in [*things, pb.explain(g, pb.plan(g, 2))]:
        html = thing._repr_html_()
        assert "<script" not in html and "<i>" not in html and "<a&" not in html
        well_formed(f"<div>{html}</div>")


def test_tables_have_their_rows(chain, quick):
    c = pb.compare(chain, 8, strategies=quick)
    html = c._repr_html_()
    bold = [row for row in well_formed(html).iter("tr") if "bold" in row[0].get("style")]
    assert len(bold) == 1 and bold[0][0].text == c.winner.strategy
    s = pb.sweep(chain, points=4)
    page = well_formed(s._repr_html_())
    drawing = base64.b64decode(page.find("img").get("src").split(",")[1])
    assert drawing.decode() == s.to_svg() and len(page.findall(".//tbody/tr")) == len(s.front)
    assert len(well_formed(f"<div>{pb.info(chain)._repr_html_()}</div>").findall(".//th")) == 6


def test_no_plan_shows_its_reason(tiny, quick):
    assert "infeasible" in pb.plan(tiny, 3)._repr_html_()
    assert "no strategy fits" in pb.compare(tiny, 3, game="remat", strategies=quick)._repr_html_()


def test_plans_of_every_game_are_drawn(chain):
    p = pb.plan(chain, 5, tiers={"store_cost": 1, "load_cost": 1})
    assert "slow memory" in texts_of(p.to_svg())
    free = pb.Graph([0, 0], [1, 1], [(0, 1)])  # takes no time at all
    assert any("memory over moves" in t for t in texts_of(pb.plan(free, 2).to_svg()))
    well_formed(pb.plan(pb.Graph([], []), 0)._repr_html_())


def test_amounts_are_those_of_the_command():
    assert [amount(v, "byte") for v in (0, 1023, 1536, 2**30 - 1, 2**64 - 1)] == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "1023.99 MiB",
        "15.99 EiB",
    ]
    assert amount(12345, "step") == "12,345 step"
    assert [percent(x) for x in (0, 0.5, 0.00021, 3)] == ["0 %", "50.0 %", "0.021 %", "300 %"]


# ---- progress ----


def test_a_callable_hears_how_it_gets_on():
    class Enough(Exception):
        """Raised when all kinds of progress were received."""

    received = []

    def listen(progress: pb.Progress) -> None:
        received.append(progress)
        if any(n.plans and n.peak and n.makespan for n in received) and any(n.what for n in received):
            raise Enough

    g = pb.generate("layered", nodes=1500)
    with pytest.raises(Enough):  # the first plans take a second or two; how long on a busy machine does not matter
        pb.plan(g, "60%", time=300, progress=listen)
    assert all(isinstance(n, pb.Progress) for n in received)


def test_what_a_watcher_raises_is_raised_and_the_planning_stops():
    def refuse(progress: pb.Progress) -> None:
        raise RuntimeError("enough")

    begin = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        pb.plan(pb.generate("layered", nodes=150), "75%", strategy="search", time="10m", progress=refuse)
    assert time.monotonic() - begin < 10


def test_a_terminal_has_a_line_that_goes_away(chain, monkeypatch):
    written = []
    terminal = types.SimpleNamespace(isatty=lambda: True, write=written.append, flush=lambda: None)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "DELAY", 0)
    with progress.watching(True, chain) as line:
        line(pb.Progress("search", 1, 4, 2, 7, 99))
    assert "search, 25 %, best: 99 step in 7 pebble, 0 s" in written[0] and written[-1] == "\r\033[K"


def test_a_pipe_has_no_line(chain, capfd, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0)
    with progress.watching(True, chain) as line:
        line(pb.Progress("search", 1, 4, 0, 0, 0))
    assert capfd.readouterr() == ("", "")


def test_a_notebook_has_a_live_display(chain, monkeypatch):
    shown = []
    handle = types.SimpleNamespace(update=shown.append)
    kernel = types.SimpleNamespace(kernel=object())
    display = types.ModuleType("IPython.display")
    display.HTML = lambda text: text
    display.display = lambda html, display_id: shown.append(html) or handle
    shell = types.ModuleType("IPython")
    shell.get_ipython, shell.display = (lambda: kernel), display
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(progress, "DELAY", 0)
    with progress.watching(True, chain) as bar:
        bar(pb.Progress("a<b", 1, 4, 0, 0, 0))
        bar(pb.Progress("search", 2, 4, 0, 0, 0))
    assert 'value="1"' in shown[0] and "a&lt;b" in shown[0] and 'value="2"' in shown[1] and shown[2] == ""


# ---- plots ----


def test_plots_are_drawn(chain, quick, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    p = pb.plan(chain, 8)
    ax = p.plot()
    assert "peak 8 pebble" in ax.get_title() and ax.get_ylim()[1] >= 8
    assert pb.sweep(chain, points=4).plot().get_lines()
    assert pb.compare(chain, 8, strategies=quick).plot().collections
    own = pyplot.subplots()[1]
    assert pb.plan(pb.generate("unet"), "60%", strategy="dtr").plot(own) is own
    own.figure.savefig(tmp_path / "p.png")
    assert (tmp_path / "p.png").stat().st_size > 1000
    pyplot.close("all")


def test_missing_matplotlib_is_said(root):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import pebble_bridge as pb\n"
        "try: pb.plan(pb.generate('chain', 4), 3).plot()\n"
        "except pb.MissingMatplotlib as e: assert isinstance(e, ImportError); print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root / "python", capture_output=True, text=True, check=True)
    assert done.stdout == "plots need matplotlib: pip install matplotlib\n"
