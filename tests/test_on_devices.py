"""Components and spanning forests on several devices: the answers of one device; traffic, parts and refusals."""

import dataclasses
import threading
import time
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
import scipy.sparse as sp
from conftest import printed_by, session_on
from graphs import GRAPHS

import clgraph as cg
from clgraph.algorithms.connected_components.on_devices import LOCAL, all_seen
from clgraph.errors import DeviceError, InputError, NoDeviceError, UnsupportedStrategyError
from clgraph.multi_device import slabs, split_graph, team
from clgraph.multi_device.split_graph import SplitGraph, in_segments
from clgraph.runtime.devices import sub_devices
from clgraph.runtime.graphs.device_graph import DeviceGraph
from clgraph.runtime.session import Session

WEIGHTS = ["int32", "int64", "float32", "float64", None]
both = pytest.mark.parametrize("function", [cg.connected_components, cg.minimum_spanning_forest])


@pytest.fixture
def uneven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut at any entry, also of a small graph, in the middle of rows."""
    monkeypatch.setattr(split_graph, "_ALIGNMENT", 1)


def weighted(graph: cg.Graph, kind: str | None) -> cg.Graph:
    """Return the graph with weights, of which many are the same."""
    if kind is None:
        return graph
    src, dst = graph.sources(), graph.column_indices
    keep = src < dst if not graph.directed else np.ones(src.size, bool)
    weights = np.random.default_rng(0).integers(-9, 9, np.count_nonzero(keep))
    scale = 2**40 if kind in ("int64", "float64") else 1
    return cg.Graph.from_edges(
        src[keep], dst[keep], (weights * scale).astype(kind), n=graph.n_vertices, directed=graph.directed
    )


def same(found: Any, expected: Any) -> None:
    """Compare the number and the labels of components, or the weight and the edges of forests."""
    assert found[0] == expected[0]
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.usefixtures("uneven")
@pytest.mark.parametrize("strategy", ["auto", *LOCAL])
@pytest.mark.parametrize("name", GRAPHS)
def test_components_of_small_graphs_are_those_of_one_device(pair: list[Session], name: str, strategy: str) -> None:
    graph = GRAPHS[name]()
    expected = cg.connected_components(graph, strategy="host", session=pair[0])
    for given in ({"shares": "equal"}, {"shares": "equal", "segment_entries": max(1, graph.n_edges // 5)}):
        same(cg.connected_components(graph, devices=pair, strategy=strategy, verify=True, **given), expected)
    split = SplitGraph.from_graph(graph, pair, shares="equal")
    for _ in range(2):  # the parts stay as they are
        same(cg.connected_components(split, strategy=strategy), expected)


@pytest.mark.usefixtures("uneven")
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_forests_of_small_graphs_are_those_of_one_device(pair: list[Session], name: str, kind: str | None) -> None:
    graph = weighted(GRAPHS[name](), kind)
    for given in ({}, {"maximum": True}):
        expected = cg.minimum_spanning_forest(graph, strategy="host", **given)
        for segments in ({}, {"segment_entries": max(1, graph.n_edges // 5)}):
            options = {"shares": "equal", "verify": True, **given, **segments}
            same(cg.minimum_spanning_forest(graph, devices=pair, **options), expected)


@pytest.mark.usefixtures("uneven")
def test_giants_that_meet_in_an_edge_of_both_parts_are_joined(pair: list[Session]) -> None:
    """Each clique is the giant of a part; both parts pass over the edge (40, 100), which is the first of no row."""
    src, dst = np.triu_indices(63, 1)
    edges = np.concatenate([np.stack([src, dst]) + 1, np.stack([src, dst]) + 64, [[0, 40], [100, 100]]], axis=1)
    graph = cg.Graph.from_edges(*edges)
    found = cg.connected_components(graph, devices=pair, strategy="afforest", strides=(), shares="equal", verify=True)
    assert found.n_components == 1
    assert found.info.details["giants_differed"]
    assert found.info.strategy == "afforest"


def test_all_parts_of_a_power_law_graph_skip_its_giant(pair: list[Session]) -> None:
    graph = cg.generators.rmat(16, 4)
    for _ in range(3):  # A device guesses its giant from a sample of labels that other work-items change.
        found = cg.connected_components(graph, devices=pair, strategy="afforest", shares="equal", verify=True)
        assert "giants_differed" not in found.info.details


def test_an_edge_is_missed_only_where_parts_skip_different_components() -> None:
    numbers = np.array([0, 0, 1, 1], np.int32)
    for skips in ([], [None, None], [0, 1]):
        assert all_seen(skips, numbers)
    assert not all_seen([0, 2], numbers)
    assert not all_seen([0, None], numbers)  # It leaves half of its edges to the other part.


@pytest.mark.parametrize("strategy", LOCAL)
@pytest.mark.parametrize("name", ["rmat", "uniform", "components of 8", "grid"])
def test_traffic_is_less_than_a_parent_a_vertex(pair: list[Session], name: str, strategy: str) -> None:
    graph, most = {
        "rmat": (cg.generators.rmat(14, 16), 0.25), "uniform": (cg.generators.uniform_random(5001, 30_000), 0.25),
        "components of 8": (cg.generators.uniform_random(5001, 4000), 1.0),
        "grid": (cg.generators.grid(120, 120), 0.25),
    }[name]  # fmt: skip
    details = cg.connected_components(graph, devices=pair, strategy=strategy, verify=True).info.details
    assert 0 < details["merge_bytes"] <= most * 4 * graph.n_vertices * (2 if "giants_differed" in details else 1)
    assert details["merge_rounds"] == 1
    assert sum(details["device_entries"]) == graph.n_edges


@pytest.mark.parametrize("kind", WEIGHTS)
def test_a_split_graph_stays_as_it_is(pair: list[Session], kind: str | None) -> None:
    graph = weighted(cg.generators.uniform_random(3000, 12_000), kind)
    split = cg.SplitGraph.from_graph(graph, pair, shares="equal")
    expected = cg.minimum_spanning_forest(graph, strategy="host")
    found = [cg.minimum_spanning_forest(split) for _ in range(2)]
    for forest in found:
        same(forest, expected)
    sent = [forest.info.details["merge_bytes"] for forest in found]
    assert 0 < sent[0] == sent[1] <= 16 * graph.n_vertices


def test_light_edges_come_first_in_dense_graphs(pair: list[Session]) -> None:
    graph = weighted(cg.generators.rmat(11, 40), "float32")
    expected = cg.minimum_spanning_forest(graph, strategy="host")
    same(cg.minimum_spanning_forest(graph, devices=pair, shares="equal"), expected)


def test_one_device_may_be_a_team(pair: list[Session]) -> None:
    found = cg.connected_components(cg.generators.grid(20, 20), devices=pair[:1], verify=True)
    assert found.info.details["merge_bytes"] == 0


@both
def test_matrices_and_device_graphs_are_split(pair: list[Session], function: Any) -> None:
    graph = weighted(cg.generators.uniform_random(900, 700), "int32")
    arrays = graph.edge_weights.astype(np.float64), graph.column_indices, graph.row_offsets
    for other in (sp.csr_array(arrays, shape=(900, 900)), DeviceGraph.from_graph(graph, pair[0])):
        given = graph if isinstance(other, DeviceGraph) else other
        same(function(other, devices=pair), function(given, strategy="host", session=pair[0]))


@pytest.mark.parametrize("graph", [cg.generators.grid(32, 32), cg.generators.rmat(8, seed=3)], ids=["grid", "rmat"])
def test_parts_have_the_entries_of_their_rows(pair: list[Session], uneven: None, graph: cg.Graph) -> None:
    split, first = SplitGraph.from_graph(graph, pair, shares="equal"), 0
    for place in range(2):
        for slab in split.slabs(place):
            offsets = slab.graph.row_offsets.get()
            stop = first + slab.graph.n_edges
            assert slab.first == first
            assert np.array_equal(offsets, np.clip(graph.row_offsets, first, stop) - first)
            assert np.array_equal(slab.graph.column_indices.get(), graph.column_indices[first:stop])
            first = stop
    assert first == graph.n_edges


def test_parts_may_be_made_on_their_devices(pair: list[Session]) -> None:
    """Edges may be split in any way: these parts are graphs of their own, with some edges in common."""
    parts = [cg.generators.uniform_random(3000, 1600, seed, session=session) for seed, session in enumerate(pair)]
    split = SplitGraph([[part.on_device] for part in parts])
    src = np.concatenate([part.sources() for part in parts])
    dst = np.concatenate([part.column_indices for part in parts])
    expected = cg.connected_components(cg.Graph.from_edges(src, dst, n=3000), strategy="host", session=pair[0])
    for strategy in LOCAL:
        same(cg.connected_components(split, strategy=strategy), expected)
    with pytest.raises(InputError, match="cannot be checked on the host"):
        cg.connected_components(split, verify=True)


SMALL = """
import networkx as nx, clgraph as cg
from clgraph.multi_device import split_graph
from clgraph.hetero import sub_devices
devices = sub_devices("pocl", [1] * 8)
path, star, five = cg.generators.path(300), cg.generators.star(300), cg.Graph.from_edges([], [], n=5)
"""


COMPONENTS = """
karate = cg.Graph.from_networkx(nx.karate_club_graph(), weight=None)
assert karate.n_edges == 2 * 78
graphs = [karate, path, star, cg.Graph.from_edges([0], [1]), cg.Graph.from_edges([0, 1], [1, 2], n=3), five]
for split_graph._ALIGNMENT in (64, 1):
    for graph in graphs:
        for strategy in ("rem", "hook_compress", "afforest"):
            found = cg.connected_components(graph, devices=devices, strategy=strategy, verify=True)
            details = found.info.details
            runs = 1 + details.get("giants_differed", False)
            assert details["merge_bytes"] <= runs * 4 * graph.n_vertices * 3, details
        print(found.n_components, sum(n > 0 for n in details["device_entries"]), details["merge_rounds"])
