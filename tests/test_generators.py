"""Graphs that generators make: their laws, and the same bits on the host and on every device."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest
from conftest import memory_below
from graphs import GRAPHS, same

from clgraph import DeviceGraph, Graph, generators
from clgraph.data.graphs.philox import below, key_of, random_shorts, random_words
from clgraph.data.graphs.searches import diameter_bound
from clgraph.errors import DeviceMemoryError, HostMemoryError, InputError
from clgraph.generators.device import launch
from clgraph.generators.random_edges import RMat
from clgraph.reference.connected_components import connected_components
from clgraph.runtime.graphs.device_graph import GraphOnDevice
from clgraph.runtime.session import Session

SEEDED: dict[str, Callable[[int], Graph]] = {
    "rmat": lambda seed: generators.rmat(9, 8, seed=seed),
    "uniform_random": lambda seed: generators.uniform_random(500, 900, seed=seed),
    "road_like": lambda seed: generators.road_like(900, seed=seed),
    "random_geometric": lambda seed: generators.random_geometric(400, seed=seed),
    "delaunay_points": lambda seed: generators.delaunay_points(300, seed=seed),
    "random_weights": lambda seed: generators.random_weights(generators.grid(9, 9), seed=seed),
}


def check_simple(graph: Graph) -> None:
    """Check that the graph is valid, undirected, and without self-loops and repeats."""
    Graph(graph.row_offsets, graph.column_indices)
    rows = graph.sources()
    assert not graph.directed and graph.has_sorted_rows
    assert (rows != graph.column_indices).all()
    assert np.unique(rows * np.int64(graph.n_vertices) + graph.column_indices).size == graph.n_edges


def n_components(graph: Graph) -> int:
    return int(np.unique(connected_components(graph)).size)


@pytest.mark.parametrize("name", SEEDED)
def test_one_seed_gives_one_graph(name: str) -> None:
    assert same(SEEDED[name](3), SEEDED[name](3))
    assert not same(SEEDED[name](3), SEEDED[name](4))


@pytest.mark.parametrize("seed", range(3))
def test_rmat_follows_its_probabilities(seed: int) -> None:
    graph = generators.rmat(12, 16, seed=seed, permute=False)
    check_simple(graph)
    assert graph.n_vertices == 4096 and 0.7 * 2 * 65536 < graph.n_edges < 2 * 65536
    # Ids with a leading one are ends with probability (b + d) / 2 + (c + d) / 2 = 0.24, before repeats go.
    assert 0.20 < (graph.sources() >= 2048).mean() < 0.36
    uniform = generators.rmat(12, 16, a=0.25, b=0.25, c=0.25, seed=seed, permute=False)
    assert abs((uniform.sources() >= 2048).mean() - 0.5) < 0.01
    assert uniform.stats.max_degree < 80 < 300 < graph.stats.max_degree
    permuted = generators.rmat(12, 16, seed=seed)
    assert sorted(permuted.degrees) == sorted(graph.degrees)
    assert abs((permuted.sources() >= 2048).mean() - 0.5) < 0.1


def test_draws_continue_over_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, uniform = generators.rmat(10, 8), generators.uniform_random(500, 5001)
    monkeypatch.setattr("clgraph.data.graphs.philox.CHUNK", 1024)
    graph = generators.rmat(10, 8)
    assert same(graph, whole) and same(generators.uniform_random(500, 5001), uniform)
    check_simple(graph)
    assert graph.n_edges > 10_000


def test_uniform_random_has_almost_all_edges() -> None:
    graph = generators.uniform_random(10_000, 30_000, seed=1)
    check_simple(graph)
    assert 59_800 < graph.n_edges <= 60_000
    assert generators.uniform_random(5, 0).n_vertices == 5
    assert generators.uniform_random(0, 0).n_vertices == 0


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (3, 0), (1, 1), (1, 6), (6, 1), (2, 2), (7, 11)])
def test_a_grid_is_that_of_networkx(shape: tuple[int, int]) -> None:
    graph = generators.grid(*shape)
    expected = nx.grid_2d_graph(*shape)
    number = {(r, c): r * shape[1] + c for r, c in expected}
    assert nx.utils.graphs_equal(graph.to_networkx(), nx.relabel_nodes(expected, number))
    assert graph.has_sorted_rows and Graph(graph.row_offsets, graph.column_indices).has_sorted_rows


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 7, 8, 9, 10, 63, 64, 65, 1000])
def test_road_like_is_connected_and_sparse(n: int) -> None:
    graph = generators.road_like(n, seed=n)
    check_simple(graph)
    assert graph.n_vertices == n and n_components(graph) == min(n, 1)
    assert n < 60 or 2.2 < graph.stats.mean_degree < 2.6


def test_road_like_is_long_and_local() -> None:
    graph = generators.road_like(40_000, seed=1)
    assert graph.stats.mean_degree == pytest.approx(2.4, abs=0.02)
    assert graph.stats.max_degree <= 4
    assert diameter_bound(graph) > 300
    assert graph.stats.mean_log2_neighbor_distance < 5


@pytest.mark.parametrize("ids", ["spatial", "random"])
def test_random_geometric_joins_what_is_near(ids: Any) -> None:
    graph = generators.random_geometric(5000, degree=14, seed=2, ids=ids)
    check_simple(graph)
    assert 12 < graph.stats.mean_degree < 14  # less than 14 at the border
    assert (graph.stats.mean_log2_neighbor_distance < 6) == (ids == "spatial")
    for n in (0, 1, 2):
        assert generators.random_geometric(n, ids=ids).n_vertices == n


@pytest.mark.parametrize("ids", ["spatial", "random"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 200])
def test_delaunay_is_a_connected_plane_triangulation(n: int, ids: Any) -> None:
    graph = generators.delaunay_points(n, seed=5, ids=ids)
    check_simple(graph)
    assert graph.n_vertices == n and n_components(graph) == min(n, 1)
    if n >= 3:
        planar, _ = nx.check_planarity(graph.to_networkx())
        assert planar and 2 * n - 3 <= graph.n_edges // 2 <= 3 * n - 6 + (n == 3)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10])
def test_small_families_match_networkx(n: int) -> None:
    def equal(graph: Graph, expected: nx.Graph) -> bool:
        return bool(nx.utils.graphs_equal(graph.to_networkx(), expected))

    assert equal(generators.path(n), nx.path_graph(n))
    assert equal(generators.star(n), nx.star_graph(n - 1) if n else nx.empty_graph(0))
    assert n < 3 or equal(generators.cycle(n), nx.cycle_graph(n))
    assert equal(generators.tree(n, arity=3), nx.full_rary_tree(3, n) if n else nx.empty_graph(0))
    cliques = nx.disjoint_union(nx.complete_graph(n), nx.complete_graph(n))
    assert equal(generators.two_cliques(n), cliques)
    if n:
        cliques.add_edge(n - 1, n)
    assert equal(generators.two_cliques(n, bridge=True), cliques)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_random_weights_are_symmetric_and_spread(dtype: Any) -> None:
    graph = generators.random_weights(generators.rmat(10, 8), seed=2, low=-5, high=20, dtype=dtype)
    weights = graph.edge_weights
    assert weights is not None and weights.dtype == dtype
    Graph(graph.row_offsets, graph.column_indices, weights)
    assert weights.min() >= -5 and weights.max() < 20
    assert weights.mean() == pytest.approx(7 if np.dtype(dtype).kind == "i" else 7.5, abs=0.4)
    assert np.unique(np.floor(weights)).size == 25


def test_random_weights_do_not_depend_on_the_blocks_that_are_drawn_together() -> None:
    leaves = 1 << 19  # the row of the hub is several blocks long
    graph = generators.random_weights(generators.star(leaves + 1), high=2**20)
    assert graph.edge_weights is not None
    np.testing.assert_array_equal(graph.edge_weights[:leaves], graph.edge_weights[leaves:])


def test_random_weights_of_a_directed_graph_differ_by_direction() -> None:
    graph = generators.random_weights(Graph.from_edges([0, 1], [1, 0], directed=True), high=2**30)
    assert graph.directed and graph.edge_weights is not None
    assert graph.edge_weights[0] != graph.edge_weights[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: generators.rmat(31), "scale = 31; allowed: 0 to 30"),
        (lambda: generators.rmat(4, a=0.9), "probabilities"),
        (lambda: generators.rmat(4, -1), "edge_factor = -1; allowed: 0 to"),
        (lambda: generators.uniform_random(0, 3), "at least one vertex"),
        (lambda: generators.grid(2**16, 2**16), r"rows \* cols = 4294967296; allowed: 0 to 2147483647"),
        (lambda: generators.path(-1), "n = -1; allowed: 0 to 2147483647"),
        (lambda: generators.cycle(2), "n = 2"),
        (lambda: generators.tree(4, arity=0), "arity = 0"),
        (lambda: generators.delaunay_points(9, ids="hilbert"), "ids = 'hilbert'; allowed"),  # type: ignore[arg-type]
        (lambda: generators.random_weights(generators.path(3), low=4, high=4), "low must be below high"),
        (lambda: generators.random_weights(generators.path(3), high=2**40), "high = 1099511627776; allowed: .* to 2.1"),
        (lambda: generators.random_weights(generators.path(3), dtype="i1"), "dtype = 'i1'; allowed: int32, int64"),
        (lambda: generators.grid(-2, -3), "rows = -2; allowed: 0"),
    ],
)
def test_impossible_sizes_are_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: generators.uniform_random(3, 10**12), lambda: generators.rmat(30, 2**10),
        lambda: generators.two_cliques(2**29), lambda: generators.random_geometric(10**9, 1e9),
        lambda: generators.planted_ratings(2**31 - 1, 2**31 - 1, 10**15), lambda: generators.path(3).expanded(2**28),
        lambda: Graph.from_edges([0], [2**31 - 2]), lambda: Graph.from_edges(range(2**62), [0], ids="auto"),
        lambda: Graph.from_edges(range(2**62), [0]), lambda: generators.power_law_ratings(2**31 - 1, 9, 2**31),
    ],
)  # fmt: skip
def test_what_does_not_fit_into_memory_is_refused_before_it_is_made(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clgraph.host_memory.free_bytes", lambda: 1 << 30)
    with memory_below(1 << 20), pytest.raises(HostMemoryError, match=r"needs .* bytes; this machine has 1,073,741,824"):
        call()


# ---- random words


@pytest.mark.parametrize(
    ("counter", "key", "expected"),  # known answers of Random123 (kat_vectors)
    [
        ((0, 0, 0, 0), (0, 0), (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)),
        ((0xFFFFFFFFFFFFFFFF,) * 4, (0xFFFFFFFFFFFFFFFF,) * 2,
         (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0)),
        ((0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
         (0x452821E638D01377, 0xBE5466CF34E90C6C),
         (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6)),
    ],
)  # fmt: skip
def test_words_are_those_of_philox(counter: Any, key: Any, expected: Any) -> None:
    first_block = counter[0] | counter[2] << 128 | counter[3] << 192
    assert tuple(random_words(key, counter[1], first_block, 4).tolist()) == expected


def test_every_part_of_a_stream_can_be_drawn_alone() -> None:
    key = key_of(5 << 70)
    words = random_words(key, 3, 0, 4000)
    np.testing.assert_array_equal(random_words(key, 3, 500, 37), words[2000:2037])
    shorts = [int(words[1]) >> 16 * k & 65535 for k in (1, 2, 3)]
    np.testing.assert_array_equal(random_shorts(key, 3, 0, 99)[5:8], shorts)
    assert key_of(2**128 - 1) == (2**64 - 1, 2**64 - 1) and key_of(2**128) != key_of(0) != key_of(2**129)


@pytest.mark.parametrize("n", [1, 2, 10, 2**31 - 1, 2**32, 2**32 + 1, 2**54])
def test_numbers_below_a_limit_are_exact(n: int) -> None:
    words = np.append(random_words((1, 2), 0, 0, 200), np.array([0, 2**64 - 1, 2**32 - 1, 2**32], np.uint64))
    assert below(words, n).tolist() == [word * n >> 64 for word in words.tolist()]


# ---- what is drawn follows the laws that it should


def test_rmat_takes_each_quadrant_by_its_probability_at_every_level() -> None:
    a, b, c = 0.5, 0.3, 0.15
    u, v = RMat(10, 200, a, b, c, 5, False)._in_order(0, 204_800)
    for level in range(10):
        down, right = u >> level & 1, v >> level & 1
        counts = np.bincount(2 * down + right, minlength=4)
        expected = 204_800 * np.array([a, b, c, 1 - a - b - c])
        assert ((counts - expected) ** 2 / expected).sum() < 21.1  # chi-squared of 3 degrees of freedom, at 1 in 10,000
    same = (u >> 3 & 1) == (u >> 4 & 1)  # levels do not depend on each other
    assert same.mean() == pytest.approx((a + b) ** 2 + (1 - a - b) ** 2, abs=4 * 0.5 / 204_800**0.5)


@pytest.mark.parametrize("scale", range(14))
def test_rmat_renumbers_by_a_permutation(scale: int) -> None:
    drawn = RMat(scale, 1, 0.57, 0.19, 0.19, 7, True)
    renumbered = drawn._scrambled(np.arange(drawn.n, dtype=np.uint32))
    np.testing.assert_array_equal(np.sort(renumbered), np.arange(drawn.n))
    if scale > 9:
        steps = np.abs(np.diff(renumbered.astype(np.int64)))
        assert steps.mean() == pytest.approx(drawn.n / 3, rel=0.1)  # as of independent numbers


def test_degrees_have_the_moments_of_their_laws() -> None:
    uniform = generators.uniform_random(20_000, 150_000, seed=3).degrees
    assert uniform.mean() == pytest.approx(15, rel=0.001) and uniform.var() == pytest.approx(15, rel=0.05)  # Poisson
    near = generators.random_geometric(30_000, 14, seed=3).degrees
    assert near.mean() == pytest.approx(14, rel=0.03) and 14 < near.var() < 20  # Poisson inside, less at the border
    crossings = generators.road_like(40_000, seed=3)
    bends = 40_000 - round(40_000 / 1.5)
    width = round(round(40_000 / 1.5) ** 0.5)
    roads = crossings.n_edges // 2 - bends
    assert roads == pytest.approx(1.3 * (40_000 - bends) - 0.3 * 2 * width, abs=4 * (0.21 * 26_667) ** 0.5)


def test_sizes_may_be_unsigned_integers_of_numpy() -> None:
    """Numpy's unsigned integers wrap below 0."""
    assert generators.road_like(np.uint32(1)).n_vertices == 1


