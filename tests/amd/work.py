"""Runs one workload on executed AMD code, under several seeds: ``work.py NAME TARGET --seeds 100 [--caches]``.

A workload runs every strategy of an algorithm on small graphs, and checks each answer by the definition. The last line
of the output is JSON: seeds, launches and instructions by kernel. The exit status is 1 after the first seed with a
wrong answer, an access out of bounds or a livelock.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import grind  # noqa: E402
import numpy as np  # noqa: E402

import clgraph as cg  # noqa: E402
from amd.machine import Schedule  # noqa: E402
from amd.session import AmdSession  # noqa: E402
from clgraph.algorithms.table import find_algorithm, find_function  # noqa: E402
from clgraph.data.graphs.graph import Graph  # noqa: E402
from clgraph.runtime.session import Session  # noqa: E402

MAX_STEPS = 300_000_000  # instructions of one launch, after which it counts as a livelock


# Work-items of a group unless a strategy wants another size, for odd and for even seeds: one or two waves on gfx90a,
# two or four on gfx1100. A group of several waves needs barriers, which a single wave does not.
GROUPS = 64, 128
GROUP = GROUPS[0]


def _graph(seed: int, n: int = 600, n_edges: int = 800, **how: Any) -> Graph:
    """Return a random graph with small integer weights, and a vertex with a row of n / 3 entries."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(n, size=(2, n_edges))
    src, dst = np.append(src, np.zeros(n // 3, np.int64)), np.append(dst, np.arange(n // 3))
    return Graph.from_edges(src, dst, rng.integers(1, 9, size=src.size).astype(np.int32), n=n, **how)


def _tree(seed: int, n: int = 1500, **how: Any) -> Graph:
    """Return a random tree of which each edge is stored once, so that no other edge makes up for a lost one."""
    rng = np.random.default_rng(seed)
    names, child = rng.permutation(n), np.arange(1, n)
    return Graph.from_edges(names[child], names[rng.integers(child)], n=n, **{**how, "directed": True})


def vocabulary(session: Session) -> None:
    """Run the kernels of the vocabulary tests, and count in critical sections of two locks that all groups share."""
    import test_vocabulary as words

    grind.WG_SIZE, grind.N = GROUP, 8 * GROUP
    grind.vocabulary(session)
    zeros = np.zeros(2, np.uint32)
    _, counts, plain_counts, status = words.launch(
        session, "locks", np.uint32(2), np.uint32(4), zeros, zeros, zeros, np.zeros(1, np.uint32)
    )
    assert counts.sum() == plain_counts.sum() == 4 * grind.N and not status[0]


def primitives(session: Session) -> None:
    """Run the primitives by each of their strategies, over more than one tile, and compare with numpy."""
    import test_primitives as checks

    numbers = np.random.default_rng(2).integers(-100, 100, 3001).astype(np.int32)
    tiles, values = {"WG_SIZE": GROUP, "ITEMS_PER_ITEM": 4}, np.arange(3001, dtype=np.uint32)
    for strategy in ("chunks", "look_back"):
        checks._check_scan(session, numbers, np.int64, "with total", strategy=strategy, tuning=tiles)
        checks._check_compact(session, numbers.astype(np.int64), numbers > 9, strategy=strategy, tuning=tiles)
    for operation in checks.UFUNCS:
        checks._check_reduce(session, numbers, operation, {"WG_SIZE": GROUP, "UNROLL": 2})
    for strategy, tuning in (("chunks", None), ("tiles", tiles), ("onesweep", tiles)):
        checks._check_sort(session, numbers, values, strategy=strategy, tuning=tuning)


def _every_strategy(
    algorithm: str, *arguments: Any, directions: tuple[bool, ...] = (False,), **given: Any
) -> Callable[[Session], None]:
    """Return a workload that solves a random graph by every strategy of *algorithm* that takes the device."""

    def run(session: Session) -> None:
        graphs = [_graph(4, directed=directed) for directed in directions]
        for graph in graphs + ([_tree(5)] if True in directions else []):
            for name, strategy in find_algorithm(algorithm).strategies.items():
                if strategy.unsupported(session.facts) is None and name != "host":
                    how = {"strategy": name, "session": session, "verify": True}
                    find_function(algorithm)(graph, *arguments, **how, **given)

    run.__doc__ = f"Run every strategy of {algorithm}."
    return run


def meshes(session: Session) -> None:
    """Refine a small mesh by each strategy."""
    from test_refine_mesh import star

    from clgraph.algorithms.refine_mesh import STRATEGIES, refine_mesh

    mesh = star(8, 3).triangulate(convex_hull=True)
    for strategy in STRATEGIES:
        refine_mesh(mesh, strategy=strategy, session=session, verify=True)


def distance_two(session: Session) -> None:
    """Colour a graph at distance 2 by each strategy that can, and count conflicts."""
    from clgraph.algorithms.color import color
    from clgraph.algorithms.color.conflicts import count_conflicts

    graph = _graph(5, 200, 300)
    for strategy in ("speculative", "hash_repair"):
        color(graph, distance=2, strategy=strategy, session=session, verify=True)
    for distance in (1, 2):
        count_conflicts(graph, np.arange(200) % 7, distance=distance, session=session)


def partitions(session: Session) -> None:
    """Partition a graph into three parts by each strategy."""
    from clgraph.algorithms.partition import STRATEGIES, partition

    warnings.simplefilter("ignore", RuntimeWarning)
    graph = _graph(6, 300, 600)
    for strategy in STRATEGIES:
        if STRATEGIES[strategy].unsupported(session.facts) is None and strategy != "host":  # host needs pymetis
            partition(graph, 3, strategy=strategy, session=session, verify=True)


def triangles(session: Session) -> None:
    """Count triangles with tables so small that rows are cut in pieces."""
    from clgraph.algorithms.triangles import triangles as counted

    for name in ("orient", "count"):
        session.profile.tuning[f"triangles/{name}.cl"] = {"WG_SIZE": GROUP, "TEAM_SLOTS": 16, "LONG_SLOTS": 32}
    for short_row in (1, 12):
        counted(_graph(7, 120, 1200), strategy="tables", session=session, verify=True, short_row=short_row)


def core_numbers(session: Session) -> None:
    """Peel a graph with a long row, and a grid, which takes many waves, with and without a grid barrier."""
    from clgraph.algorithms.cores import core_numbers as found

    (src, dst, _), facts = _graph(8).edge_list(), session.facts
    simple = Graph.from_edges(src, dst, n=600, duplicates="first", self_loops="drop")
    for has_grid_barrier in (True, False):
        session.commands.facts = replace(facts, dialect=replace(facts.dialect, has_grid_barrier=has_grid_barrier))
        for graph in (simple, cg.generators.grid(6, 9)):
            found(graph, strategy="peel", session=session, verify=True)


def sets_and_matchings(session: Session) -> None:
    """Find independent sets and matchings of graphs with long rows, by teams of lanes and by work-groups."""
    from clgraph.algorithms.maximal_independent_set import maximal_independent_set
    from clgraph.algorithms.maximal_matching import maximal_matching, strategies

    strategies._LONG_ROW = 60
    for graph in (_graph(9, 200, 900), cg.generators.grid(6, 9)):
        maximal_independent_set(graph, include=[5], session=session, verify=True)
        maximal_matching(graph, session=session, verify=True)
        maximal_matching(graph, weight=None, session=session, verify=True)


def online(session: Session) -> None:
    """Sweep over a small matrix with a popular item and a busy user, by each strategy that runs online."""
    from factorization_checks import check_sweeps, cross
    from test_factorization_locks import ONLINE

    for strategy in ONLINE:
        check_sweeps(session, strategy, cross(40), 5, biases=True)


def offline(session: Session) -> None:
    """Run matchings, and sweeps in supersteps and over blocks, and replay them on the host."""
    import test_factorization_supersteps as supersteps
    from factorization_checks import check_replay, cross, random_ratings

    ratings = random_ratings(60, 12, 30, skew=1.0)
    for strategy in (*supersteps.BY_RATING, *supersteps.BY_ITEM):
        check_replay(session, strategy, ratings)
    check_replay(session, "block_grid", cross(30), biases=True, n_groups=3)
    check_replay(session, "block_diagonal", cross(30), biases=True, shape=(4, 7))


def options(session: Session) -> None:
    """Run searches, shortest paths and forests with weights of each type, and with all options of their strategies."""
    from clgraph.algorithms.bfs import bfs
    from clgraph.algorithms.minimum_spanning_forest import minimum_spanning_forest
    from clgraph.algorithms.sssp import sssp

    facts, rng, plain = session.facts, np.random.default_rng(8), _graph(7, 200, 300, directed=True)
    for has_grid_barrier in (True, False):
        dialect = replace(facts.dialect, has_grid_barrier=has_grid_barrier)
        session.commands.facts = replace(facts, dialect=dialect)
        for given in ({}, {"alpha": 2**20, "beta": 2**20}):
            bfs(plain, [0, 3], strategy="direction_optimizing", session=session, verify=True, **given)
        bfs(plain, 0, strategy="frontier", session=session, verify=True)
        for strategy in ("frontier", "delta_stepping"):
            sssp(plain, 0, strategy=strategy, delta=3, predecessors=True, session=session, verify=True)
    session.commands.facts = facts
    for dtype in (np.int64, np.float32, np.float64):
        weights = rng.integers(3, size=plain.n_edges).astype(dtype)  # Some weigh 0, so levels of paths are found, too.
        weighted = Graph.from_edges(plain.sources(), plain.column_indices, weights, n=200, directed=True)
        sssp(weighted, 0, strategy="frontier", predecessors=True, session=session, verify=True)
        signed = Graph.from_edges(plain.sources(), plain.column_indices, weights * 2**34 / 3 - 1, n=200)
        for strategy, given in (("two_pass", {}), ("segmented", {"merge": "transactional"})):
            minimum_spanning_forest(signed, strategy=strategy, session=session, verify=True, **given)
        minimum_spanning_forest(signed.to_scipy(), strategy="edge_list", session=session, verify=True)
    longs = Graph.from_edges(plain.sources(), plain.column_indices, rng.integers(9, size=plain.n_edges) + 2**40, n=200)
    minimum_spanning_forest(longs, strategy="two_pass", session=session, verify=True)


def fallbacks(session: Session) -> None:
    """Run what replaces grid barriers, a launch for each round, and what replaces 64-bit atomics."""
    import test_factorization_supersteps as offline
    from factorization_checks import check_replay, random_ratings
    from test_connected_components import OPTIONS

    from clgraph.algorithms.color import color
    from clgraph.algorithms.connected_components import connected_components
    from clgraph.algorithms.minimum_spanning_forest import minimum_spanning_forest
    from clgraph.algorithms.partition import partition
    from clgraph.algorithms.strongly_connected_components import strongly_connected_components

    warnings.simplefilter("ignore", RuntimeWarning)
    graph, ratings = _graph(4, 200, 300), random_ratings(60, 12, 30, skew=1.0)
    for name, several in OPTIONS.items():
        for given in several:
            connected_components(graph, strategy=name, session=session, verify=True, **given)
    facts = session.facts
    session.commands.facts = replace(facts, dialect=replace(facts.dialect, has_grid_barrier=False))
    for strategy in ("edge_list", "two_pass"):
        minimum_spanning_forest(graph, strategy=strategy, session=session, verify=True)
    color(graph, strategy="speculative", session=session, verify=True)
    digraph = _graph(5, 200, 300, directed=True)
    for strategy in ("forward_backward", "min_propagation"):
        strongly_connected_components(digraph, strategy=strategy, session=session, verify=True)
    partition(_graph(4, 80, 800), 3, strategy="gpu", session=session, verify=True)  # levels of many entries
    offline.matchings_of(session, ratings, 0, 20, GROUP)
    for strategy in (*offline.BY_RATING, *offline.BY_ITEM):
        check_replay(session, strategy, ratings)
    session.commands.facts = replace(facts, has_int64_atomics=False)
    partition(graph, 3, strategy="gpu", matching="segmented", session=session, verify=True)
    session.commands.facts = facts


def fitting(session: Session) -> None:
    """Fit a small matrix, predict, and evaluate the error."""
    from clgraph import SGDMatrixFactorization, generators

    ratings = generators.planted_ratings(60, 40, 800, rank=4, noise=0.1)
    model = SGDMatrixFactorization(4, n_epochs=3, random_state=0, session=session, tol=1e-9).fit(
        ratings, eval_set=ratings
    )
    assert np.isfinite(model.loss_curve_[-1]) and model.predict(ratings).shape == (ratings.n_ratings,)


def cycles(session: Session) -> None:
    """Partition by several individuals and cycles of levels, and refine a mesh that is not Delaunay."""
    from clgraph import TriangleMesh, refine_mesh
    from clgraph.algorithms.partition import partition

    warnings.simplefilter("ignore", RuntimeWarning)
    partition(_graph(6, 200, 400), 4, strategy="gpu", effort="max", individuals=2, session=session, verify=True)
    mesh = TriangleMesh.from_arrays([[0, 0], [9, 0], [9, 1], [0, 1], [4, 0.5], [5, 0.5]],
                                    [[0, 1, 4], [1, 5, 4], [1, 2, 5], [2, 3, 5], [3, 4, 5], [3, 0, 4]])  # fmt: skip
    assert refine_mesh(mesh, min_angle=20, session=session, verify=True).n_points > 6


def ranks(session: Session) -> None:
    """Rank the vertices of a weighted graph, one of which has a long row."""
    from clgraph.algorithms.hits import hits
    from clgraph.algorithms.pagerank import pagerank

    star = Graph.from_edges(np.arange(1, 3000), np.zeros(2999, np.int64), n=3000, directed=True)
    for graph in (_graph(9, 150, 400, directed=True), star):
        pagerank(graph, max_iter=20, tol=1e-3, strategy="row_blocks", session=session, verify=True)
        hits(graph, max_iter=20, tol=1e-2, strategy="row_blocks", session=session, verify=True)
        homes = np.random.default_rng(1).random((5, graph.n_vertices))
        pagerank(graph, personalization=homes, max_iter=9, tol=1e-2, strategy="lanes", session=session, verify=True)


def columns(session: Session) -> None:
    """Colour the columns of matrices, balance colour classes, and colour hubs at distance 2."""
    from clgraph import color, color_columns, count_conflicts

    graph = _graph(5, 90, 120)
    color(graph, strategy="speculative", balanced=True, session=session, verify=True)
    color(graph, distance=2, strategy="jones_plassmann", session=session, verify=True)
    color_columns(graph.to_scipy()[:60], session=session, verify=True)
    symmetric = graph.to_scipy()
    color_columns(symmetric + symmetric.T, symmetric=True, session=session, verify=True)
    assert count_conflicts(graph, np.zeros(90, np.int32), session=session)


def segments(session: Session) -> None:
    """Reduce and sort rows of an array, and compact by chunks."""
    import test_primitives as checks

    rng = np.random.default_rng(4)
    for kind, n_rows in (("short", 300), ("hub", 40)):
        offsets = checks.row_offsets_of(rng, kind, n_rows).astype(np.int32)
        checks._check_segmented_reduce(session, offsets, checks.random_items(rng, offsets[-1], np.int32), "sum")
        checks._check_segmented_sort(session, offsets, checks.random_items(rng, offsets[-1], np.int32))
    tuning = {"WG_SIZE": GROUP, "ITEMS_PER_ITEM": 1}
    offsets = np.arange(0, 40_001, 2, dtype=np.int32)
    checks._check_segmented_reduce(session, offsets, checks.random_items(rng, 40_000, np.int32), "sum", tuning)
    checks._check_reduce(session, checks.random_items(rng, 20_000, np.int32), "sum", {"WG_SIZE": GROUP, "UNROLL": 1})


def several(session: Session) -> None:
    """Find components and forests of a graph that is cut in two for the executed GPU and a CPU, in several segments."""
    from conftest import PLATFORMS

    from clgraph.algorithms.connected_components import connected_components
    from clgraph.algorithms.minimum_spanning_forest import minimum_spanning_forest
    from clgraph.runtime.devices import sub_devices

    graph, cpu = _graph(3, 300, 500), Session(PLATFORMS["intel"])  # The executed GPU has PoCL's device.
    halves = sub_devices(cpu.device, [1, 1])
    for devices in ([session, cpu], [cpu, session], [halves[0], session, halves[1]], [session, *halves]):
        for strategy in ("rem", "hook_compress", "afforest"):
            connected_components(graph, devices=devices, strategy=strategy, segment_entries=200, verify=True)
        minimum_spanning_forest(graph, devices=devices, shares="equal", segment_entries=512, verify=True)


def messages(session: Session) -> None:
    """Join the forests of two halves of a graph by a message that is packed, in blocks of one and of many words."""
    from clgraph.algorithms.connected_components import STRATEGIES, connected_components, messages, on_devices
    from clgraph.algorithms.connected_components.problem import ComponentsProblem

    n, kept = 3000, messages._SMALL
    for most_edges, small in ((9000, 1), (4500, kept), (9000, kept)):
        src, dst = np.random.default_rng(most_edges).integers(n, size=(2, most_edges))
        whole, *halves = (Graph.from_edges(src[k::step], dst[k::step], n=n) for k, step in ((0, 1), (0, 2), (1, 2)))
        forests = [on_devices.Forest(STRATEGIES["rem"].plan(session, ComponentsProblem(half))) for half in halves]
        for forest in forests:
            forest.plan.run()
        messages._SMALL = small  # graphs of fewer vertices have blocks of one word
        message, is_packed = messages.forest_message(session, n, forests[1].plan.labels)
        forests[0].merge(message, is_packed=is_packed)
        assert is_packed
        wanted = connected_components(whole, session=session, strategy="host")
        np.testing.assert_array_equal(forests[0].plan.result()[1], wanted.labels)


def boundaries(session: Session) -> None:
    """Join the forests of two parts of a graph that have few vertices in common; each part numbers its own range."""
    from clgraph.algorithms.connected_components import STRATEGIES, connected_components
    from clgraph.algorithms.connected_components import boundaries as joining
    from clgraph.algorithms.connected_components.problem import ComponentsProblem

    n, owned = 3000, [(0, 1504), (1504, 3000)]
    src, dst = np.random.default_rng(0).integers(n, size=(2, 4000))
    few = np.arange(src.size) % 50 == 0
    near = (src < owned[0][1]) == (dst < owned[0][1])
    src, dst = src[near | few], dst[near | few]
    of_first = np.maximum(src, dst) < owned[0][1]
    plans = [
        STRATEGIES["rem"].plan(session, ComponentsProblem(Graph.from_edges(src[own], dst[own], n=n)))
        for own in (of_first, ~of_first)
    ]
    for plan in plans:
        plan.run()
    launches = [joining.BoundaryLaunches(plan, own, 2000) for plan, own in zip(plans, owned, strict=True)]
    known = [each.boundary() for each in launches]
    assert known[1] is not None and known[1].pairs.size and known[0] is not None
    mentioned = np.unique(np.concatenate([each.pairs.ravel() for each in known if each is not None]))
    given = joining.owned_by(mentioned, owned)
    found = [each.look_up(vertices) for each, vertices in zip(launches, given, strict=True)]
    n_components, numbers = joining.joined([each for each in known if each is not None], owned, mentioned, found)
    wanted = connected_components(Graph.from_edges(src, dst, n=n), session=session, strategy="host")
    assert n_components == wanted.n_components
    for plan, own, each, told in zip(plans, owned, launches, numbers, strict=True):
        each.set_numbers(told.pairs)
        plan.part(plan.numbering(*own), *own, lambda *_: None, told.base)
        np.testing.assert_array_equal(plan.numbers.get(*own), wanted.labels[slice(*own)])


def loads(session: Session) -> None:
    """Run loads of each kind, as the scheduler over several devices does."""
    sys.path.append(str(ROOT / "benchmarks"))
    import test_hetero as checks

    from clgraph.hetero import HeteroScheduler, map_rows

    rng, scheduler = np.random.default_rng(1), HeteroScheduler([session])
    x, patterns = checks.numbers(3000), checks.PATTERNS
    np.testing.assert_allclose(scheduler.run(checks.SQUARE, [x])[0][0], checks.squares(x), rtol=1e-6)
    text = checks.hetero_loads.text_with(patterns, 5000)
    (counts,), _ = scheduler.run(checks.hetero_loads.string_search(patterns), [text])
    assert counts.tolist() == checks.hetero_loads.count_in(text, patterns)
    left, right = rng.random((70, 40), np.float32), rng.random((40, 50), np.float32)
    (product,), _ = scheduler.run(checks.hetero_loads.matrix_multiply(), [(left, right)])
    np.testing.assert_allclose(product, left @ right, rtol=1e-5)
    sums = map_rows("result = 0; for (int k = 0; k < length; k++) result += row[k];", dtype=np.float32)
    np.testing.assert_allclose(scheduler.run(sums, [left])[0][0], left.sum(axis=1), rtol=1e-5)
    matrix, vector = checks.hetero_loads.power_law_matrix(300, 200, 8), rng.random(200, np.float32)
    (found,), _ = scheduler.run(checks.hetero_loads.sparse_product(vector), [matrix])
    np.testing.assert_allclose(found, matrix @ vector, rtol=1e-4)


def probes(session: Session) -> None:
    """Run the kernels of the probe, and check that they do the work that they are timed for."""
    import test_probing as checks

    bench = checks.Bench(session, 1 << 16)
    for operation in checks.GLOBAL_ATOMICS:
        checks.test_atomics_count_exactly(bench, operation, 100, 13, 2)
    for operation in checks.LOCAL_ATOMICS:
        checks.test_local_atomics_count_exactly(bench, operation)
    checks.test_stream_reads_every_byte(bench)
    checks.test_gather_makes_every_load(bench)
    checks.test_chase_walks_one_cycle_through_every_word(bench, 5)
    for trial in (bench.lock(), bench.launches(), bench.grid_barriers(3)):
        trial.run(2)
        trial.verify(2)
    bench.release()


def large_nets(session: Session) -> None:
    """Colour a graph with hubs at distance 2, by bitmaps as large as each vertex's neighbourhood, and in an order."""
    from clgraph.algorithms.color import color, distance_two

    distance_two._MAX_WORDS = 1  # Nets of more than 64 vertices are large then.
    graph = _graph(5, 240, 200)
    for long_row in (30, 1000):
        color(graph, distance=2, strategy="speculative", long_row=long_row, session=session, verify=True)
    color(graph, distance=2, strategy="speculative", order="smallest_last", session=session, verify=True)


def flips(session: Session) -> None:
    """Flip the edges of a mesh that is far from Delaunay."""
    from test_refine_mesh import refine_mesh, shuffled_triangulation

    mesh = shuffled_triangulation(1)
    flipped = refine_mesh(mesh, min_angle=0, session=session, verify=True)
    assert flipped.n_points == mesh.n_points and flipped.info.details["flips"] > 50
    for strategy in ("three_phase", "priority"):
        refine_mesh(mesh, min_angle=20, strategy=strategy, session=session, verify=True)


def launches(session: Session) -> None:
    """Train with a launch for each superstep, find matchings by launches, and let several groups share blocks."""
    import test_factorization_supersteps as offline
    from factorization_checks import check_replay, random_factors, random_ratings
    from test_factorization_estimator import OFFLINE, Factorization

    ratings, supersteps = random_ratings(300, 60, 90, skew=1.0), offline.supersteps
    wanted = offline.sequential_matchings(ratings.items, ratings.users, 90, 0)
    if np.diff(ratings.user_offsets).max() > np.diff(ratings.item_offsets).max():
        wanted = offline.sequential_matchings(ratings.users, ratings.items, 60, 0)
    np.testing.assert_array_equal(offline.matchings_of(session, ratings, 0, 5, GROUP), wanted)
    for strategy in offline.BY_ITEM:
        check_replay(session, strategy, ratings, work_group_size=GROUP)
    kept, supersteps._TAIL_TURNS = supersteps._TAIL_TURNS, 0
    for strategy in offline.BY_RATING:
        check_replay(session, strategy, ratings, barrier="launch")
    supersteps._TAIL_TURNS = kept
    engine = Factorization(session, ratings, rank=7, strategy=OFFLINE)
    engine.model.set(random_factors(ratings, 7))
    users, items = engine.model.get()[:2]
    expected = engine.model.mean + np.einsum("ij,ij->i", users[ratings.users], items[ratings.items])
    np.testing.assert_allclose(engine.predict(ratings.users, ratings.items), expected, atol=1e-5)


def weights(session: Session) -> None:
    """Find the range of a graph's weights, and copy the graph with its weights."""
    from clgraph.runtime.graphs.device_graph import device_graph
    from clgraph.runtime.graphs.weight_range import weight_range

    rng, src = np.random.default_rng(6), np.arange(9000)
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        drawn = (1e6 * rng.normal(size=9000)).astype(dtype)
        graph = Graph.from_edges(src, src + 1, drawn, directed=True)
        assert weight_range(session, graph) == (drawn.min(), drawn.max())
        graph = Graph.from_edges(src[:300], rng.integers(301, size=300), drawn[:300], n=301)
        copies, wanted = device_graph(session, graph, weights=True).expanded(3).to_graph(), graph.expanded(3)
        for name in ("row_offsets", "column_indices", "edge_weights"):
            np.testing.assert_array_equal(getattr(copies, name), getattr(wanted, name))


def undone(session: Session) -> None:
    """Find communities of graphs in which moves of many vertices at once lower the quality, so they are undone."""
    from clgraph.algorithms.communities import communities

    ends, facts = np.indices((12, 12)).reshape(2, -1), session.facts
    for given in ((ends[0], ends[1] + 12), ends[:, ends[0] < ends[1]]):
        for method in ("leiden", "louvain"):
            found = []
            for has_grid_barrier in (True, False):  # all levels in one launch, and in many
                session.commands.facts = replace(
                    facts, dialect=replace(facts.dialect, has_grid_barrier=has_grid_barrier)
                )
                session.kept.forget()
                found.append(communities(Graph.from_edges(*given), method=method, session=session, verify=True).labels)
            np.testing.assert_array_equal(*found)


def giants(session: Session) -> None:
    """Find communities of a graph with a hub and a giant group, whose entries are divided among work-groups."""
    from clgraph.algorithms.communities import communities

    ends, facts, rng = np.indices((70, 70)).reshape(2, -1), session.facts, np.random.default_rng(7)
    clique, leaves = ends[:, ends[0] < ends[1]], np.arange(70, 2570)
    star = np.stack([np.full(leaves.size, 70), leaves]), np.stack([leaves, rng.permutation(leaves)])
    graph = Graph.from_edges(*np.concatenate([clique, *star], axis=1))
    for has_grid_barrier in (True, False):
        session.commands.facts = replace(facts, dialect=replace(facts.dialect, has_grid_barrier=has_grid_barrier))
        communities(graph, iterations=1, session=session, verify=True)
        offsets, pair = np.array([0, 2100, 4200], np.int32), np.repeat(np.array([1, 0], np.int32), 2100)
        communities(Graph(offsets, pair, directed=False), iterations=1, session=session, verify=True)


# Workloads of Oclgrind's lane, whose graphs and work-groups are tiny.
_SMALL = (
    "components", "forests", "device_graphs", "hash_collisions", "colorings", "distance_two", "communities",
    "strong_components", "partitions", "partition_variants", "rounds", "searches", "factorization_offline",
    "factorization_blocks",
)  # fmt: skip

WORKLOADS: dict[str, Callable[[Session], None]] = {
    "vocabulary": vocabulary,
    "primitives": primitives,
    "connected_components": _every_strategy("connected_components", directions=(False, True)),
    "strongly_connected_components": _every_strategy("strongly_connected_components", directions=(True,)),
    "minimum_spanning_forest": _every_strategy("minimum_spanning_forest"),
    "bfs": _every_strategy("bfs", 0),
    "sssp": _every_strategy("sssp", 0),
    "color": _every_strategy("color"),
    "distance_two": distance_two,
    "hash_collisions": _every_strategy("hash_collisions", hashes=2, bit_widths=[1, 6]),
    "core_numbers": core_numbers,
    "sets_and_matchings": sets_and_matchings,
    "triangles": triangles,
    "partition": partitions,
    "refine_mesh": meshes,
    "factorization_online": online,
    "factorization_offline": offline,
    "generators": grind.generators,
    "options": options,
    "columns": columns,
    "ranks": ranks,
    "fallbacks": fallbacks,
    "fitting": fitting,
    "cycles": cycles,
    "segments": segments,
    "several": several,
    "messages": messages,
    "boundaries": boundaries,
    "loads": loads,
    "probes": probes,
    "large_nets": large_nets,
    "flips": flips,
    "launches": launches,
    "weights": weights,
    "undone": undone,
    "giants": giants,
    **{f"small_{name}": getattr(grind, name) for name in _SMALL},
}


def _use_groups_of(seed: int) -> None:
    """Choose the size of groups. Those of Oclgrind's lane consist of whole waves, too."""
    global GROUP
    GROUP = grind.FEW_ITEMS = grind.FEWEST_ITEMS = GROUPS[1 - seed % 2]


def use_kernels(root: Path) -> None:
    """Let all programs be made of the kernel sources below *root*."""
    from clgraph.runtime.programs import source

    source.kernel_root = lambda: root  # type: ignore[assignment]
    if (root / "vocabulary.cl").exists():
        import test_vocabulary

        test_vocabulary.VOCABULARY = str(root / "vocabulary.cl")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("name", choices=WORKLOADS)
    parser.add_argument("target")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no further seed after this CPU time")
    parser.add_argument("--caches", action="store_true", help="give each group a cache that is not coherent")
    parser.add_argument("--kernels", type=Path, help="the folder of the kernel sources")
    options = parser.parse_args()
    if options.kernels:
        use_kernels(options.kernels)
    launches: dict[str, list[int]] = defaultdict(lambda: [0, 0])  # numbers of seeds and of launches of each kernel
    steps: dict[str, int] = defaultdict(int)
    started, done, failure, session = time.process_time(), 0, "", None
    for seed in range(options.first, options.first + options.seeds):
        if done and time.process_time() - started > options.seconds:
            break
        _use_groups_of(seed)
        schedule = Schedule(seed=seed * 1_000_003, resident=1 << 16, max_steps=MAX_STEPS, caches=options.caches)
        session = AmdSession(options.target, schedule)
        session.profile = replace(session.profile, tuning=defaultdict(lambda: {"WG_SIZE": GROUP}))
        try:
            WORKLOADS[options.name](session)
        except Exception as error:
            failure = f"seed {seed}: {type(error).__name__}: {error}"[:600]
            traceback.print_exc()
        for kernel, count in session.launches.items():
            launches[kernel] = [launches[kernel][0] + 1, launches[kernel][1] + count]
            steps[kernel] += session.steps[kernel]
        done += 1
        if failure:
            break
    told = {"workload": options.name, "target": options.target, "caches": options.caches, "seeds": done,
            "seconds": round(time.process_time() - started, 1), "failure": failure, "launches": launches,
            "instructions": steps}  # fmt: skip
    print(json.dumps(told))
    return int(bool(failure))


if __name__ == "__main__":
    sys.exit(main())
