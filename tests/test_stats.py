from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from conftest import memory_below
from graphs import GRAPHS, UNDIRECTED, hubs_and_leaves

from clgraph import generators
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.searches import diameter_bound
from clgraph.data.graphs.stats import graph_stats, guessed_stats, sampled_locality
from clgraph.data.graphs.wrapped import wrap_graph


@pytest.mark.parametrize("name", GRAPHS)
def test_stats_match_their_definitions(name: str) -> None:
    graph = GRAPHS[name]()
    stats = graph.stats
    n, m = graph.n_vertices, graph.n_edges
    degrees = np.bincount(graph.sources(), minlength=n)
    assert (stats.n_vertices, stats.n_edges, stats.directed, stats.weighted) == (n, m, graph.directed, False)
    assert stats.n_isolated == np.count_nonzero(degrees == 0)
    rows = [graph.column_indices[first:stop] for first, stop in pairwise(graph.row_offsets)]
    is_sorted = all((np.diff(row) >= 0).all() for row in rows)
    again = Graph(graph.row_offsets, graph.column_indices, directed=graph.directed)
    assert stats.has_sorted_rows == again.has_sorted_rows == is_sorted
    if n == 0:
        assert stats.degree_vertex_counts == stats.degree_edge_counts == ()
        return
    assert (stats.min_degree, stats.max_degree) == (degrees.min(), degrees.max())
    assert stats.mean_degree == pytest.approx(degrees.mean())
    assert stats.degree_std == pytest.approx(degrees.std())
    assert stats.degree_second_moment == pytest.approx((degrees.astype(float) ** 2).mean())
    assert sum(stats.degree_vertex_counts) == n and sum(stats.degree_edge_counts) == m
    for k, (vertices, edges) in enumerate(zip(stats.degree_vertex_counts, stats.degree_edge_counts, strict=True)):
        within = degrees == 0 if k == 0 else (degrees >= 2 ** (k - 1)) & (degrees < 2**k)
        assert vertices == np.count_nonzero(within) and edges == degrees[within].sum()


def test_high_degrees_take_no_table() -> None:
    """A table of all degrees up to the highest would take twice the memory of the edges."""
    n, m = 5000, 1 << 20
    graph = Graph([0, *range(m, m + n)], np.arange(m + n - 1, dtype=np.int32) % n, directed=True)
    with memory_below(4 << 20):
        stats = graph_stats(graph)
    assert (stats.min_degree, stats.max_degree) == (1, m)
    assert stats.degree_vertex_counts == (0, n - 1, *[0] * 19, 1)
    assert stats.degree_edge_counts == (0, n - 1, *[0] * 19, m)


def test_statistics_are_plain_numbers() -> None:
    """Prices are computed of them, for which numbers of numpy take several times as long."""
    graph = generators.rmat(10)
    arrays = graph.row_offsets, graph.column_indices
    numbers = *vars(graph.stats).values(), *graph.locality_in_order, *sampled_locality(*arrays)
    assert {type(number) for number in numbers} == {int, float, bool, tuple}


def test_locality_tells_numberings_apart() -> None:
    grid = generators.grid(400, 400)
    shuffled = grid.permuted(0)
    assert grid.stats.far_neighbor_share == 0
    assert grid.stats.mean_log2_neighbor_distance == pytest.approx((1 + np.log2(401)) / 2, rel=0.02)
    # Two independent uniform vertices: E log2(|u - v| / n) = -3 / (2 ln 2), and
    # |u - v| > 2**15 has probability (1 - 2**15 / n)**2.
    expected = np.log2(160_000) - 1.5 / np.log(2)
    assert shuffled.stats.mean_log2_neighbor_distance == pytest.approx(expected, abs=0.1)
    assert shuffled.stats.far_neighbor_share == pytest.approx((1 - 2**15 / 160_000) ** 2, abs=0.02)


@pytest.mark.parametrize("graph", [generators.grid(400, 400), generators.rmat(16, 4), generators.path(3)])
def test_few_entries_tell_about_as_much(graph: Graph) -> None:
    far, mean, _ = sampled_locality(graph.row_offsets, graph.column_indices)
    assert graph.locality == (far, mean) and not graph.is_measured
    stats = graph.stats
    assert graph.locality == (stats.far_neighbor_share, stats.mean_log2_neighbor_distance)
    assert far == pytest.approx(stats.far_neighbor_share, abs=0.1)
    assert mean == pytest.approx(stats.mean_log2_neighbor_distance, rel=0.1)


@pytest.mark.parametrize("graph", [generators.star(100_000), generators.tree(100_000), generators.grid(400, 400)])
def test_walks_along_entries_meet_vertices_that_are_in_a_cache(graph: Graph) -> None:
    far, mean = graph.locality_in_order
    assert far < 0.01 and mean < 0.5
    if graph.stats.max_degree < 10:  # a star has its hub in a cache however it is numbered
        shuffled = graph.permuted(0)
        assert shuffled.locality_in_order[1] > 0.8 * shuffled.locality[1]


def test_unmeasured_graphs_count_as_deep_where_neighbors_are_near() -> None:
    grid = generators.grid(400, 400)
    assert grid.guessed_stats.estimated_depth == pytest.approx(grid.stats.estimated_depth, rel=0.1)
    assert grid.permuted(0).guessed_stats.estimated_depth < 20
    depths = [guessed_stats(10**6, 10**7, share, 10.0, 1e3).estimated_depth for share in (0.0, 0.049, 0.05, 1.0)]
    assert depths == pytest.approx([2000, 2000, np.log2(10**6), np.log2(10**6)])


