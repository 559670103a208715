"""The wheel, made and used in an environment that has nothing else; and the documentation, which is run."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pebble_bridge as pb
import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALLER = {"jax_transformer": ["1"]}  # arguments that leave less to compile
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


def blocks(page: Path) -> list[str]:
    """The ```python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)


def run(*arguments: object, **options: object) -> str:
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PEBBLE_LIBRARY")}
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, env=clean, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("wheel")
    arguments = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT / "python"]
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_the_library_and_the_types(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "pebble_bridge/libpebble.so" in names and "pebble_bridge/py.typed" in names
    assert wheel.name.startswith(f"pebble_bridge-{pb.__version__}-py3-none-linux_")
    assert not [n for n in names if "test" in n]


def test_readmes_ten_lines_run_in_a_clean_environment(wheel, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index", wheel)
    code = blocks(ROOT / "python" / "README.md")[0]
    assert len(code.strip().splitlines()) <= 10
    assert run(python, "-c", code, cwd=tmp_path).endswith("True\n")
    where = run(python, "-m", "pebble_bridge", cwd=tmp_path)
    assert str(tmp_path / "venv") in where
    needs = run("ldd", next((tmp_path / "venv").glob("lib/python*/site-packages/pebble_bridge/libpebble.so")))
    assert not re.search(r"libstdc|libcrypto|libCbc|libdnnl|not found", needs), needs


@pytest.mark.parametrize("name", sorted(m.name for m in pkgutil.iter_modules(pb.__path__)))
def test_the_examples_of_the_modules_are_true(name):
    if name == "__main__":
        return
    assert doctest.testmod(importlib.import_module(f"pebble_bridge.{name}")).failed == 0


def test_the_guide_is_true(tmp_path, monkeypatch):
    """Every ```pycon session of docs/python.md, in one go, in an empty folder."""
    pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "python.md"
    sessions = "\n".join(re.findall(r"^```pycon\n(.*?)^```$", page.read_text(), re.M | re.S))
    examples = doctest.DocTestParser().get_doctest(sessions, {}, "docs/python.md", str(page), 0)
    assert len(examples.examples) > 20
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(examples).failed == 0


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path, tmp_path):
    if "matplotlib" in path.read_text():
        pytest.importorskip("matplotlib")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "MPLBACKEND": "Agg"}
    command = [sys.executable, path, *SMALLER.get(path.stem, ())]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout, done.stderr
    assert path.stem != "jax_transformer" or done.stdout.count("%") >= 4
