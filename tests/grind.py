"""What tests/test_oclgrind.py runs under Oclgrind: ``oclgrind … python grind.py WHAT [KERNEL_FILE]``.

Inputs are tiny: Oclgrind interprets every instruction of every work-item.
"""

import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyopencl as cl

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

from clgraph.data.graphs.graph import Graph  # noqa: E402
from clgraph.model.strategy import Strategy  # noqa: E402
from clgraph.runtime.discovery.query import platforms  # noqa: E402
from clgraph.runtime.discovery.self_test import verdict  # noqa: E402
from clgraph.runtime.memory.arrays import DeviceArray  # noqa: E402
from clgraph.runtime.session import Session  # noqa: E402

WG_SIZE = 32
N = 2 * WG_SIZE
FEW_ITEMS, FEWEST_ITEMS = 8, 4  # sizes of work-groups that keep runs short


def _fill_by_copy(array: DeviceArray, value, start: int = 0, stop: int | None = None) -> None:
    """Set items by a copy: Oclgrind takes memory that clEnqueueFillBuffer wrote for uninitialised."""
    last = array.size if stop is None else stop
    array.set(np.full(last - start, value, array.dtype), offset=start)


class _ExactPool:
    """Buffers of the size asked for; a pool's are larger, and what runs over the end stays unseen."""

    active_bytes = 0

    def __init__(self, context: cl.Context) -> None:
        self._context = context

    def allocate(self, n_bytes: int) -> cl.Buffer:
        return cl.Buffer(self._context, cl.mem_flags.READ_WRITE, n_bytes)


class _GrindSession(Session):
    def __init__(self) -> None:
        (device,) = (each for platform in platforms() if "Oclgrind" in platform.name for each in platform.get_devices())
        verdict(device, timeout=300.0)  # It interprets kernels: two at a time take more than a minute on slow machines.
        super().__init__(device)
        self.memory._pool = _ExactPool(self.context)  # type: ignore[assignment]

    def upload(self, host: np.ndarray, *, in_place: bool = False) -> DeviceArray:
        array = self.empty(host.size, host.dtype)  # a buffer over host memory is uninitialised to Oclgrind
        array.set(host)
        return array

    def program(self, source, defines=None, **options):
        # Inlining functions with `restrict` or a returned struct leaves an LLVM intrinsic that Oclgrind 21.10 does
        # not know; all of ours are declared overloadable.
        return super().program(source, {**(defines or {}), "overloadable": "overloadable, noinline"}, **options)


