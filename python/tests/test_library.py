"""The declared calls are those of the headers, and a session that is NULL is safe in each of them."""

import re
from pathlib import Path

import pytest
from pebble_bridge._library import OWN_KERNEL, SIGNATURES, lib

HEADERS = Path(__file__).resolve().parents[2] / "include" / "pebble"
CALL = re.compile(r"^[a-z].*?\b(pb_\w+)\(", re.M)
NOT_NEEDED = {"pb_session_watch"}  # takes a callback; Python asks for the progress

pytestmark = pytest.mark.skipif(not HEADERS.is_dir(), reason="the headers are not here")


def declared():
    text = "".join((HEADERS / name).read_text() for name in ("pebble.h", "bindings.h"))
    return set(CALL.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.S)))


def test_every_call_of_the_headers_is_declared():
    assert declared() - NOT_NEEDED == set(SIGNATURES)


@pytest.mark.parametrize(
    "name", [name for name, (_, takes) in SIGNATURES.items() if re.match("pb_(session|load|make|save)_", name) and takes]
)
def test_no_session_is_safe(name):
    result, takes = SIGNATURES[name]
    nothing = [
        kind() if kind is OWN_KERNEL else 0 if kind.__name__.startswith(("c_u", "c_int", "c_double")) else None
        for kind in takes
    ]
    answer = getattr(lib, name)(*nothing)
    if name in ("pb_session_stopped", "pb_session_line", "pb_session_column"):
        assert answer == 0
    elif result is not None and result.__name__ == "c_int":
        assert answer == 2  # PB_EINVAL
    elif result is not None and result.__name__ == "c_char_p":
        assert answer == b""