# ---- on devices


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
    session.commands.facts = replace(pocl.facts, is_cpu=False)
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
@pytest.mark.long
def test_a_graph_is_the_same_on_every_device(session: Session, name: str) -> None:
    assert_same(BORN[name](session=session), BORN[name]())


@pytest.mark.parametrize("name", ["rmat-9-7", "uniform-511-1000", "geometric-300-5-random", "road-1001", "grid-40x33"])
@pytest.mark.long
def test_work_groups_of_many_lanes_make_the_same(groups_of_lanes: Session, name: str) -> None:
    made, wanted = BORN[name](session=groups_of_lanes), BORN[name]()
    assert_same(made, wanted)
    assert_same(generators.random_weights(made).expanded(3), generators.random_weights(wanted).expanded(3))
    assert_same(made.expanded(0), wanted.expanded(0))


@pytest.mark.parametrize("name", ["grid-7x11", "tree-300-3", "cycle-301", "cliques-30-True", "road-1001"])
def test_graphs_of_more_entries_than_int32_counts(pocl: Session, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = generators.random_weights(BORN[name]()).expanded(2)
    with monkeypatch.context() as patch:
        for module in ("generators.device", "runtime.graphs.replicas"):
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
    monkeypatch.setattr("clgraph.runtime.memory.memory.available_bytes", lambda facts: 1 << 27)
    with pytest.raises(DeviceMemoryError, match=r"needs .* bytes"):
        make(pocl)


def test_bytes_of_replicas_are_told_to_the_byte(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = DeviceGraph.from_graph(generators.random_weights(generators.star(9), dtype=np.float64), pocl)
    monkeypatch.setattr("clgraph.runtime.memory.memory.available_bytes", lambda facts: 1 << 25)
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
