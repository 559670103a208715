"""ONNX models that the page sends: the options that `pebble ui` was started with apply to them, and refusals are reported."""
import json
from pathlib import Path

from client import Server, pebble, run

MODELS = Path(__file__).resolve().parents[1] / "fuzz" / "corpus" / "graph_onnx"
OPTIONS = ["--train", "--dim", "batch=3", "--dim", "tokens=8"]


def send(server, name, expect=200, reading=""):
    data = (MODELS / name).read_bytes()
    return server.json("POST", f"/api/graphs?name={name}{reading}", data, type="application/octet-stream", expect=expect)


def a_model_is_the_graph_that_the_command_reads():
    with Server(*OPTIONS) as server:
        info = send(server, "text_open.onnx")
        told = pebble("info", str(MODELS / "text_open.onnx"), *OPTIONS, "--ticks", "1000").decode()
        assert f"{info['nodes']} nodes, {info['edges']} edges" in told, told
        assert info["cost_unit"] == "flop"


def a_refusal_has_its_sentence():
    with Server() as server:
        assert 'dims={"batch": 1, "tokens": 1}' in send(server, "text_open.onnx", expect=400)["error"]["message"]
        assert "branches are not supported" in send(server, "if.onnx", expect=400)["error"]["message"]
        assert "byte 835" in send(server, "cut.onnx", expect=400)["error"]["message"]
        server.works()


def arguments_take_the_place_of_the_options():
    with Server(*OPTIONS) as server:
        forward = send(server, "text_open.onnx", reading="&dims=batch%3D2,tokens%3D4")
        told = pebble("info", str(MODELS / "text_open.onnx"), "--dim", "batch=2", "--dim", "tokens=4", "--ticks", "1000").decode()
        assert f"{forward['nodes']} nodes, {forward['edges']} edges" in told, told
        step = send(server, "text_open.onnx", reading="&dims=batch%3D2,tokens%3D4&train=1&optimizer=adam")
        plain = send(server, "text_open.onnx", reading="&dims=batch%3D2,tokens%3D4&train=1")
        assert step["nodes"] == plain["nodes"] > forward["nodes"]
        assert int(step["fixed_size"]) > int(plain["fixed_size"]), "the state of adam"
        for reading, words in [("&batch=0", "batch"), ("&train=2", "train"), ("&optimizer=best&train=1", "optimizer"), ("&optimizer=adam", "train")]:
            message = send(server, "text_open.onnx", expect=400, reading="&dims=batch%3D2,tokens%3D4" + reading)["error"]["message"]
            assert words in message, (reading, message)
        assert "unknown argument" in send(server, "text_open.onnx", expect=400, reading="&size=3")["error"]["message"]


def a_job_borrows_memory():
    with Server() as server:
        graph = server.json("POST", "/api/graphs", {"family": "chain", "parameters": {"nodes": "12"}})["id"]
        settings = dict(kind="compare", game="remat", cap="2", strategies=["last-use"], ticks=20000)
        rows, _ = server.rows(server.job(graph, borrow="6", **settings))
        told = json.loads(server.bytes(f"/api/plans/{rows[0]['plan']}/file?as=schedule"))
        assert told["cap"] == 2 and told["borrow"] == 6, told
        server.json("POST", f"/api/graphs/{graph}/jobs", dict(borrow="x", **settings), expect=400)


run([a_model_is_the_graph_that_the_command_reads, a_refusal_has_its_sentence, arguments_take_the_place_of_the_options,
     a_job_borrows_memory])
