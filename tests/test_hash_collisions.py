"""Hash colourings: the functions on host and device, and their collisions by every strategy against the definition."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from conftest import run_at_width
from graphs import DIRECTED, UNDIRECTED, with_unsorted_rows, with_wide_offsets
from hypothesis import given, settings
from hypothesis import strategies as st

import clgraph as cg
from clgraph.algorithms.hash_collisions import as_problem, hash_collisions, lanes, planes
from clgraph.algorithms.hash_collisions.lanes import BITMAP_BITS
from clgraph.algorithms.hash_collisions.plan import CollisionPlan
from clgraph.algorithms.hash_collisions.strategies import STRATEGIES
from clgraph.algorithms.hash_collisions.table import CollisionTable
from clgraph.cli.collisions_plot import _short, plot_collisions
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.vertex_hashes import HASHES, hash_colors
from clgraph.errors import InputError, MissingExtraError, VerificationError
from clgraph.reference.hash_collisions import check_collisions
from clgraph.reference.hash_collisions import hash_collisions as oracle
from clgraph.runtime.programs.source import kernel_root
from clgraph.runtime.session import Session

DISTANCE_ONE: list[tuple[str, dict[str, object]]] = [
    ("row_per_item", {}), ("row_per_item", {"tile": 40}), ("row_per_sub_group", {}), ("persistent", {}),
    ("persistent", {"tile": 333}),
]  # fmt: skip
DISTANCE_TWO: list[tuple[str, dict[str, object]]] = [
    (name, options)
    for name in STRATEGIES
    for options in ({"distinct": "bitmap"}, {"layout": "padded"}, {"layout": "compact"})
] + [("row_per_item", {"tile": 100, "layout": "padded"}), ("row_per_sub_group", {"tile": 100, "layout": "compact"})]
CASES = [(1, *case) for case in DISTANCE_ONE] + [(2, *case) for case in DISTANCE_TWO]
every_case = pytest.mark.parametrize(("distance", "strategy", "options"), CASES, ids=str)
# Hashes, widths and the longest row are compiled into the kernels, which takes most of the time here: so tests share
# them as far as they can.
TABLE: dict[str, Any] = {"hashes": 5, "bit_widths": [1, 2, 3, 4, 7]}


def assert_right(
    graph: Graph, session: Session, distance: int, strategy: str, options: dict[str, Any], **arguments: Any
) -> CollisionTable:
    table = hash_collisions(graph, distance=distance, strategy=strategy, session=session, **arguments, **options)
    check_collisions(graph, table.hashes, table.bit_widths, *table, distance=distance)
    return table


# ---- the hash functions


def test_hashes_have_known_values() -> None:
    def of(name: str, *values: int) -> list[int]:
        return HASHES[name](np.array(values, np.uint32)).tolist()

    assert of("murmur3", 0, 1) == [0, 0x514E28B7]
    assert of("fibonacci", 1) == [int(f"{0x9E3779B9:032b}"[::-1], 2)]
    assert of("xorshift", 1) == [270369]
    assert of("splitmix64", 0) == [0xE220A8397B1DCDAF & 0xFFFFFFFF]
    assert of("fnv1a", 0) == [0x4B95F515]
    assert of("crc32c", 0) == [0x48674BC7]
    assert of("xxhash32", 0) == [0x08D6D969]
    assert of("bit_reversal", 1, 0xABCD0001) == [0x8000, 0xABCD8000]
    assert of("gray", 2, 3) == [3, 2]


def test_every_hash_has_a_function_and_is_documented() -> None:
    assert len(HASHES) >= 15
    text = (kernel_root() / "common" / "hashes.h").read_text(encoding="utf-8")
    assert all(f"INLINE uint hash_{name}(" in text for name in HASHES)
    documented = str(sys.modules["clgraph.data.graphs.vertex_hashes"].__doc__)
    assert all(f"``{name}``" in documented for name in HASHES)


def test_hashes_are_the_same_on_the_device(session: Session) -> None:
    n, bits, names = 70_000, 31, list(HASHES)
    for some in (names[:16], names[16:]):
        problem = as_problem(cg.generators.path(n), distance=1, hashes=some, bit_widths=[bits])
        plan = STRATEGIES["row_per_sub_group"].plan(session, problem)
        plan.run()
        colors = plan.used[0].arrays["colors"].get().reshape(n, -1)
        for k, name in enumerate(some):
            assert np.array_equal(colors[:, k], hash_colors(name, n, bits))


# ---- the counts


def complete(n: int) -> Graph:
    return Graph.from_edges(*np.triu_indices(n, 1), n=n)


def with_hub(n: int) -> Graph:
    """A row of *n* entries, some of them twice, among short ones."""
    rng = np.random.default_rng(1)
    src, dst = rng.integers(n, size=(2, n // 2))
    hub = np.zeros(n + n // 10, np.int64)
    return Graph.from_edges(np.append(hub, src), np.append(np.append(np.arange(n), np.arange(n // 10)), dst), n=n + 5)


SHAPES: dict[str, Callable[[], Graph]] = {
    "complete": lambda: complete(90),
    "odd-cycle": lambda: cg.generators.cycle(201),
    "bipartite": lambda: Graph.from_edges(*(side.ravel() for side in np.mgrid[:40, 40:90])),
    "medium-rows": lambda: cg.generators.uniform_random(700, 40_000),
    "hub": lambda: with_hub(2500),
    "rows-up-to-a-power": lambda: Graph.from_edges(
        np.repeat(np.arange(9), 2 ** np.arange(9)), np.concatenate([9 + np.arange(2**k) for k in range(9)])
    ),
}


def together(*graphs: Graph) -> Graph:
    """One graph with the vertices and edges of all of these."""
    starts = np.cumsum([0, *(graph.n_vertices for graph in graphs)])
    edges = [np.stack(graph.edge_list()[:2]) + start for graph, start in zip(graphs, starts, strict=False)]
    return Graph.from_edges(*np.concatenate(edges, axis=1), n=int(starts[-1]))


@cache
def everything() -> tuple[Graph, dict[int, Any]]:
    """The zoo, other shapes and a row of 10**5 entries, and their tables at both distances."""
    graph = together(*(make() for make in (UNDIRECTED | SHAPES).values()), with_hub(100_000))
    problem = as_problem(graph, distance=1, **TABLE)
    return graph, {d: oracle(graph, problem.hashes, problem.bit_widths, distance=d) for d in (1, 2)}


@every_case
@pytest.mark.long
def test_every_kind_of_row_is_counted(
    session: Session, distance: int, strategy: str, options: dict[str, object]
) -> None:
    graph, expected = everything()
    plan = STRATEGIES[strategy].plan(session, as_problem(graph, distance=distance, **TABLE), **options)
    for _ in range(2):  # a plan may run again
        plan.run()
        for found, right in zip(plan.table(), expected[distance], strict=True):
            assert np.array_equal(found, right)


@every_case
@pytest.mark.long
def test_long_rows_and_tables_in_parts_are_counted(
    pocl: Session, distance: int, strategy: str, options: dict[str, object]
) -> None:
    """Rows may be sorted in global memory."""
    for graph, table in (
        (with_hub(2500), TABLE),
        (together(*map(with_hub, [2500] * 20)), TABLE),
        (cg.generators.path(50), {"hashes": len(HASHES), "bit_widths": [1, 2, 3, 4]}),
    ):
        assert_right(graph, pocl, distance, strategy, options, **table)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("distance", [1, 2])
def test_tables_of_small_graphs_are_those_of_the_oracle(session: Session, distance: int, strategy: str) -> None:
    for name in ("empty", "one-vertex", "one-self-loop", "isolated", "some-isolated", "path", "size-511", "size-513"):
        assert_right(UNDIRECTED[name](), session, distance, strategy, {}, **TABLE)


# As many as one launch counts and more; colours in 16 bits, in bitmaps and beyond. Here persistent is as row_per_item.
WIDTHS: list[tuple[int, str, Any]] = [
    *((1, "row_per_item", widths) for widths in ([1], [1, 31], [2, 3, 7], range(1, 32))),
    *((1, "row_per_sub_group", widths) for widths in ([1], [16], range(1, 32))),
    *((2, "row_per_item", widths) for widths in ([1], [16], range(1, 32))),
    *((2, "row_per_sub_group", widths) for widths in ([1, 12], [1, 17])),
]


@pytest.mark.parametrize(
    ("distance", "strategy", "widths"), WIDTHS, ids=lambda value: "all" if isinstance(value, range) else str(value)
)
@pytest.mark.long
def test_every_bit_width_is_counted(pocl: Session, distance: int, strategy: str, widths: Any) -> None:
    graph = together(cg.generators.rmat(7, 8), with_hub(1500))
    assert_right(graph, pocl, distance, strategy, {}, bit_widths=widths, hashes=4)


@pytest.mark.parametrize(
    ("distance", "strategy", "hashes"),
    [
        (1, "row_per_item", 1), (1, "row_per_item", len(HASHES)), (1, "row_per_item", ["gray", "identity", "crc32c"]),
        (1, "row_per_sub_group", 1), (1, "row_per_sub_group", 16),
        (2, "row_per_item", 16), (2, "row_per_sub_group", 2), (2, "row_per_sub_group", len(HASHES)),
    ],
    ids=str,
)  # fmt: skip
def test_every_choice_of_hashes_is_counted(pocl: Session, distance: int, strategy: str, hashes: Any) -> None:
    table = assert_right(cg.generators.rmat(8, 8), pocl, distance, strategy, {}, hashes=hashes, bit_widths=[1, 4])
    assert table.hashes == (tuple(HASHES)[:hashes] if isinstance(hashes, int) else tuple(hashes))


def test_entries_of_the_closed_row_are_a_set() -> None:
    """Three times the same edge and a self-loop: at distance 1 entries count, at distance 2 vertices do."""
    graph = Graph.from_edges([0, 0, 0, 0, 2], [2, 2, 2, 0, 4], n=5)
    for distance, total, maximum in ((1, 8, 4), (2, 4, 2)):
        found = oracle(graph, ["identity"], [1], distance=distance)
        assert [table.tolist() for table in found] == [[[total]], [[maximum]]]


@pytest.mark.parametrize("distance", [1, 2])
def test_the_oracle_takes_a_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch, distance: int) -> None:
    graph, hashes, widths = cg.generators.rmat(7, 8), list(HASHES)[:3], (1, 2, 5, 30)
    expected = oracle(graph, hashes, widths, distance=distance)
    monkeypatch.setattr("clgraph.reference.entries._CHUNK", 50)
    monkeypatch.setattr("clgraph.reference.hash_collisions._CELLS", 0)
    assert all(map(np.array_equal, oracle(graph, hashes, widths, distance=distance), expected))


def test_unsorted_rows_with_parallel_edges_are_sets(pocl: Session) -> None:
    graph = cg.generators.rmat(8, 8)
    shuffled = with_unsorted_rows(Graph(2 * graph.row_offsets, np.repeat(graph.column_indices, 2)))
    assert not shuffled.has_sorted_rows
    for distance, strategy in ((1, "row_per_item"), (1, "row_per_sub_group"), (2, "row_per_sub_group")):
        assert_right(shuffled, pocl, distance, strategy, {}, **TABLE)


@pytest.mark.parametrize(
    ("distance", "strategy", "options"),
    [
        (1, "row_per_item", {}), (1, "row_per_sub_group", {}), (2, "row_per_sub_group", {}),
        (2, "row_per_item", {"tile": 100, "layout": "padded"}),  # longer rows are sorted in global memory
    ],
    ids=str,
)  # fmt: skip
def test_int64_offsets_are_read(session: Session, distance: int, strategy: str, options: dict[str, object]) -> None:
    assert_right(with_wide_offsets(with_hub(3000)), session, distance, strategy, options, hashes=2, bit_widths=[3])


_ROWS = {"LONG_ROW": 40, "FLUSH_LOG": 1}
TUNINGS: list[tuple[int, str, str, dict[str, int]]] = [
    *((1, "persistent", planes.SOURCE,
       {"WG_SIZE": size, "BATCH": batch, **_ROWS, "LOCAL_SUMS": int(batch > 4), "SIDE_BY_SIDE": int(size > 16)})
      for size, batch in ((1, 8), (16, 4), (64, 8), (128, 4))),
    *((distance, "persistent" if distance == 2 else "row_per_sub_group", lanes.SOURCE, tuning)
      for distance in (1, 2)
      for tuning in ({"WG_SIZE": 64, "LONG_ROW": 40, "TILE_STEP": 100, "GROUPS_PER_UNIT": 1},
                     {"WG_SIZE": 32, "LONG_ROW": 7, "TILE_STEP": 9000, "EVALUATE": 1})),
]  # fmt: skip


@pytest.mark.parametrize(("distance", "strategy", "source", "tuning"), TUNINGS, ids=str)
@pytest.mark.long
def test_other_sizes_of_groups_count_the_same(
    pocl: Session, distance: int, strategy: str, source: str, tuning: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups of several work-items, which CPUs have not by themselves, and few rows and entries at a time."""
    profile = replace(pocl.profile, tuning={**pocl.profile.tuning, source: tuning})
    monkeypatch.setattr(pocl, "profile", profile)
    graph = together(cg.generators.rmat(9, 16), cg.generators.grid(40, 41))
    assert_right(graph, pocl, distance, strategy, {}, **TABLE)


