"""ONNX models that the page sends: the options that `pebble ui` was started with apply to them, and refusals are reported."""
from pathlib import Path

from client import Server, pebble, run

MODELS = Path(__file__).resolve().parents[1] / "fuzz" / "corpus" / "graph_onnx"
OPTIONS = ["--train", "--dim", "batch=3", "--dim", "tokens=8"]


def send(server, name, expect=200):
    data = (MODELS / name).read_bytes()
    return server.json("POST", f"/api/graphs?name={name}", data, type="application/octet-stream", expect=expect)


def a_model_is_the_graph_that_the_command_reads():
    with Server(*OPTIONS) as server:
        info = send(server, "text_open.onnx")
        told = pebble("info", str(MODELS / "text_open.onnx"), *OPTIONS, "--ticks", "1000").decode()
        assert f"{info['nodes']} nodes, {info['edges']} edges" in told, told
        assert info["cost_unit"] == "flop"


def a_refusal_has_its_sentence():
    with Server() as server:
        assert "--dim tokens=1" in send(server, "text_open.onnx", expect=400)["error"]["message"]
        assert "branches are not supported" in send(server, "if.onnx", expect=400)["error"]["message"]
        assert "byte 835" in send(server, "cut.onnx", expect=400)["error"]["message"]
        server.works()


run([a_model_is_the_graph_that_the_command_reads, a_refusal_has_its_sentence])