"""


FORESTS = """
for graph in (path, star, cg.Graph.from_edges([0], [1], [3]), cg.Graph.from_edges([0, 1], [1, 2], [5, 4], n=4), five,
              cg.generators.two_cliques(40, bridge=True)):
    expected = cg.minimum_spanning_forest(graph, strategy="host")
    for split_graph._ALIGNMENT in (64, 1):
        found = cg.minimum_spanning_forest(graph, devices=devices, verify=True)
        assert found.edges.tolist() == expected.edges.tolist() and found.weight == expected.weight
        print(found.edges.size, found.info.details["merge_rounds"])
"""


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (COMPONENTS, [(1, 3, 2), (1, 8, 3), (1, 8, 3), (1, 1, 0), (1, 1, 0), (5, 0, 0),
                      (1, 8, 3), (1, 8, 3), (1, 8, 3), (1, 2, 1), (1, 4, 2), (5, 0, 0)]),
        (FORESTS, [(299, 3)] * 4 + [(1, 0), (1, 1), (2, 0), (2, 2), (0, 0), (0, 0), (79, 3), (79, 3)]),
    ],
    ids=["components", "forests"],
)  # fmt: skip
def test_small_graphs_are_right_on_eight_devices(script: str, expected: list[tuple[int, ...]]) -> None:
    """Most parts of the karate club are empty, there are more devices than edges, and parts know the same edges."""
    session_on("pocl")
    printed = printed_by(SMALL + script, POCL_MAX_PTHREAD_COUNT="8")
    assert [tuple(map(int, line.split())) for line in printed.splitlines()] == expected


@both
def test_a_device_that_fails_is_named(pair: list[Session], monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    def program(*_given: object, **_more: object) -> None:
        raise DeviceError("it is gone")

    monkeypatch.setattr(pair[1], "program", program)
    with pytest.raises(DeviceError, match=r"devices\[1\], .*: it is gone"):
        function(cg.generators.grid(30, 30), devices=pair)


@pytest.mark.timeout(600)
def test_parts_of_a_cpu_passed_off_as_gpus_share_a_driver_for_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slabs are copied beside kernels into buffers that are used again, through pinned memory, under one lock."""
    monkeypatch.setattr(team, "LEAST_BYTES", 1 << 10)
    monkeypatch.setattr(team, "_PIECE_BYTES", 1 << 16)
    lock = threading.RLock()
    sessions = sub_devices(session_on("pocl").device, [1, 1])
    for session in sessions:
        session.commands.facts = dataclasses.replace(session.facts, is_cpu=False)
        session.commands.driver = lock
    graph = cg.generators.rmat(15, 8)
    expected = cg.connected_components(graph, strategy="host")
    for strategy in LOCAL:
        same(cg.connected_components(graph, devices=sessions, strategy=strategy, segment_entries=60_000), expected)
    src, dst = graph.sources(), graph.column_indices
    heavy = cg.Graph.from_edges(src[src < dst], dst[src < dst], (src * 7 + dst)[src < dst] % 99, n=graph.n_vertices)
    forest = cg.minimum_spanning_forest(heavy, devices=sessions, segment_entries=60_000)
    np.testing.assert_array_equal(forest.edges, cg.minimum_spanning_forest(heavy, strategy="host").edges)
    same(cg.connected_components(SplitGraph.from_graph(graph, sessions)), expected)