def test_sums_that_wrap_are_exact(pocl: Session) -> None:
    """Totals have two words; the low one may wrap in any of the additions."""
    problem = as_problem(cg.generators.rmat(8, 8), distance=1, **TABLE)
    plan = STRATEGIES["row_per_item"].plan(pocl, problem)
    plan.run()
    total, maximum = plan.table()
    (part,) = plan.used
    part.arrays["counters"].fill(0xFFFFFFFF, 0, total.size)
    for step in part._steps[1:]:
        step()
    again, _ = plan.table()
    assert np.array_equal(again, total + 0xFFFFFFFF) and (total > 0).all() and (maximum > 0).all()


@given(
    n=st.integers(1, 80), edges=st.lists(st.tuples(st.integers(0, 79), st.integers(0, 79)), max_size=60),
    case=st.sampled_from(CASES),
)  # fmt: skip
@settings(max_examples=40)
def test_tables_of_random_graphs_are_right(
    n: int, edges: list[tuple[int, int]], case: tuple[int, str, dict[str, object]], pocl: Session
) -> None:
    pairs = np.array([(u % n, v % n) for u, v in edges], np.int64).reshape(-1, 2)
    assert_right(Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n), pocl, *case, **TABLE)


@pytest.mark.parametrize("width", [8, pytest.param(32, marks=pytest.mark.slow), 64])
def test_tables_are_right_at_every_sub_group_width(width: int) -> None:
    cases = [case for case in CASES if case[2] in ({}, {"distinct": "bitmap"}) and case[1] != "persistent"]
    script = (
        "import clgraph as cg;"
        "[cg.hash_collisions(g, distance=d, strategy=k, session=s, hashes=3, bit_widths=[1, 2, 3], verify=True, **o)"
        f" for d, k, o in {cases} for g in (cg.generators.rmat(9, 16), cg.generators.star(1500))]"
    )
    run_at_width(width, script)


