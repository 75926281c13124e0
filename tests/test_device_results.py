"""Calls with ``output="device"``: answers in device memory equal the same calls' answers on the host."""

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from conftest import session_on

import clgraph as cg
from clgraph.algorithms.table import find_algorithm
from clgraph.engine.device_result import DeviceResult
from clgraph.errors import InputError
from clgraph.runtime.session import Session

CALLS = {
    "bfs": {"source": 5}, "sssp": {"source": [3, 7], "predecessors": True}, "connected_components": {},
    "color": {"deterministic": True},
}  # fmt: skip


def weighted(seed: int) -> cg.Graph:
    src, dst = np.random.default_rng(seed).integers(500, size=(2, 900))
    return cg.Graph.from_edges(src, dst, np.random.default_rng(seed).integers(1, 50, 900))


def strategies() -> list[tuple[str, str]]:
    named = {name: find_algorithm(name).strategies for name in CALLS}
    return [(name, strategy) for name in CALLS for strategy in ("auto", *named[name]) if strategy != "host"]


@pytest.mark.parametrize(("name", "strategy"), strategies())
def test_answers_on_the_device_equal_those_on_the_host(session: Session, name: str, strategy: str) -> None:
    reason = find_algorithm(name).strategies.get(strategy)
    if reason is not None and (why := reason.unsupported(session.facts)):
        pytest.skip(why)
    if strategy == "best_of_orders" or strategy == "hash_repair":
        pytest.skip("its colours differ between runs")
    graph, call = weighted(1), getattr(cg, name)
    kept = call(graph, **CALLS[name], strategy=strategy, session=session, output="device", verify=True)
    others = {"bfs": {"source": 6}, "sssp": {"source": [4, 8], "predecessors": True}}.get(name, CALLS[name])
    call(graph, **others, strategy=strategy, session=session, output="device")  # takes the plan of the first call
    unchanged = kept.get()
    again = call(graph, **CALLS[name], strategy=strategy, session=session, output="device")
    expected = call(graph, **CALLS[name], strategy=kept.info.strategy, session=session)
    for found in (unchanged, again.get()):
        assert type(found) is type(expected) and found.info.strategy == kept.info.strategy
        for field, value, wanted in zip(expected._fields, found, expected, strict=True):
            assert np.asarray(value).dtype == np.asarray(wanted).dtype
            # Of several predecessors in a breadth-first search, any may be found, and verify=True has checked them.
            assert (name, field) == ("bfs", "predecessors") or np.array_equal(value, wanted)
    assert isinstance(kept, DeviceResult)
    arrays = [value for value in kept if isinstance(value, cl.array.Array)]
    assert arrays and all(array.queue is session.queue for array in arrays)


@pytest.mark.parametrize("name", CALLS)
def test_matrices_and_empty_graphs_stay_on_the_device_too(session: Session, name: str) -> None:
    call, matrix = getattr(cg, name), weighted(3).to_scipy()
    kept = call(matrix, **CALLS[name], session=session, output="device")
    expected = call(matrix, **CALLS[name], session=session, strategy=kept.info.strategy)
    first, wanted = next(iter(kept.get())), next(iter(expected))
    assert np.array_equal(first, wanted)
    if "source" not in CALLS[name]:
        values = [*call(cg.Graph.from_edges([], []), session=session, output="device").get()]
        assert values[0] == 0 and values[1].shape == (0,)


def test_a_kernel_of_the_caller_reads_the_answer() -> None:
    session = session_on("pocl")
    found = cg.bfs(cg.generators.grid(30, 30), 0, session=session, output="device")
    source = "kernel void negate(global int *x) { x[get_global_id(0)] *= -1; }"
    cl.Program(session.context, source).build().negate(session.queue, (900,), None, found.distances.data)
    assert found.get().distances.min() == -58 and found.sources.tolist() == [0]
    assert repr(found) == "DeviceResult(distances: Array, predecessors: Array)"


def test_the_host_cannot_leave_its_answer_on_a_device(session: Session) -> None:
    graph = cg.generators.path(4)
    with pytest.raises(InputError, match="makes its answer on the host"):
        cg.bfs(graph, 0, strategy="host", session=session, output="device")
    with pytest.raises(InputError, match="output"):
        cg.bfs(graph, 0, session=session, output="gpu")
    with pytest.raises(InputError, match="balanced"):
        cg.color(graph, session=session, balanced=True, output="device")
    with pytest.raises(InputError, match="devices"):
        cg.connected_components(graph, devices=[session], output="device")