def test_a_room_is_written_once_what_used_it_has_ended(pocl: Session) -> None:
    slots = slabs.Slots(team.Team([pocl]), pocl, cg.generators.cycle(500), 64)
    for first in (0, 64):
        slots.slab(first, first + 64)
        slots.used()
    for event in slots._used:
        assert event is not None
        event.wait()
    slots._used[0] = running = cl.UserEvent(pocl.context)
    slots.slab(128, 192)
    after = cl.enqueue_marker(pocl.commands.copy_queue)
    pocl.commands.copy_queue.flush()
    time.sleep(0.2)
    assert after.command_execution_status > cl.command_execution_status.COMPLETE
    running.set_status(cl.command_execution_status.COMPLETE)
    after.wait()


def test_segments_split_a_range() -> None:
    assert in_segments(0, 0, 5) == []
    assert in_segments(3, 13, 5) == [(3, 8), (8, 13)]
    assert in_segments(3, 14, 5) == [(3, 8), (8, 13), (13, 14)]


def refused(function: Any, cases: list[tuple[dict[str, Any], str]]) -> None:
    for wrong, message in cases:
        with pytest.raises((InputError, NoDeviceError), match=message):
            function(**{"graph": cg.generators.path(5), **wrong})


@both
def test_wrong_arguments_are_refused_by_both_algorithms(pair: list[Session], function: Any) -> None:
    split = SplitGraph.from_graph(cg.generators.path(5), pair)
    refused(function, [
        ({"devices": []}, "no device is given"),
        ({"devices": [pair[0], pair[0]]}, r"devices\[0\] and devices\[1\]"),
        ({"devices": pair, "session": pair[0]}, "several devices"),
        ({"devices": pair, "strategy": "host"}, "on several devices"),
        ({"devices": pair, "shares": "all"}, "shares"),
        ({"devices": pair, "segment_entries": 0}, "segment_entries"),
        ({"devices": pair, "verify": 3}, "verify"),
        ({"graph": split, "devices": pair}, "stays on the devices"),
        ({"graph": split, "session": pair[0]}, "several devices"),
    ])  # fmt: skip
    with pytest.raises(UnsupportedStrategyError):
        function(cg.generators.path(5), devices=pair, strategy="none")


