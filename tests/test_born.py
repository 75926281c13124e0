"""Graphs that generators make on a device are those that they make on the host, bit for bit."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from graphs import GRAPHS

from clgraph import DeviceGraph, Graph, generators
from clgraph.data.philox import random_words
from clgraph.errors import DeviceMemoryError, InputError
from clgraph.generators.device import launch
from clgraph.runtime.graph_on_device import GraphOnDevice
from clgraph.runtime.session import Session

SIZES = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 300, 1001)
BORN: dict[str, Callable[..., Graph]] = {
    **{f"rmat-{scale}-{factor}": partial(generators.rmat, scale, factor, seed=scale)
       for scale, factor in ((0, 4), (1, 3), (2, 0), (3, 1), (4, 33), (7, 5), (8, 8), (9, 7), (12, 6))},
    "rmat-in-order": partial(generators.rmat, 9, 9, seed=2**130, permute=False),
    "rmat-uneven": partial(generators.rmat, 8, 6, a=1.0, b=0.0, c=0.0),
    "rmat-none": partial(generators.rmat, 8, 6, a=0.0, b=0.0, c=0.0),
    **{f"uniform-{n}-{m}": partial(generators.uniform_random, n, m, seed=2**64 + n)
       for n, m in ((0, 0), (1, 5), (2, 1), (2, 7), (3, 2), (300, 0), (300, 999), (511, 1000))},
    **{f"road-{n}": partial(generators.road_like, n, seed=n) for n in (*SIZES, 20_000)},
    **{f"geometric-{n}-{degree}-{ids}": partial(generators.random_geometric, n, degree, seed=n, ids=ids)
       for n, degree in ((0, 3), (1, 3), (2, 1), (2, 99), (40, 1e9), (65, 0), (300, 5), (1001, 14), (3000, 0.1))
       for ids in ("spatial", "random")},
    **{f"grid-{rows}x{cols}": partial(generators.grid, rows, cols)
       for rows, cols in ((0, 0), (0, 4), (3, 0), (1, 1), (1, 6), (6, 1), (2, 2), (7, 11), (40, 33))},
    **{f"tree-{n}-{arity}": partial(generators.tree, n, arity)
       for n in (0, 1, 2, 3, 5, 300) for arity in (1, 2, 3, 299, 2**31 - 1)},
    **{f"star-{n}": partial(generators.star, n) for n in (0, 1, 2, 3, 300)},
    **{f"path-{n}": partial(generators.path, n) for n in (0, 1, 2, 3, 300)},
    **{f"cycle-{n}": partial(generators.cycle, n) for n in (3, 4, 301)},
    **{f"cliques-{size}-{bridge}": partial(generators.two_cliques, size, bridge=bridge)
       for size in (0, 1, 2, 3, 30) for bridge in (False, True)},
}  # fmt: skip


@pytest.fixture(scope="module")
def groups_of_lanes(pocl: Session) -> Session:
    """A session on PoCL that is taken for a GPU."""
    session = Session("pocl")
    session.facts = replace(pocl.facts, is_cpu=False)
    return session


def assert_same(made: Graph, wanted: Graph) -> None:
    assert isinstance(made, GraphOnDevice) and made.directed == wanted.directed
    for name in ("row_offsets", "column_indices", "edge_weights"):
        one, other = getattr(made, name), getattr(wanted, name)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other, name, strict=True)
    assert made.has_sorted_rows == wanted.has_sorted_rows


@pytest.mark.parametrize("name", BORN)
def test_a_graph_is_the_same_on_every_device(session: Session, name: str) -> None:
    assert_same(BORN[name](session=session), BORN[name]())


@pytest.mark.parametrize("name", ["rmat-9-7", "uniform-511-1000", "geometric-300-5-random", "road-1001", "grid-40x33"])
def test_work_groups_of_many_lanes_make_the_same(groups_of_lanes: Session, name: str) -> None:
    made, wanted = BORN[name](session=groups_of_lanes), BORN[name]()
    assert_same(made, wanted)
    assert_same(generators.random_weights(made).expanded(3), generators.random_weights(wanted).expanded(3))
    assert_same(made.expanded(0), wanted.expanded(0))


@pytest.mark.parametrize("name", ["grid-7x11", "tree-300-3", "cycle-301", "cliques-30-True", "road-1001"])
def test_graphs_of_more_entries_than_int32_counts(pocl: Session, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = generators.random_weights(BORN[name]()).expanded(2)
    with monkeypatch.context() as patch:
        for module in ("generators.device", "runtime.graph_on_device"):
            patch.setattr(f"clgraph.{module}.offset_dtype", lambda n_edges: np.int64)
        made = generators.random_weights(BORN[name](session=pocl)).expanded(2)
    assert made.on_device.row_offsets.dtype == np.int64  # type: ignore[attr-defined]
    assert_same(made, wanted)


def test_words_are_the_same_on_every_device(session: Session) -> None:
    """Points that are drawn are two words each, cut to their highest bits."""
    points, unused = session.empty(2000, np.uint64), session.empty(2000, np.uint32)
    for key in ((0, 0), (2**64 - 1, 2**64 - 1), (0x452821E638D01377, 0xBE5466CF34E90C6C)):
        given = {"n": 2000, "cell": 1 << 20, "key0": key[0], "key1": key[1]}
        launch(session, "points", "draw_points", 1000, points=points, cells=unused, ids=unused, **given)
        words = random_words(key, 0, 0, 4000) >> np.uint64(40)
        np.testing.assert_array_equal(points.get(), words[::2] << np.uint64(32) | words[1::2])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda s: generators.uniform_random(9, 2**31, session=s), "a device sorts at most 2147418111"),
        (lambda s: generators.rmat(4, a=0.9, session=s), "probabilities"),
        (lambda s: generators.grid(-2, 3, session=s), "rows = -2; allowed: 0"),
        (lambda s: generators.cycle(2, session=s), "n = 2"),
        (lambda s: generators.road_like(-1, session=s), "n = -1"),
        (lambda s: generators.star(3, session=5), "session must be"),
        (lambda s: generators.random_weights(generators.star(3, session=s), low=0.2, high=0.8), "there is no integer"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(pocl: Session, make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(pocl)


@pytest.mark.parametrize(
    "make",
    [lambda s: generators.rmat(24, 32, session=s), lambda s: generators.grid(2**15, 2**15, session=s),
     lambda s: generators.random_geometric(10**8, 99, session=s),
     lambda s: generators.star(9, session=s).expanded(2**27)],
)  # fmt: skip
def test_what_does_not_fit_is_refused_before_it_is_made(pocl: Session, make: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("clgraph.runtime.session.available_bytes", lambda facts: 1 << 27)
    with pytest.raises(DeviceMemoryError, match=r"needs .* bytes"):
        make(pocl)


def test_bytes_of_replicas_are_told_to_the_byte(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = DeviceGraph.from_graph(generators.random_weights(generators.star(9), dtype=np.float64), pocl)
    monkeypatch.setattr("clgraph.runtime.session.available_bytes", lambda facts: 1 << 25)
    told = "row offsets 36,000,004, column indices 64,000,000, weights 128,000,000"
    with pytest.raises(DeviceMemoryError, match=told):
        graph.as_graph().expanded(10**6)


@pytest.mark.parametrize("k", [0, 1, 2, 7])
@pytest.mark.parametrize("name", ["empty", "one-vertex", "isolated", "duplicates-self-loops", "directed-random"])
def test_replicas_are_the_same_on_every_device(session: Session, name: str, k: int) -> None:
    graph = GRAPHS[name]()
    for weighted in (graph, *(generators.random_weights(graph, dtype=dtype) for dtype in (np.int32, np.float64))):
        assert_same(DeviceGraph.from_graph(weighted, session).as_graph().expanded(k), weighted.expanded(k))
    with pytest.raises(InputError, match="k = -1; allowed: 0 to"):
        DeviceGraph.from_graph(graph, session).as_graph().expanded(-1)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("limits", [(1, 256), (-5, 20), (0.5, 3.5), (-1e6, 1e6), (-(2.0**31), 2.0**31), (1, 2)])
def test_weights_are_the_same_on_every_device(session: Session, dtype: Any, limits: Any) -> None:
    low, high = limits
    for name in ("scale-free", "star", "directed-random", "isolated"):
        graph = GRAPHS[name]()
        weighted = partial(generators.random_weights, seed=7, low=low, high=high, dtype=dtype)
        assert_same(weighted(DeviceGraph.from_graph(graph, session)), weighted(graph))