# ---- the result


def test_a_table_is_shown_by_hash_and_bits(pocl: Session) -> None:
    graph = cg.generators.grid(20, 20)
    table = cg.hash_collisions(graph, hashes=["murmur3", "identity"], bit_widths=[1, 2, 5], session=pocl)
    total, maximum = table
    assert isinstance(table, cg.CollisionTable) and total is table.total and maximum is table.maximum
    assert total.dtype == maximum.dtype == np.int64 and total.shape == maximum.shape == (2, 3)
    assert table.hashes == ("murmur3", "identity") and table.bit_widths == (1, 2, 5)
    assert table.n_vertices == 400 and table.distance == 1
    lines = str(table).splitlines()
    assert len(lines) == 4 and lines[2].split()[0] == "murmur3" and lines[0].endswith("5 bits")
    assert f"{total[0, 0]} ({maximum[0, 0]})" in lines[2]
    colors = table.colors("murmur3", 2)
    assert colors.dtype == np.int32 and set(colors.tolist()) == {0, 1, 2, 3}
    same = colors[graph.sources()] == colors[graph.column_indices]
    assert same.sum() == total[0, 1]


def test_best_is_the_least_that_fits_max_colors() -> None:
    table = CollisionTable(np.array([[9, 5, 3], [9, 3, 3]]), np.array([[4, 3, 2], [5, 2, 1]]))
    table.hashes, table.bit_widths = ("murmur3", "gray"), (1, 3, 6)
    assert table.best() == ("gray", 3, 3, 2)
    assert table.best(max_colors=7) == ("murmur3", 1, 9, 4)
    assert table.best(max_colors=8).bits == 3
    for few in (1, 0, -3, 2.5):
        with pytest.raises(InputError):
            table.best(max_colors=few)  # type: ignore[arg-type]


