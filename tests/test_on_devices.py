"""Several devices: components, spanning forests and factors as of one device; threads, copies and merges of teams."""

import dataclasses
import math
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
import scipy.sparse as sp
from conftest import printed_by, session_on
from graphs import GRAPHS
from scipy.sparse import random_array

import clgraph as cg
from clgraph import Ratings, SGDMatrixFactorization
from clgraph.algorithms.connected_components.on_devices import LOCAL, all_seen
from clgraph.algorithms.factorization import factors
from clgraph.algorithms.factorization.factors import Factors, RowLayout
from clgraph.algorithms.factorization.training.epochs import Epoch
from clgraph.algorithms.factorization.training.strata import Strata, cut
from clgraph.algorithms.factorization.training.team_training import TeamFactorization
from clgraph.errors import DeviceError, DeviceMemoryError, InputError, NoDeviceError, UnsupportedStrategyError
from clgraph.multi_device import split_graph, team
from clgraph.multi_device.split_graph import SplitGraph, in_segments
from clgraph.multi_device.team import _PIECE_BYTES, Team
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
def test_components_of_the_zoo(pair: list[Session], name: str, strategy: str) -> None:
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
def test_forests_of_the_zoo(pair: list[Session], name: str, kind: str | None) -> None:
    graph = weighted(GRAPHS[name](), kind)
    for given in ({}, {"maximum": True}):
        expected = cg.minimum_spanning_forest(graph, strategy="host", **given)
        for segments in ({}, {"segment_entries": max(1, graph.n_edges // 5)}):
            options = {"shares": "equal", "verify": True, **given, **segments}
            same(cg.minimum_spanning_forest(graph, devices=pair, **options), expected)


@pytest.mark.usefixtures("uneven")
def test_giants_that_meet_in_an_edge_of_both_parts(pair: list[Session]) -> None:
    """Each clique is the giant of a part; both parts pass over the edge (40, 100), which is the first of no row."""
    src, dst = np.triu_indices(63, 1)
    edges = np.concatenate([np.stack([src, dst]) + 1, np.stack([src, dst]) + 64, [[0, 40], [100, 100]]], axis=1)
    graph = cg.Graph.from_edges(*edges)
    found = cg.connected_components(graph, devices=pair, strategy="afforest", strides=(), shares="equal", verify=True)
    assert found.n_components == 1
    assert found.info.details["giants_differed"]
    assert found.info.strategy == "rem"


def test_giants_of_one_component_are_enough(pair: list[Session]) -> None:
    graph = cg.generators.rmat(12, 16)
    found = cg.connected_components(graph, devices=pair, strategy="afforest", shares="equal", verify=True)
    assert "giants_differed" not in found.info.details
    assert found.info.strategy == "afforest"


def test_when_no_edge_was_missed() -> None:
    numbers = np.array([0, 0, 1, 1], np.int32)
    for skips in ([], [None, None], [0, 1]):
        assert all_seen(skips, numbers)
    assert not all_seen([0, 2], numbers)
    assert not all_seen([0, None], numbers)  # which leaves half of its edges to the other part


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
def test_other_graphs_than_ours(pair: list[Session], function: Any) -> None:
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


def test_parts_that_were_made_on_their_devices(pair: list[Session]) -> None:
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
def test_small_graphs_on_eight_devices(script: str, expected: list[tuple[int, ...]]) -> None:
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
def test_parts_of_a_cpu_passed_off_as_gpus_of_a_driver_for_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then slabs are copied beside kernels into rooms that are used again, through pinned memory, under one lock."""
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
    slots = split_graph.Slots(team.Team([pocl]), pocl, cg.generators.cycle(500), 64)
    for first in (0, 64):
        slots.slab(first, first + 64)
        slots.used()
    for event in slots._used:
        assert event is not None
        event.wait()
    slots._used[0] = running = cl.UserEvent(pocl.context)
    waits = threading.Thread(target=slots.slab, args=(128, 192))
    waits.start()
    waits.join(0.2)
    assert waits.is_alive()
    running.set_status(cl.command_execution_status.COMPLETE)
    waits.join(300)
    assert not waits.is_alive()


def test_segments() -> None:
    assert in_segments(0, 0, 5) == []
    assert in_segments(3, 13, 5) == [(3, 8), (8, 13)]
    assert in_segments(3, 14, 5) == [(3, 8), (8, 13), (13, 14)]


def refused(function: Any, cases: list[tuple[dict[str, Any], str]]) -> None:
    for wrong, message in cases:
        with pytest.raises((InputError, NoDeviceError), match=message):
            function(**{"graph": cg.generators.path(5), **wrong})


@both
def test_arguments_that_both_refuse(pair: list[Session], function: Any) -> None:
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


def test_arguments_that_one_refuses(pair: list[Session]) -> None:
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


def test_parts_that_fit_no_split_graph(pair: list[Session]) -> None:
    part = SplitGraph.from_graph(cg.generators.path(5), pair)._slabs[1][0].graph
    for parts, message in [
        (3, "parts = 3"), ([], "one graph at least"), ([[part], []], "one graph at least"), ([[part, 4]], "4"),
        ([[part], [part]], "name a device once"),
        ([[part, cg.generators.path(5, session=pair[0]).on_device]], "has graphs on"),
        ([[part, cg.generators.path(6, session=pair[1]).on_device]], "n_vertices"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=message):
            SplitGraph(parts)


# ---- teams


@pytest.fixture(scope="module")
def halves(pair: list[Session]) -> list[Session]:
    """The devices of the tests in one context if they have one platform, else two parts of one CPU."""
    parts = [session.device for session in pair]
    if parts[0].platform != parts[1].platform:
        parts = [session.device for session in sub_devices(session_on("pocl").device, [1, 1])]
    context = cl.Context(parts)
    return [Session(cl.CommandQueue(context, part)) for part in parts]


@pytest.mark.parametrize("size", [0, 1, 1000, _PIECE_BYTES // 4 + 17, 3 * _PIECE_BYTES // 4])
def test_an_array_goes_to_another_device(pair: list[Session], size: int) -> None:
    team = Team(pair)
    for own, to in (team.sessions, team.sessions[::-1]):
        array = own.upload(np.arange(size, dtype=np.int32))
        copy = team.send(array, to)
        assert copy.memory is to.memory
        np.testing.assert_array_equal(copy.get(), np.arange(size))
    assert team.sent_bytes == 2 * 4 * size


@pytest.mark.parametrize("over_the_host", [False, True])
def test_an_array_goes_to_a_device_of_the_same_context(
    halves: list[Session], monkeypatch: pytest.MonkeyPatch, over_the_host: bool
) -> None:
    monkeypatch.setattr("clgraph.multi_device.team.copies_faster_over_the_host", lambda _device: over_the_host)
    team = Team(halves)
    array = halves[0].zeros(100_000, np.int32)
    array.fill(7)
    array.fill(5, 10, 20)
    found = team.send(array, halves[1]).get()
    assert found[10:20].tolist() == [5] * 10
    assert (found[20:] == 7).all()


def test_each_device_has_a_thread_and_results_are_in_order(pair: list[Session]) -> None:
    team, meeting = Team(pair), threading.Barrier(2)

    def work(place: int) -> int:
        meeting.wait(300)  # each needs the other
        return 10 * place

    assert team.each(work) == [0, 10]
    assert team.each(lambda place: place, [1]) == [1]
    assert team.each(lambda place: place, []) == []


def test_a_copy_that_fails_ends(pair: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    """More pieces are left than there is room for on the host."""

    def write(*_given: object) -> None:
        raise DeviceError("it is full")

    team = Team(pair)
    monkeypatch.setattr(team, "write", write)
    array = pair[0].zeros(6 * _PIECE_BYTES // 4, np.int32)
    with pytest.raises(DeviceError, match="it is full"):
        team.send(array, pair[1])


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (DeviceError("it is broken"), DeviceError, ": it is broken"),
        (DeviceMemoryError("it is full"), DeviceMemoryError, ": it is full"),
        (cl.LogicError("clEnqueueNDRangeKernel", cl.status_code.INVALID_KERNEL_ARGS, ""), DeviceError, ""),
    ],
)
def test_a_device_whose_thread_fails_is_named(
    pair: list[Session], raised: Exception, kind: type[DeviceError], message: str
) -> None:
    ended: list[int] = []

    def work(place: int) -> None:
        if place == 1:
            raise raised
        ended.append(place)

    with pytest.raises(kind, match=rf"devices\[1\], .*{message}"):
        Team(pair).each(work)
    assert ended == [0]


def _placed(*places: tuple[int, int]) -> Team:
    """Return a team of devices that are not there, each of a platform and a context."""
    team = object.__new__(Team)
    team.sessions = tuple(
        SimpleNamespace(
            device=SimpleNamespace(platform=SimpleNamespace(int_ptr=platform)), context=SimpleNamespace(int_ptr=context)
        )
        for platform, context in places
    )  # type: ignore[assignment]
    return team


@pytest.mark.parametrize("n", range(1, 10))
def test_every_device_gives_once_but_the_last(n: int) -> None:
    rounds = _placed(*[(0, 0)] * n).merge_rounds()
    assert len(rounds) == (n - 1).bit_length()
    merged = {place: {place} for place in range(n)}
    for pairs in rounds:
        assert len({place for pair in pairs for place in pair}) == 2 * len(pairs)
        for taker, giver in pairs:
            merged[taker] |= merged.pop(giver)
    assert [*merged.values()] == [{*range(n)}]


def test_devices_of_one_context_merge_first_and_then_those_of_one_platform() -> None:
    team = _placed((1, 10), (2, 20), (1, 11), (1, 10), (2, 20))
    assert team.merge_rounds() == [[(0, 3), (1, 4)], [(0, 2)], [(0, 1)]]
    assert team.merge_rounds([2, 4]) == [[(2, 4)]]


def test_what_is_refused(pair: list[Session]) -> None:
    with pytest.raises(NoDeviceError, match="no device is given"):
        Team([])
    with pytest.raises(InputError, match=r"devices\[0\] and devices\[1\]"):
        Team([pair[0], pair[0].device])
    with pytest.raises(InputError, match="devices = 'pocl'"):
        Team("pocl")


# ---- factorisation


OPTIONS: dict[str, Any] = {
    "strategy": "auto",
    "options": None,
    "deterministic": True,
    "n_epochs": 1,
    "storage": "float32",
    "mean": None,
}


@pytest.fixture(scope="module")
def devices() -> list[Any]:
    """Two runtimes whose rows of factors may be padded differently."""
    return [session_on("pocl"), session_on("intel")]


def planted(n_users: int = 300, n_items: int = 200, density: float = 0.2, seed: int = 0) -> Ratings:
    rng = np.random.default_rng(seed)
    pattern = random_array((n_users, n_items), density=density, rng=rng).tocsr()
    pattern.sort_indices()
    users = np.repeat(np.arange(n_users), np.diff(pattern.indptr))
    left, right = rng.normal(size=(n_users, 3)), rng.normal(size=(n_items, 3))
    values = 3 + (left[users] * right[pattern.indices]).sum(1) + 0.1 * rng.normal(size=users.size)
    return Ratings(users, pattern.indices, values.astype(np.float32), n_users, n_items)


def test_blocks_have_each_rating_once_and_about_as_many() -> None:
    ratings = planted()
    strata = Strata(ratings, 3)
    seen = np.zeros(ratings.shape)
    for d, row in enumerate(strata.blocks):
        for q, block in enumerate(row):
            users, items = strata.users.members[d][block.users], strata.items.members[q][block.items]
            seen[users, items] += block.values
            assert abs(block.n_ratings / ratings.n_ratings - 1 / 9) < 0.02
    assert np.array_equal(seen, ratings.to_scipy().toarray())


@pytest.mark.parametrize("n_blocks", [1, 2, 5])
def test_a_cut_deals_by_ratings(n_blocks: int) -> None:
    counts = np.array([9, 1, 1, 1, 8, 1, 5, 0])
    found = cut(counts, n_blocks)
    assert sorted(np.concatenate(found.members).tolist()) == list(range(8)) and all(m.size for m in found.members)
    for block, members in enumerate(found.members):
        assert (found.block[members] == block).all() and found.place[members].tolist() == [*range(members.size)]
    if n_blocks == 2:
        assert abs(int(counts[found.members[0]].sum()) - int(counts[found.members[1]].sum())) <= 4


def test_factors_are_cut_and_joined() -> None:
    strata = Strata(planted(7, 5, 0.9), 3)
    rng = np.random.default_rng(0)
    whole = Factors(*(rng.random(shape, np.float32) for shape in ((7, 2), (5, 2), 7, 5)))
    joined = strata.whole([strata.part(whole, d, d) for d in range(3)])
    assert all(np.array_equal(a, b) for a, b in zip(whole, joined, strict=True))
    assert strata.whole([strata.part(Factors(*whole[:2]), d, d) for d in range(3)]).user_biases is None


@pytest.mark.parametrize("strategy", ["block_grid", "edge_locked", "matching_edge"])
def test_no_step_is_lost(devices: list[Any], strategy: str) -> None:
    ratings = planted()
    engine = TeamFactorization(devices, ratings, rank=4, biases=True, **{**OPTIONS, "strategy": strategy, "mean": 0.0})
    zeros = Factors(*(np.zeros(shape, np.float32) for shape in ((300, 4), (200, 4), 300, 200)))
    engine.model.set(zeros)
    rate = 1e-6
    engine.epoch(rate, 0.0, None)
    found, matrix = engine.model.get(), ratings.to_scipy()
    for biases, axis in ((found.user_biases, 1), (found.item_biases, 0)):
        wanted = np.asarray(matrix.sum(axis=axis)).ravel()
        assert np.allclose(biases / rate, wanted, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("layouts", ["equal", "unequal"])
@pytest.mark.parametrize("storage", ["float32", "float16"])
@pytest.mark.parametrize("biases", [False, True])
def test_errors_are_those_of_the_model(
    devices: list[Any], monkeypatch: pytest.MonkeyPatch, biases: bool, storage: Any, layouts: str
) -> None:
    if layouts == "unequal":  # as of a GPU and a CPU
        wide = {devices[0].facts.platform: RowLayout(5, 8, 1, 1)}
        monkeypatch.setattr(factors, "row_layout", lambda _rank, facts: wide.get(facts.platform, RowLayout(5, 4, 3, 1)))
    ratings, others = planted(rank_seed := 60, 50, 0.3, 1), planted(rank_seed, 50, 0.1, 2)
    engine = TeamFactorization(devices, ratings, rank=5, biases=biases, **{**OPTIONS, "storage": storage})
    rng = np.random.default_rng(3)
    shapes = ((60, 5), (50, 5), 60, 50)[: 4 if biases else 2]
    engine.model.set(Factors(*(rng.normal(size=shape).astype(np.float32) for shape in shapes)))
    epoch: Epoch = engine.epoch(0.0, 0.0, engine.errors_on(others))
    model = engine.model.get()

    def rmse(given: Ratings) -> float:
        predicted = engine.model.mean + (model.user_factors[given.users] * model.item_factors[given.items]).sum(1)
        if model.user_biases is not None and model.item_biases is not None:
            predicted = predicted + model.user_biases[given.users] + model.item_biases[given.items]
        return math.sqrt(float(((predicted - given.values) ** 2).mean()))

    assert epoch.loss == pytest.approx(rmse(ratings), rel=1e-3)
    assert epoch.eval_loss == pytest.approx(rmse(others), rel=1e-3)


def test_the_error_is_that_of_one_device(devices: list[Any]) -> None:
    train, test = planted().split(0.1, seed=0)
    options: dict[str, Any] = {"n_factors": 4, "n_epochs": 12, "learning_rate": 0.03, "random_state": 0, "biases": True}
    one = SGDMatrixFactorization(session=session_on("pocl"), **options).fit(train, eval_set=test)
    several = SGDMatrixFactorization(devices=devices, **options).fit(train, eval_set=test)
    assert one.loss_curve_[-1] < 0.75 * one.loss_curve_[0]
    assert several.loss_curve_[-1] == pytest.approx(one.loss_curve_[-1], rel=0.05)
    assert several.eval_curve_[-1] == pytest.approx(one.eval_curve_[-1], rel=0.05)
    assert several.score(test) == pytest.approx(one.score(test), abs=0.05)
    assert several.info_.device.count(";") == 1
    again = SGDMatrixFactorization(devices=devices, **options).fit(train)
    assert np.array_equal(again.user_factors_, several.user_factors_)  # offline strategies are the same in every run
    several.partial_fit(train, n_epochs=2)
    assert several.n_iter_ == 14 and several.loss_curve_[-1] < several.loss_curve_[11]


def test_parts_of_a_cpu_and_more_devices_than_items() -> None:
    parts = sub_devices("pocl", [1, 1])
    ratings = Ratings([0, 1, 2], [0, 0, 0], np.float32([1, 2, 3]), 3, 1)
    fitted = SGDMatrixFactorization(2, devices=parts, n_epochs=2, random_state=0).fit(ratings)
    assert len(fitted.loss_curve_) == 2 and ";" not in fitted.info_.device
    sparse = Ratings([0, 3], [0, 1], np.float32([1, 2]), 4, 2)  # blocks without ratings
    fitted = SGDMatrixFactorization(2, devices=parts, n_epochs=2, random_state=0).fit(sparse)
    assert fitted.user_factors_.shape == (4, 2) and np.isfinite(fitted.loss_curve_).all()


def test_an_interrupt_keeps_the_last_whole_epoch(devices: list[Any]) -> None:
    ratings, kept = planted(60, 50), []

    def interrupt(number: int, _epoch: Epoch) -> None:
        if number == 3:
            raise KeyboardInterrupt

    model = SGDMatrixFactorization(3, devices=devices, n_epochs=5, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(ratings, callback=interrupt)
    kept.append(model.user_factors_)
    whole = SGDMatrixFactorization(3, devices=devices, n_epochs=3, random_state=0).fit(ratings)
    assert model.n_iter_ == 3 and np.array_equal(kept[0], whole.user_factors_)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"devices": []}, NoDeviceError, "no device"),
        ({"devices": ["pocl", "pocl"]}, InputError, r"devices\[0\] and devices\[1\] are both"),
        ({"devices": ["pocl"], "session": "pocl"}, InputError, "session= and devices= are both given"),
        ({"devices": "pocl"}, InputError, "devices = 'pocl'"),
    ],
)
def test_bad_devices(options: dict[str, Any], error: type[Exception], message: str) -> None:
    session_on("pocl")
    with pytest.raises(error, match=message):
        SGDMatrixFactorization(2, **options).fit(planted(20, 20))