def _with_long_row(seed: int, n: int, n_edges: int, length: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Return the ends of random edges between *n* vertices and of *length* edges of vertex 0, and the generator."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(n, size=(2, n_edges))
    return np.append(src, np.zeros(length, np.int64)), np.append(dst, np.arange(length)), rng


def _supported(strategies: Mapping[str, Strategy], session: Session) -> set[str]:
    """Return the strategies that the device can run."""
    return {name for name, strategy in strategies.items() if strategy.unsupported(session.facts) is None}


def vocabulary(session: Session) -> None:
    """Run the kernels of the vocabulary tests that one work-group at a time can finish."""
    import test_vocabulary as words

    words.N, words.WG_SIZE = N, WG_SIZE
    rng = np.random.default_rng(1)
    words.test_masks_name_the_lanes_of_a_sub_group(session, rng)
    for name in words.TYPES:
        words.test_sub_groups_reduce_and_scan_values(session, rng, name)
        words.test_loads_see_stores(session, rng, name)
    for name in words.INTEGERS:
        words.test_atomics_lose_nothing(session, rng, name)
        words.test_each_value_lowers_a_word_at_most_once(session, rng, name)
    for name in ("int", "uint"):
        words.test_local_atomics_lose_nothing(session, rng, name)
    words.test_sync_orders_local_memory(session, rng)
    words.test_float_add_loses_nothing(session, rng)
    words.test_float_keys_keep_the_order(session, rng)
    words.test_pushes_lose_nothing(session, rng, 4)
    words.test_first_status_stays(session)
    zeros = np.zeros(2, np.uint32)
    _, counts, _, status = words.launch(
        session, "locks", np.uint32(2), np.uint32(2), zeros, zeros, zeros, np.zeros(1, np.uint32)
    )
    assert counts.sum() == 2 * N and not status[0]


def primitives(session: Session) -> None:
    """Run the primitives by each of their strategies, over more than one tile, and compare with numpy."""
    import test_primitives as checks

    from clgraph.primitives.fill import Fill, Iota

    numbers, target = np.random.default_rng(2).integers(-100, 100, 201).astype(np.int32), session.empty(201, np.int32)
    Iota(session, target).run()
    np.testing.assert_array_equal(target.get(), np.arange(201))
    Fill(session, target, 7).run()
    np.testing.assert_array_equal(target.get(), 7)
    tiles = {"WG_SIZE": 16, "ITEMS_PER_ITEM": 4}
    for strategy, tuning in (("chunks", None), ("chunks", tiles), ("look_back", tiles)):
        how = {"strategy": strategy, "tuning": tuning}
        checks._check_scan(session, numbers, np.int64, "with total", **how)
        checks._check_compact(session, numbers.astype(np.int64), numbers > 9, **how)
    for operation in checks.UFUNCS:
        for tuning in (None, {"WG_SIZE": 16, "UNROLL": 2}):
            checks._check_reduce(session, numbers, operation, tuning)
    sizes, values = {**tiles, "RADIX_BITS": 4}, np.arange(201, dtype=np.uint32)
    for strategy, tuning in (("chunks", None), ("tiles", sizes), ("onesweep", sizes)):
        checks._check_sort(session, numbers, values, strategy=strategy, tuning=tuning)


def components(session: Session) -> None:
    """Run every strategy on a small graph of several components, undirected and directed."""
    from clgraph.algorithms.connected_components import STRATEGIES, connected_components
    from clgraph.algorithms.connected_components.edge_lists import EdgeComponents, numbered

    src, dst, _ = _with_long_row(4, 90, 70, 70)
    for directed in (False, True):
        graph = Graph.from_edges(src, dst, n=100, directed=directed)
        for strategy in STRATEGIES:
            connected_components(graph, strategy=strategy, session=session, verify=True)
    edges, lists = np.stack([src, dst]).astype(np.int32), EdgeComponents(session, 100)
    lists.link(*edges[:, ::2])
    other = EdgeComponents(session, 90)
    other.link(*edges[:, 1::2])
    lists.link_forest(other.parents())
    wanted = connected_components(Graph.from_edges(src, dst, n=100), session=session)
    assert np.array_equal(numbered(lists.parents())[1], wanted.labels)


def ranks(session: Session) -> None:
    """Rank vertices, of which one has a long row, for one personalization and for several, and as hubs."""
    from clgraph.algorithms.hits import hits
    from clgraph.algorithms.pagerank import pagerank

    graph = Graph.from_edges([*range(1, 2500), 0], [0] * 2499 + [7], n=2500, directed=True)
    for strategy in ("row_blocks", "rows"):
        hits(graph, max_iter=3, strategy=strategy, session=session, verify=True)
        pagerank(graph, tol=0.1, strategy=strategy, session=session, verify=True)
    homes = np.random.default_rng(1).random((3, graph.n_vertices))
    pagerank(graph, personalization=homes, tol=0.1, strategy="lanes", session=session, verify=True)


def triangles(session: Session) -> None:
    """Count triangles with tables so small that rows are cut in pieces, by marks and by merging."""
    from clgraph.algorithms.triangles import triangles

    for name in ("orient", "count"):
        session.profile.tuning[f"triangles/{name}.cl"] = {"TEAM_SLOTS": 8, "LONG_SLOTS": 16}
    src, dst, _ = _with_long_row(12, 30, 120, 30)
    graph = Graph.from_edges(src, dst, n=33)
    triangles(graph, strategy="tables", session=session, verify=True, short_row=1)
    for strategy in ("marks", "merge"):
        triangles(graph, strategy=strategy, session=session, verify=True)


def core_numbers(session: Session) -> None:
    """Peel a small graph with a long row by launches for each step, and in order."""
    from clgraph.algorithms.cores import core_numbers as found

    src, dst, _ = _with_long_row(13, 40, 90, 40)
    graph = Graph.from_edges(src, dst, n=43, duplicates="first", self_loops="drop")
    for strategy in ("peel", "buckets"):
        found(graph, strategy=strategy, session=session, verify=True)


def sets_and_matchings(session: Session) -> None:
    """Find independent sets and matchings of a small graph with a long row, as a GPU does, and as a CPU does."""
    from clgraph.algorithms.maximal_independent_set import maximal_independent_set
    from clgraph.algorithms.maximal_matching import maximal_matching, strategies

    src, dst, rng = _with_long_row(14, 40, 90, 40)
    strategies._LONG_ROW = 20
    facts = session.facts
    for is_cpu in (True, False):
        session.commands.facts = replace(facts, is_cpu=is_cpu)
        for weights in (rng.integers(5, size=src.size), rng.random(src.size)):
            graph = Graph.from_edges(src, dst, weights, n=43)
            maximal_matching(graph, session=session, verify=True)
        for order in ("random", "smallest_first"):
            maximal_independent_set(graph, order=order, include=[3], session=session, verify=True)


def forests(session: Session) -> None:
    """Run every strategy with each of its options on a small graph with ties, by keys and by ranks of their weights."""
    from clgraph.algorithms.minimum_spanning_forest import minimum_spanning_forest

    src, dst, rng = _with_long_row(10, 140, 350, 90)
    weights = rng.integers(5, size=src.size)
    for given in (weights.astype(np.int32), weights / 3):
        graph = Graph.from_edges(src, dst, given, n=150)
        for strategy, options in (
            ("edge_list", {"light_edges": 1}),
            ("two_pass", {"light_edges": 1}),
            ("two_pass", {"light_edges": 0}),
            ("segmented", {"merge": "min_hook"}),
            ("segmented", {"merge": "transactional"}),
        ):
            minimum_spanning_forest(graph, strategy=strategy, session=session, verify=True, **options)


def device_graphs(session: Session) -> None:
    """Check and measure graphs whose arrays have no room to spare, right ones and spoiled ones."""
    from graphs import GRAPHS

    from clgraph.errors import GraphError
    from clgraph.runtime.graphs.device_graph import DeviceGraph

    session.profile.tuning["data/check_csr.cl"] = session.profile.tuning["data/graph_stats.cl"] = {"WG_SIZE": FEW_ITEMS}
    for name in ("duplicates-self-loops", "unsorted-rows", "some-isolated", "one-self-loop", "isolated"):
        graph = GRAPHS[name]()
        for spoiled in (False, True):
            offsets, columns = graph.row_offsets.copy(), graph.column_indices.copy()
            if spoiled:
                offsets[[0, graph.n_vertices // 2, -1]] = -(2**31), 2**31 - 1, 2**31 - 1
                columns[: columns.size // 2] = 2**31 - 1
            try:
                made = DeviceGraph.from_arrays(session, session.upload(offsets), session.upload(columns), directed=True)
                assert made.stats.n_isolated == graph.stats.n_isolated
            except GraphError:
                assert spoiled, name


def generators(session: Session) -> None:
    """Make a small graph by each kernel of the generators, with weights and as replicas."""
    from test_generators import BORN, assert_same

    from clgraph import generators

    names = ("rmat-3-1", "uniform-3-2", "road-65", "geometric-65-0-spatial", "geometric-2-99-random", "grid-7x11")
    for name in (*names, "tree-5-3", "cycle-4", "cliques-3-True"):
        made, wanted = BORN[name](session=session), BORN[name]()
        assert_same(made, wanted)
        for dtype in (np.int32, np.float64):
            assert_same(generators.random_weights(made, dtype=dtype), generators.random_weights(wanted, dtype=dtype))
        assert_same(made.expanded(3), wanted.expanded(3))


def hash_collisions(session: Session) -> None:
    """Run every strategy at both distances on a small graph with a long row, in work-groups of several work-items."""
    from clgraph.algorithms.hash_collisions import hash_collisions

    sizes = {"WG_SIZE": FEW_ITEMS, "LONG_ROW": 12, "TILE_STEP": 40, "FLUSH_LOG": 1, "GROUPS_PER_UNIT": 1}
    tuning = {f"hash_collisions/{name}.cl": sizes for name in ("planes", "lanes")}
    src, dst, _ = _with_long_row(11, 40, 70, 30)
    graph = Graph.from_edges(src, dst, n=45)
    given = session.profile
    for local_sums in (0, 1):
        tuning["hash_collisions/planes.cl"] = {**sizes, "LOCAL_SUMS": local_sums, "SIDE_BY_SIDE": local_sums}
        session.profile = replace(given, tuning=tuning)
        for strategy in ("row_per_item", "persistent"):
            arguments = {"strategy": strategy, "hashes": 2, "bit_widths": [1, 6], "session": session, "verify": True}
            hash_collisions(graph, tile=60, **arguments)
    for strategy in ("row_per_item", "row_per_sub_group"):
        arguments["strategy"] = strategy
        for options in ({"distinct": "bitmap"}, {"layout": "padded"}, {"layout": "compact"}):
            hash_collisions(graph, distance=2, **arguments, **options)
    hash_collisions(graph, **arguments)
    arguments |= {"distance": 2, "hashes": 1, "bit_widths": [4]}
    for strategy in ("row_per_item", "persistent"):
        hash_collisions(graph, **{**arguments, "strategy": strategy}, tile=40, layout="compact")


def colorings(session: Session) -> None:
    """Colour a small graph with a long row by every strategy, in work-groups of several work-items."""
    from clgraph.algorithms.color import STRATEGIES, color

    sizes = {"SMALL_DEGREE": 6, "HUB_DEGREE": 20, "BITMAP_WORDS": 2}
    names = "jones_plassmann", "jones_plassmann_large", "speculative", "speculative_hubs"
    tuning = {f"color/{name}.cl": sizes for name in names}
    session.profile = replace(session.profile, tuning=tuning)
    src, dst, _ = _with_long_row(12, 40, 120, 40)
    graph = Graph.from_edges(src, dst, n=45)
    for strategy, several in {
        "jones_plassmann": ({"balanced": True}, {"order": "smallest_last"}),
        "speculative": ({}, {"order": "natural"}, {"by": "edge"}),
        "hash_repair": ({}, {"deterministic": True}),
        "first_fit": ({}, {"order": "natural"}),
    }.items():
        for options in several if strategy in _supported(STRATEGIES, session) else ():
            color(graph, strategy=strategy, session=session, verify=True, **options)


def strong_components(session: Session) -> None:
    """Find strongly connected components of a small graph, in work-groups of several work-items."""
    from clgraph.algorithms.strongly_connected_components import STRATEGIES, strongly_connected_components

    src, dst, _ = _with_long_row(4, 60, 70, 40)
    graph = Graph.from_edges(src, dst, n=64, directed=True)
    for strategy in _supported(STRATEGIES, session):
        strongly_connected_components(graph, strategy=strategy, session=session, verify=True)


def distance_two(session: Session) -> None:
    """Colour a small graph with a long row at distance 2, and count conflicts, in groups of several work-items."""
    from clgraph.algorithms.color import color
    from clgraph.algorithms.color.conflicts import count_conflicts

    src, dst, _ = _with_long_row(12, 40, 60, 40)
    graph = Graph.from_edges(src, dst, n=45)
    for strategy, several in {
        "speculative": ({}, {"long_row": 3}), "hash_repair": ({}, {"deterministic": True}),
    }.items():  # fmt: skip
        for options in several:
            color(graph, distance=2, strategy=strategy, session=session, verify=True, **options)
    for distance in (1, 2):
        count_conflicts(graph, np.arange(45) % 7, distance=distance, session=session)


def communities(session: Session) -> None:
    """Find communities of small graphs by both methods, in work-groups of several work-items."""
    from clgraph.algorithms import communities

    src, dst, _ = _with_long_row(13, 40, 60, 20)
    for method, directed in (("leiden", False), ("louvain", True)):
        graph = Graph.from_edges(src, dst, np.arange(src.size) % 5, n=64, directed=directed)
        communities.communities(graph, method=method, iterations=1, session=session, verify=True)


def partitions(session: Session) -> None:
    """Partition small graphs with long rows, and isolated vertices, in work-groups of several work-items."""
    from clgraph.algorithms import partition
    from clgraph.algorithms.partition import multilevel, strategies

    warnings.simplefilter("ignore", RuntimeWarning)
    strategies._group = lambda *_: FEWEST_ITEMS
    src, dst, _ = _with_long_row(13, 60, 110, 30)
    graph = Graph.from_edges(src, dst, np.arange(src.size) % 5, n=64)
    strategies._MIN_COARSEST = 4
    for small in (1 << 12, 8):
        multilevel._SMALL = small
        options = {"coarsest": 1, "individuals": 2, "vertex_weights": np.arange(64) % 3}
        partition.partition(graph, 3, strategy="gpu", session=session, verify=True, **options)


def partition_variants(session: Session) -> None:
    """Partition a small graph by all variants of the phases, in work-groups of several work-items."""
    from clgraph.algorithms import partition
    from clgraph.algorithms.partition import strategies

    warnings.simplefilter("ignore", RuntimeWarning)
    strategies._group = lambda *_: FEWEST_ITEMS
    strategies._MIN_COARSEST = 4
    src, dst = np.random.default_rng(17).integers(40, size=(2, 90))
    graph = Graph.from_edges(src, dst, np.arange(src.size) % 5, n=42)
    for matching, contraction, refinement in (
        ("segmented", "sorted", "buffered"), ("segmented", "hashed", "permutations"),
    ):  # fmt: skip
        partition.partition(
            graph, 3, strategy="gpu", coarsest=1, individuals=1, matching=matching, contraction=contraction,
            refinement=refinement, top_k=3, drop_light_edges=True, session=session, verify=True,
        )  # fmt: skip


def rounds(session: Session) -> None:
    """Run searches by rounds over all vertices on a small graph with a long row."""
    from clgraph.algorithms.bfs import bfs
    from clgraph.algorithms.sssp import sssp

    src, dst, rng = _with_long_row(11, 60, 120, 60)
    graph = Graph.from_edges(src, dst, rng.integers(9, size=src.size), n=64, directed=True)
    for strategy, options in (
        ("topology_driven", {}), ("node_splitting", {"mda": 5}), ("child_launch", {"threshold": 5}),
    ):  # fmt: skip
        for atomic, balance in ((False, True), (True, False)):
            arguments = {"strategy": strategy, "session": session, "atomic": atomic, "balance": balance, **options}
            bfs(graph, 3, verify=True, **arguments)
            sssp(graph, 3, verify=True, **arguments)


def searches(session: Session) -> None:
    """Search small graphs with a long row as CPUs do, then as GPUs do, in one launch of one work-group of several."""
    from clgraph.algorithms import bfs, sssp
    from clgraph.algorithms.traversal import queues

    src, dst, rng = _with_long_row(12, 90, 100, 200)
    graph = Graph.from_edges(src, dst, rng.integers(4, size=src.size), n=210, directed=True)
    rounds = {"topology_driven", "node_splitting", "child_launch"}
    facts = session.facts
    for one_launch in (False, True):
        session.commands.facts = replace(facts, dialect=replace(facts.dialect, has_grid_barrier=one_launch))
        if one_launch:
            queues.group_count, queues.group_size = (lambda *_: 1), (lambda *_: FEW_ITEMS)
        for strategy in _supported(bfs.STRATEGIES, session) - rounds:
            bfs.bfs(graph, [3, 0], strategy=strategy, session=session, verify=True)
        for strategy in _supported(sssp.STRATEGIES, session) - rounds:
            sssp.sssp(graph, [3, 0], strategy=strategy, predecessors=True, session=session, verify=True)


def factorization_offline(session: Session) -> None:
    """Run matchings and sweeps in supersteps on few ratings, with work-groups of several work-items."""
    import test_factorization_supersteps as offline
    from factorization_checks import check_replay, random_ratings

    ratings = random_ratings(60, 12, 30, skew=1.0)
    expected = offline.matchings_of(session, ratings)
    np.testing.assert_array_equal(offline.matchings_of(session, ratings, 0, 20, FEW_ITEMS), expected)
    for strategy in offline.BY_RATING:
        check_replay(session, strategy, ratings)
    for strategy in offline.BY_ITEM:
        check_replay(session, strategy, ratings, work_group_size=FEW_ITEMS)
    offline.supersteps.has_grid_barrier = lambda _: True
    offline.supersteps.GROUPS_PER_UNIT = 0  # one work-group, which waits for no other
    check_replay(session, "matching_edge", ratings)


def factorization_blocks(session: Session) -> None:
    """Sweep over a grid of blocks, a launch for each step, and over block-diagonals; with weights, too."""
    from factorization_checks import check_replay, cross, random_weights

    ratings = cross(30)
    check_replay(session, "block_grid", ratings, biases=True, barrier="launch", n_groups=3)
    check_replay(session, "block_diagonal", ratings, biases=True, shape=(4, 7))
    check_replay(session, "block_grid", ratings, barrier="launch", n_groups=3, weights=random_weights(ratings))


def factorization_online(session: Session) -> None:
    """Sweep over a small matrix with a popular item and a busy user, by each strategy that runs online."""
    from factorization_checks import check_sweeps, cross
    from test_factorization_locks import ONLINE

    ratings = cross(40)
    for strategy in ONLINE:
        check_sweeps(session, strategy, ratings, 5, biases=True)


def planted(session: Session, path: str) -> None:
    """Run kernel ``planted`` of *path* on an initialised and an uninitialised array of N words."""
    array, unset = session.zeros(N, np.uint32), session.empty(N, np.uint32)
    session.program(path, work_group_size=WG_SIZE).bind("planted", N, unset=unset, out=array)()
    session.finish()


def main() -> None:
    DeviceArray.fill = _fill_by_copy
    globals()[sys.argv[1]](_GrindSession(), *sys.argv[2:])
    print("finished", flush=True)


if __name__ == "__main__":
    main()
