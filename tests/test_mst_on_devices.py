"""Minimum spanning forests on several devices: the very forests of one."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DEVICES, ROOT, session_on
from graphs import GRAPHS

import clgraph as cg
from clgraph.engine import split_graph
from clgraph.errors import DeviceError, InputError, NoDeviceError, UnsupportedStrategyError
from clgraph.runtime.session import Session

WEIGHTS = ["int32", "int64", "float32", "float64", None]


@pytest.fixture(scope="module")
def pair() -> list[Session]:
    """The first two devices of the tests, or the only one and a CPU."""
    first, second = session_on(DEVICES[0]), session_on([*DEVICES, "cpu"][1])
    if first.device == second.device:
        pytest.skip("there is one device")
    return [first, second]


@pytest.fixture
def uneven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut at any entry, also of a small graph, in the middle of rows."""
    monkeypatch.setattr(split_graph, "_ALIGNMENT", 1)


def weighted(graph: cg.Graph, kind: str | None, seed: int = 0) -> cg.Graph:
    """Return the graph with weights, of which many are the same."""
    if kind is None:
        return graph
    src, dst = graph.sources(), graph.column_indices
    keep = src < dst if not graph.directed else np.ones(src.size, bool)
    weights = np.random.default_rng(seed).integers(-9, 9, np.count_nonzero(keep))
    scale = 2**40 if kind in ("int64", "float64") else 1
    return cg.Graph.from_edges(
        src[keep], dst[keep], (weights * scale).astype(kind), n=graph.n_vertices, directed=graph.directed
    )


def check(graph: object, found: cg.SpanningForest, expected: cg.SpanningForest) -> None:
    np.testing.assert_array_equal(found.edges, expected.edges)
    assert found.weight == expected.weight


@pytest.mark.usefixtures("uneven")
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_zoo(pair: list[Session], name: str, kind: str | None) -> None:
    graph = weighted(GRAPHS[name](), kind)
    for maximum in (False, True):
        expected = cg.minimum_spanning_forest(graph, maximum=maximum, strategy="host")
        for given in ({}, {"segment_entries": max(1, graph.n_edges // 5)}):
            found = cg.minimum_spanning_forest(
                graph, devices=pair, maximum=maximum, shares="equal", verify=True, **given
            )
            check(graph, found, expected)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_a_split_graph_stays_as_it_is(pair: list[Session], kind: str | None) -> None:
    graph = weighted(cg.generators.uniform_random(3000, 12_000), kind)
    split = cg.SplitGraph.from_graph(graph, pair, shares="equal")
    expected = cg.minimum_spanning_forest(graph, strategy="host")
    found = [cg.minimum_spanning_forest(split) for _ in range(2)]
    for forest in found:
        check(graph, forest, expected)
    sent = [forest.info.details["merge_bytes"] for forest in found]
    assert 0 < sent[0] == sent[1] <= 16 * graph.n_vertices


def test_light_edges_come_first_in_dense_graphs(pair: list[Session]) -> None:
    graph = weighted(cg.generators.rmat(11, 40), "float32")
    expected = cg.minimum_spanning_forest(graph, strategy="host")
    check(graph, cg.minimum_spanning_forest(graph, devices=pair, shares="equal"), expected)


def test_other_graphs_than_ours(pair: list[Session]) -> None:
    graph = weighted(cg.generators.uniform_random(900, 1700), "int32")
    expected = cg.minimum_spanning_forest(graph, strategy="host")
    arrays = graph.edge_weights.astype(np.float64), graph.column_indices, graph.row_offsets
    found = cg.minimum_spanning_forest(sp.csr_array(arrays, shape=(900, 900)), devices=pair)
    assert found.weight == cg.minimum_spanning_forest(sp.csr_array(arrays, shape=(900, 900)), strategy="host").weight
    on_device = cg.DeviceGraph.from_graph(graph, pair[0])
    check(graph, cg.minimum_spanning_forest(on_device, devices=pair), expected)


SMALL = """
import numpy as np, clgraph as cg
from clgraph.engine import split_graph
from clgraph.hetero import sub_devices
devices = sub_devices("pocl", [1] * 8)
for graph in (cg.generators.path(300), cg.generators.star(300), cg.Graph.from_edges([0], [1], [3]),
              cg.Graph.from_edges([0, 1], [1, 2], [5, 4], n=4), cg.Graph.from_edges([], [], n=5),
              cg.generators.two_cliques(40, bridge=True)):
    expected = cg.minimum_spanning_forest(graph, strategy="host")
    for split_graph._ALIGNMENT in (64, 1):
        found = cg.minimum_spanning_forest(graph, devices=devices, verify=True)
        assert found.edges.tolist() == expected.edges.tolist() and found.weight == expected.weight
        print(found.edges.size, found.info.details["merge_rounds"])
"""


def test_small_graphs_on_eight_devices() -> None:
    """There are more devices than edges, and parts whose edges are all known at the other end."""
    session_on("pocl")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "POCL_MAX_PTHREAD_COUNT": "8"}
    ran = subprocess.run(
        [sys.executable, "-c", SMALL], env=environment, capture_output=True, text=True, timeout=800, check=False
    )
    assert ran.returncode == 0, ran.stderr
    rows = [tuple(map(int, line.split())) for line in ran.stdout.splitlines()]
    assert rows == [(299, 3)] * 4 + [(1, 0), (1, 1), (2, 0), (2, 2), (0, 0), (0, 0), (79, 3), (79, 3)]


def test_a_device_that_fails_is_named(pair: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    def program(*_given: object, **_more: object) -> None:
        raise DeviceError("it is gone")

    monkeypatch.setattr(pair[1], "program", program)
    with pytest.raises(DeviceError, match=r"devices\[1\], .*: it is gone"):
        cg.minimum_spanning_forest(cg.generators.grid(30, 30), devices=pair)


def test_what_is_refused(pair: list[Session]) -> None:
    graph = cg.generators.path(5)
    directed = cg.SplitGraph.from_graph(cg.Graph.from_edges([0, 1], [1, 2], directed=True), pair)
    born = cg.SplitGraph([[cg.generators.path(5, session=pair[0]).on_device]])
    for wrong, message in [
        ({"devices": []}, "no device is given"),
        ({"devices": [pair[0], pair[0]]}, r"devices\[0\] and devices\[1\]"),
        ({"devices": pair, "session": pair[0]}, "several devices"),
        ({"devices": pair, "strategy": "segmented"}, "on several devices"),
        ({"devices": pair, "light_edges": 2}, "no option light_edges"),
        ({"devices": pair, "verify": 3}, "verify"),
        ({"graph": directed}, "directed"),
        ({"graph": born}, "name no whole one"),
    ]:
        with pytest.raises((InputError, NoDeviceError), match=message):
            cg.minimum_spanning_forest(**{"graph": graph, **wrong})
    with pytest.raises(UnsupportedStrategyError):
        cg.minimum_spanning_forest(graph, devices=pair, strategy="none")