def test_matrices_and_networkx_graphs_have_tables(pocl: Session) -> None:
    graph = nx.Graph([("a", "b"), ("c", "d"), ("d", "a")])
    expected = hash_collisions(Graph.from_networkx(graph), session=pocl)
    for other in (graph, nx.to_scipy_sparse_array(graph), graph.to_directed()):
        assert np.array_equal(hash_collisions(other, session=pocl).total, expected.total)


@pytest.mark.parametrize("options", [{}, {"distance": 2}, {"distance": 2, "bit_widths": [BITMAP_BITS + 1]}], ids=str)
def test_auto_is_the_fastest_prediction(pocl: Session, options: dict[str, Any]) -> None:
    choice = cg.explain("hash_collisions", cg.generators.rmat(10), session=pocl, **options)
    assert choice.requested == "auto" and choice.strategy == min(choice.seconds, key=choice.seconds.__getitem__)


@pytest.mark.parametrize("distance", [1, 2])
def test_an_asymmetric_graph_is_refused(pocl: Session, distance: int) -> None:
    graph = DIRECTED["directed-path"]()
    with pytest.raises(InputError, match=r"entry \(0, 1\) has no reverse.*from_edges"):
        hash_collisions(graph, distance=distance, session=pocl)
    both = Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 3, 4], directed=True)  # the pattern counts
    assert hash_collisions(both, distance=distance, session=pocl).total.shape == (15, 10)


