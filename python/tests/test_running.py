"""Plans run with kernels of the caller: the plan's peak, the same bits, and errors that say what to do."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")

import pebble_bridge as pb  # noqa: E402

STEPS, WORDS = 8, 100


@pytest.fixture
def graph() -> pb.Graph:
    """sin of sin of ..., and its gradient."""
    n = STEPS
    names = [f"x{i}" for i in range(n + 1)] + [f"g{i}" for i in range(n, -1, -1)]
    edges = [(f"x{i}", f"x{i + 1}") for i in range(n)] + [(f"x{n}", f"g{n}")]
    edges += [edge for i in range(n) for edge in ((f"x{i}", f"g{i}"), (f"g{i + 1}", f"g{i}"))]
    return pb.Graph(
        cost=[0] + [1] * n + [2] * (n + 1),
        size=[8 * WORDS] * len(names),
        names=names,
        edges=edges,
        given=["x0"],
        keep=["g0"],
        size_unit="byte",
    )


def kernel(name, *a):
    if name[0] == "x":
        return np.sin(a[0])
    return 2 * a[0] if name == f"g{STEPS}" else np.cos(a[0]) * a[1]


def expected(x):
    states = [x]
    for _ in range(STEPS):
        states.append(np.sin(states[-1]))
    gradient = 2 * states[-1]
    for state in reversed(states[:-1]):
        gradient = np.cos(state) * gradient
    return gradient


START = np.linspace(0, 1, WORDS)


@pytest.mark.parametrize("cap", ["100%", "60%", "50%", "40%"])
def test_the_measured_peak_is_the_plan_s_and_the_bits_are_equal(graph, cap):
    plan = pb.plan(graph, cap)
    ran = pb.run(graph, kernel, plan, given={"x0": START}, reference=True, steps=2)
    assert ran.peak == ran.planned_peak == plan.metrics.peak <= ran.block
    assert ran.recomputed == plan.metrics.recompute_count
    assert ran.values["g0"].tobytes() == expected(START).tobytes()
    assert ran.equal and ran.reference.peak == graph.total_size and ran.reference.recomputed == 0
    assert all(ns > 0 for v, ns in enumerate(ran.node_ns) if v) and ran.node_ns[0] == 0


def test_kernels_may_be_a_mapping_and_write_their_result(graph):
    def forward(x, out, times):
        assert times >= 0
        np.sin(x, out=out)

    table = {f"x{i}": forward for i in range(1, STEPS + 1)}
    table |= {f"g{i}": lambda x, g: np.cos(x) * g for i in range(STEPS)}
    table[f"g{STEPS}"] = lambda x: 2 * x
    types = {name: (WORDS, "f8") for name in graph.names}
    ran = pb.run(graph, table, pb.plan(graph, "40%"), given={"x0": lambda step: START}, types=types)
    assert ran.values["g0"].tobytes() == expected(START).tobytes()
    del table["x3"]
    with pytest.raises(pb.InvalidArgument, match="x3 has none"):
        pb.run(graph, table, pb.plan(graph, "40%"), given={"x0": START})


def test_slow_memory_is_a_file(graph, tmp_path):
    plan = pb.plan(graph, "30%", tiers={"store_cost": 1, "load_cost": 1}, weights=(0, 0, 1))
    ran = pb.run(graph, kernel, plan, given={"x0": START}, slow=tmp_path, reference=True)
    assert ran.stored_bytes > 0 and ran.loaded_bytes >= ran.stored_bytes
    assert ran.equal and ran.peak == ran.planned_peak


def test_a_check_names_the_kernels_that_are_not_deterministic(graph):
    calls = iter(range(10**6))

    def unsteady(name, *a):
        return kernel(name, *a) + (1e-9 * next(calls) if name in ("x3", "g2") else 0)

    plan = pb.plan(graph, "40%")
    assert pb.run(graph, kernel, plan, given={"x0": START}, check=True).differs == []
    assert pb.run(graph, unsteady, plan, given={"x0": START}, check=True).differs == ["x3", "g2"]
    assert pb.run(graph, unsteady, plan, given={"x0": START}, reference=True).equal is False


def test_a_check_finds_a_kernel_that_writes_to_its_input(graph):
    def sly(name, *a):
        if name == "x3":
            a[0].flags.writeable = True
            a[0][0] = 5
        return kernel(name, *a)

    with pytest.raises(pb.InvalidArgument, match="changed one of its inputs"):
        pb.run(graph, sly, pb.plan(graph, "100%"), given={"x0": START}, check=True)


def test_workspace_fixed_memory_and_by_products():
    g = pb.Graph(
        cost=[0, 1, 0, 1],
        size=[32, 32, 8, 8],
        workspace=[0, 16, 0, 0],
        edges=[(0, 1), (1, 3), (2, 3)],
        names=["x", "y", "norm", "z"],
        given=["x"],
        byproduct_of={"norm": "y"},
        keep=["z"],
        fixed_size=8,
        size_unit="byte",
    )

    def y(x, workspace, fixed):
        workspace.view("f8")[:] = 7
        return x * fixed.view("f8")[0], np.abs(x).sum()

    ran = pb.run(
        g,
        {"y": y, "z": lambda y, norm: y[0] / norm},
        pb.plan(g, "100%"),
        given={"x": np.full(4, 2.0)},
        fixed=np.array([3.0]),
    )
    assert ran.values["z"] == 6 / 8 and ran.peak == ran.planned_peak


def test_errors_of_kernels_pass_through(graph):
    def fails(name, *a):
        if name == "g4":
            raise RuntimeError("no convergence")
        return kernel(name, *a)

    plan = pb.plan(graph, "40%")
    with pytest.raises(RuntimeError, match="no convergence"):
        pb.run(graph, fails, plan, given={"x0": START})
    with pytest.raises(pb.InvalidArgument, match="has 808 bytes, but the node has 800"):
        pb.run(graph, lambda name, *a: np.zeros(WORDS + 1), plan, given={"x0": START})
    with pytest.raises(pb.InvalidArgument, match="no array for x0"):
        pb.run(graph, kernel, plan)
    with pytest.raises(pb.LimitReached):
        pb.run(graph, kernel, plan, given={"x0": START}, max_block=1000)
    with pytest.raises(pb.InvalidArgument, match="another graph"):
        pb.run(pb.generate("adjoint-chain", 3), kernel, plan)
    other = pb.generate("adjoint-chain", 3)
    with pytest.raises(pb.InvalidArgument, match="must be bytes"):
        pb.run(other, kernel, pb.plan(other, "100%"), given={k: np.zeros(1) for k in other.given})