def test_wrong_arguments_are_refused_by_the_algorithm_that_has_them(pair: list[Session]) -> None:
    refused(
        cg.connected_components, [({"devices": pair, "strategy": "rem", "strides": 4}, "rem has no option strides")]
    )
    directed = cg.SplitGraph.from_graph(cg.Graph.from_edges([0, 1], [1, 2], directed=True), pair)
    refused(cg.minimum_spanning_forest, [
        ({"devices": pair, "strategy": "segmented"}, "on several devices"),
        ({"devices": pair, "light_edges": 2}, "no option light_edges"),
        ({"graph": directed}, "directed"),
        ({"graph": cg.SplitGraph([[cg.generators.path(5, session=pair[0]).on_device]])}, "name no whole one"),
    ])  # fmt: skip


def test_parts_that_fit_no_split_graph_are_refused(pair: list[Session]) -> None:
    part = SplitGraph.from_graph(cg.generators.path(5), pair)._slabs[1][0].graph
    for parts, message in [
        (3, "parts = 3"), ([], "one graph at least"), ([[part], []], "one graph at least"), ([[part, 4]], "4"),
        ([[part], [part]], "name a device once"),
        ([[part, cg.generators.path(5, session=pair[0]).on_device]], "has graphs on"),
        ([[part, cg.generators.path(6, session=pair[1]).on_device]], "n_vertices"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=message):
            SplitGraph(parts)