@pytest.mark.parametrize("in_order", [False, True])
def test_an_unmeasured_band_counts_as_deeper_than_a_grid(in_order: bool) -> None:
    """A level of a band goes on by the length of its longer edges."""
    n, length = 200_000, 10
    ends = np.arange(n - length)
    band = Graph.from_edges(np.repeat(ends, length), (ends[:, None] + np.arange(1, length + 1)).ravel(), n=n)
    usual = sampled_locality(*band.arrays[:2], in_order=in_order)[2]
    assert 8 <= usual <= length
    assert band.guessed_stats.estimated_depth == pytest.approx(band.stats.estimated_depth, rel=0.3)


def test_a_space_of_dense_neighborhoods_is_deep() -> None:
    """A search from the middle sees in a few levels that their number grows as in a plane, not as in a small world."""
    side, radius = 101, 3
    x, y = np.arange(side**2) % side, np.arange(side**2) // side
    steps = [(dx, dy) for dx in range(-radius, radius + 1) for dy in range(radius + 1) if (dy, dx) > (0, 0)]
    near = [np.flatnonzero((x + dx >= 0) & (x + dx < side) & (y + dy < side)) for dx, dy in steps]
    ends = [v + dx + side * dy for v, (dx, dy) in zip(near, steps, strict=True)]
    plane = Graph.from_edges(np.concatenate(near), np.concatenate(ends), n=side**2)
    assert plane.stats.estimated_depth == pytest.approx(side / radius, rel=0.2)
    small_world = generators.uniform_random(side**2, plane.n_edges // 2)
    assert small_world.stats.estimated_depth < 5


@pytest.mark.parametrize(
    ("kind", "k", "is_seen"), [("path", 64, True), ("path", 65, False), ("complete", 23, True), ("complete", 24, False)]
)
def test_short_searches_see_small_components(kind: str, k: int, is_seen: bool) -> None:
    """Two of eight begin in a component of *k* vertices, and may end there; the path of the others is too long."""
    small = nx.path_graph(k) if kind == "path" else nx.complete_graph(k)
    src, dst = np.array([*small.edges, *((v, v + 1) for v in range(k, 4 * k - 1))]).T
    shares = [0.75] * 7 + ([0.25] * 2 if is_seen else [0.75] * 2)
    unseen = 0.25  # the weight of a search that reaches everything
    assert Graph.from_edges(src, dst).stats.reached_share == pytest.approx((sum(shares) + unseen) / (9 + unseen))


def test_a_search_that_has_read_parts_of_rows_has_not_seen_its_component() -> None:
    assert hubs_and_leaves(200, 1 << 15).stats.reached_share == 1.0


def test_thin_graphs_have_two_entries_a_vertex() -> None:
    assert generators.path(9).is_thin and generators.cycle(9).is_thin and Graph([0], [], directed=False).is_thin
    assert not generators.star(9).is_thin and not generators.tree(9).is_thin and not generators.grid(3, 3).is_thin


def test_few_weights_tell_how_many_edges_weigh_least() -> None:
    path = generators.path(1001)
    assert path.least_share == Graph([0], [], directed=False).least_share == 1.0
    assert wrap_graph(path.to_scipy(), weighted=True).least_share == 1.0
    for period, share in ((1, 1.0), (2, 0.5), (10, 0.1)):
        weights = 7 + np.random.default_rng(0).permutation(np.arange(1000) % period)
        assert Graph.from_edges(*path.edge_list()[:2], weights).least_share == pytest.approx(share, abs=0.15)


def test_few_hubs_of_many_vertices_are_trees_of_their_own() -> None:
    """No sampled vertex is one of the roots, but climbs end at sixteen tops."""
    n = 1 << 19
    rng = np.random.default_rng(0)
    stats = Graph.from_edges(np.arange(16, n), rng.integers(0, 16, n - 16), n=n).stats
    assert not stats.first_hook_tree_share and stats.first_hook_giant_share < 0.2
    assert generators.path(n).stats.first_hook_giant_share == 1.0  # climbs end before the top


def test_unchecked_arrays_harm_nothing() -> None:
    offsets, columns = np.array([7, -(2**31), 2**31 - 1], np.int32), np.array([-(2**31), 2**31 - 1], np.int32)
    for in_order in (False, True):
        assert all(np.isfinite(sampled_locality(offsets, columns, in_order=in_order)))
    assert sampled_locality(np.zeros(2, np.int32), columns[:0]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", UNDIRECTED)
def test_diameter_bound_is_a_lower_bound(name: str) -> None:
    graph = UNDIRECTED[name]()
    bound = diameter_bound(graph)
    if graph.n_edges == 0:
        assert bound == 0
        return
    start = int(graph.degrees.argmax())
    whole = nx.Graph(graph.to_networkx())
    component = whole.subgraph(nx.node_connected_component(whole, start))
    exact = nx.diameter(component, usebounds=True)
    assert exact / 2 <= bound <= exact
    if nx.is_tree(component):
        assert bound == exact


def test_diameter_bound_ignores_directions() -> None:
    assert diameter_bound(GRAPHS["directed-path"]()) == 300
    assert diameter_bound(GRAPHS["directed-in-star"]()) == 2
    cancelling = Graph.from_edges([0, 1, 1], [1, 0, 2], [5, -5, 0], directed=True)
    assert diameter_bound(cancelling) == 2
