"""Finds libpebble and declares the calls of a session (include/pebble/pebble.h, bindings.h). Nothing else touches ctypes' loader."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from pathlib import Path

from .errors import LibraryError

NO_NODE = 0xFFFFFFFF
UNLIMITED = 0xFFFFFFFFFFFFFFFF
BORROWED = 255

U8, U16, U32, U64 = POINTER(c_uint8), POINTER(c_uint16), POINTER(c_uint32), POINTER(c_uint64)
HANDLE = POINTER(c_void_p)  # receives the object that a call creates
# A kernel of the caller: state, duty, node, four numbers, addresses by node, workspace, fixed memory.
OWN_KERNEL = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, U64, POINTER(c_void_p), c_void_p, c_void_p)

# name: (result, arguments). A session, graph, plan or stream is an address.
_S = _G = _P = c_void_p
SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "pb_session_new": (c_void_p, []),
    "pb_session_free": (None, [_S]),
    "pb_session_set": (c_int, [_S, c_char_p, c_char_p]),
    "pb_load_graph": (c_int, [_S, c_char_p, HANDLE]),
    "pb_make_plan": (c_int, [_S, _G, HANDLE]),
    "pb_save_plan": (c_int, [_S, _P, c_char_p]),
    "pb_session_stop": (None, [_S]),
    "pb_session_go_on": (None, [_S]),
    "pb_session_stopped": (c_int, [_S]),
    "pb_session_status": (c_int, [_S]),
    "pb_session_message": (c_char_p, [_S]),
    "pb_session_line": (c_uint64, [_S]),
    "pb_session_column": (c_uint64, [_S]),
    "pb_session_notes": (c_char_p, [_S]),
    "pb_session_text": (c_void_p, [_S, U64]),
    "pb_session_progress": (None, [_S, c_char_p, c_uint64, U64]),
    "pb_session_about": (c_int, [_S]),
    "pb_session_name_nodes": (c_int, [_S, c_uint32, c_char_p, c_uint64]),
    "pb_session_group_nodes": (c_int, [_S, c_uint32, U32, c_char_p, c_uint64]),
    "pb_session_count_nodes": (c_int, [_S, c_char_p, c_uint32, U64]),
    "pb_session_word_nodes": (c_int, [_S, c_char_p, c_uint32, U32, c_char_p, c_uint64]),
    "pb_session_add_nodes": (c_int, [_S, c_uint32, U64, U64, U64, U16]),
    "pb_session_add_pairs": (c_int, [_S, c_char_p, c_uint64, U32, U32]),
    "pb_session_add_list": (c_int, [_S, c_char_p, c_uint64, U32]),
    "pb_session_add_priorities": (c_int, [_S, c_uint64, U32, U64]),
    "pb_session_add_notes": (c_int, [_S, c_char_p, c_char_p, c_uint64, U32, U64]),
    "pb_session_carry_machine": (c_int, [_S, c_char_p]),
    "pb_session_make_graph": (c_int, [_S, c_char_p, c_char_p, c_char_p, c_uint64, HANDLE]),
    "pb_session_read_graph": (c_int, [_S, c_char_p, c_uint64, c_char_p, HANDLE]),
    "pb_session_generate": (c_int, [_S, c_char_p, c_char_p, HANDLE]),
    "pb_graph_array": (c_void_p, [_G, c_char_p, U64, U32]),
    "pb_graph_number": (c_uint64, [_G, c_char_p]),
    "pb_graph_text": (c_char_p, [_G, c_char_p]),
    "pb_graph_node_name": (c_char_p, [_G, c_uint32]),
    "pb_graph_group_label": (c_char_p, [_G, c_uint32]),
    "pb_graph_find_node": (c_uint32, [_G, c_char_p]),
    "pb_graph_work_arrays": (c_bool, [_G, U64, U64, U32, U32]),
    "pb_graph_notes": (c_uint64, [_G, c_char_p, c_uint64, U32, U32, U64]),
    "pb_graph_word": (c_char_p, [_G, c_uint32]),
    "pb_session_write_graph": (c_int, [_S, _G, c_char_p]),
    "pb_session_program_peak": (c_int, [_S, _G, U64]),
    "pb_session_size": (c_int, [_S, _G, c_char_p, U64]),
    "pb_session_plan": (c_int, [_S, _G, _P, HANDLE]),
    "pb_session_add_moves": (c_int, [_S, c_uint64, U32, U64, U32]),
    "pb_session_judge_moves": (c_int, [_S, _G, HANDLE]),
    "pb_session_judge_file": (c_int, [_S, _G, c_char_p, c_uint64, HANDLE]),
    "pb_result_has_plan": (c_bool, [_P]),
    "pb_result_move_count": (c_uint64, [_P]),
    "pb_result_moves": (c_uint64, [_P, c_uint64, c_uint64, U32]),
    "pb_result_also": (c_uint64, [_P, U64, U32]),
    "pb_op_label": (c_char_p, [c_uint32]),
    "pb_session_write_plan": (c_int, [_S, _P, c_char_p]),
    "pb_session_write_plan_binary": (c_int, [_S, _P]),
    "pb_session_explain": (c_int, [_S, _P, c_uint32, c_char_p]),
    "pb_session_memory": (c_int, [_S, _P, U64, U64, U64]),
    "pb_session_profile": (c_int, [_S, _P, c_char_p, c_uint32, U64, U64]),
    "pb_session_run_number": (c_int, [_S, c_char_p, c_uint64]),
    "pb_session_run_slow": (c_int, [_S, c_char_p]),
    "pb_session_run": (c_int, [_S, _P, OWN_KERNEL, c_void_p]),
    "pb_session_compare": (c_int, [_S, _G, HANDLE]),
    "pb_session_write_comparison": (c_int, [_S, _P]),
    "pb_comparison_row_count": (c_uint64, [_P]),
    "pb_comparison_row": (c_void_p, [_P, c_uint64]),
    "pb_session_sweep": (c_int, [_S, _G, HANDLE]),
    "pb_session_store_add": (c_int, [_S, _G, c_char_p]),
    "pb_session_store_work": (c_int, [_S, c_char_p, c_char_p, c_uint32, c_bool]),
    "pb_session_store_collect": (c_int, [_S, c_char_p, c_char_p, HANDLE]),
    "pb_session_write_sweep": (c_int, [_S, _P, c_char_p]),
    "pb_session_cell": (c_int, [_S, _P, c_uint64, HANDLE]),
    "pb_session_info": (c_int, [_S, _G]),
    "pb_session_write_machine": (c_int, [_S, c_char_p]),
    "pb_session_write_graph_machine": (c_int, [_S, _G]),
    "pb_session_time_graph": (c_int, [_S, _G, HANDLE]),
    "pb_session_add_samples": (c_int, [_S, c_char_p, c_char_p, c_uint64, U64]),
    "pb_session_fit_machine": (c_int, [_S, c_char_p]),
    "pb_session_rescale_machine": (c_int, [_S, c_char_p, c_double]),
    "pb_session_revolve": (c_int, [_S, c_uint64, c_uint64, HANDLE]),
    "pb_session_add_level": (c_int, [_S, c_uint64, c_uint64, c_uint64]),
    "pb_session_multilevel": (c_int, [_S, c_uint64, c_uint64, c_uint64, HANDLE]),
    "pb_session_add_mixed_level": (c_int, [_S, c_uint64, U64]),
    "pb_session_mixed": (c_int, [_S, c_uint64, U64, HANDLE]),
    "pb_session_mixed_end": (c_int, [_S, _P]),
    "pb_session_online": (c_int, [_S, c_uint32, HANDLE]),
    "pb_stream_actions": (c_uint64, [_P, c_uint64, U64]),
    "pb_stream_online_steps": (c_uint64, [_P, c_uint64, U64]),
    "pb_stream_online_end": (None, [_P]),
    "pb_stream_cost": (c_uint64, [_P]),
    "pb_session_revolve_count": (c_int, [_S, c_uint64, c_uint64]),
    "pb_action_label": (c_char_p, [c_uint32]),
    "pb_storage_label": (c_char_p, [c_uint32]),
}


def candidates() -> list[Path]:
    """The paths where the library is searched, in this order."""
    here = Path(__file__).resolve().parent
    named = os.environ.get("PEBBLE_LIBRARY")
    if named:
        return [Path(named)]
    return [here / "libpebble.so", here.parent.parent / "build" / "libpebble.so"]


def find() -> Path:
    """The path of the library.

    Raises
    ------
    LibraryError
        It is at none of these paths.
    """
    places = candidates()
    for place in places:
        if place.is_file():
            return place
    if "PEBBLE_LIBRARY" in os.environ:
        raise LibraryError(f"PEBBLE_LIBRARY is {places[0]}, but there is no such file; correct it, or unset it")
    raise LibraryError(
        "libpebble.so is not in the package and not built in the source tree; run `make` there, or set PEBBLE_LIBRARY"
    )


def load() -> ctypes.CDLL:
    """Loads the library and declares its functions."""
    path = find()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryError(f"{path} cannot be loaded: {error}; rebuild it with `make`") from error
    for name, (result, arguments) in SIGNATURES.items():
        try:
            call = getattr(library, name)
        except AttributeError:
            raise LibraryError(f"{path} is too old for this package (no {name}); rebuild it with `make`") from None
        call.restype = result
        call.argtypes = arguments
    return library


lib = load()