@pytest.mark.parametrize("wrong", [0, 1])
def test_verify_finds_a_wrong_answer(pocl: Session, monkeypatch: pytest.MonkeyPatch, wrong: int) -> None:
    graph = cg.generators.grid(5, 5)
    hash_collisions(graph, session=pocl, verify=True)
    real = CollisionPlan.table

    def off_by_one(plan: CollisionPlan) -> Any:
        tables = real(plan)
        tables[wrong][3, 2] += 1
        return tables

    monkeypatch.setattr(CollisionPlan, "table", off_by_one)
    with pytest.raises(VerificationError, match="tabulation at 3 bits"):
        hash_collisions(graph, session=pocl, verify=True)


def test_a_table_is_drawn(pocl: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = hash_collisions(cg.generators.grid(9, 9), session=pocl)
    plot_collisions(table, tmp_path / "collisions.svg", "grid of 81")
    assert (tmp_path / "collisions.svg").stat().st_size > 10_000
    with pytest.raises(InputError):
        plot_collisions(table, tmp_path / "collisions.nonsense", "grid")
    drawn: list[Any] = []
    with monkeypatch.context() as context:
        context.setattr("matplotlib.figure.Figure.savefig", lambda figure, path: drawn.append(figure))
        plot_collisions(table, tmp_path / "collisions.png", "grid of 81")
    total, most, _ = drawn[0].axes
    assert "grid of 81 (81 vertices)" in drawn[0].get_suptitle() and total.get_ylabel() and total.get_xlabel()
    assert [tick.get_text() for tick in most.get_xticklabels()] == list(map(str, table.bit_widths))
    shown = [tick.get_text() for tick in total.get_yticklabels()]
    assert sorted(shown) == sorted(table.hashes)
    for axes, counts in ((total, table.total), (most, table.maximum)):
        values = np.array([int(text.get_text()) for text in axes.texts]).reshape(counts.shape)
        assert np.array_equal(values[shown.index("murmur3")], counts[table.hashes.index("murmur3")])
    assert [_short(n) for n in (0, 9_999, 12_345, 123_812_032)] == ["0", "9,999", "12.3k", "124M"]
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'matplotlib>=3\.8'"):
        plot_collisions(table, tmp_path / "collisions.svg", "grid")
