"""Colourings at distance 2 and of columns, against the definition; counts of conflicts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from coloring_checks import SHAPES, turns_of
from conftest import run_at_width
from graphs import DIRECTED, UNDIRECTED, with_unsorted_rows, with_wide_offsets
from oracles import count_conflicts, greedy_coloring

import clgraph as cg
from clgraph.algorithms.color import claims, strategies, windows
from clgraph.algorithms.color import problem as problems
from clgraph.algorithms.color.problem import as_problem
from clgraph.algorithms.color.vertex_orders import ORDERS
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.vertex_hashes import HASHES, hash_colors
from clgraph.errors import DeviceTimeoutError, GraphError, InputError, UnsupportedStrategyError, VerificationError
from clgraph.reference import color as reference
from clgraph.reference.color import check_coloring
from clgraph.runtime.session import Session

CASES_OF_TWO: list[tuple[str, dict[str, Any]]] = [
    ("speculative", {}),
    ("speculative", {"order": "largest_first", "long_row": 3}),  # a work-group for each of many vertices
    ("speculative", {"deterministic": True}),
    ("speculative", {"deterministic": True, "order": "random", "seed": 3}),
    ("hash_repair", {}),
    ("hash_repair", {"deterministic": True, "hash": "gray", "bits": 2}),
]


ON_SQUARE: list[tuple[str, dict[str, Any]]] = [("best_of_orders", {}), ("jones_plassmann", {"order": "smallest_last"})]


def with_hubs(n: int, n_hubs: int) -> Graph:
    """Return a path some of whose vertices have each half of all others as neighbours: nets of several windows."""
    rng = np.random.default_rng(0)
    hubs = [np.flatnonzero(rng.random(n) < 0.5) for _ in range(n_hubs)]
    src = np.concatenate([np.arange(n - 1), *(np.full(near.size, hub) for hub, near in enumerate(hubs))])
    return Graph.from_edges(src, np.concatenate([np.arange(1, n), *hubs]), n=n, duplicates="first", self_loops="drop")


SHAPES_OF_TWO: dict[str, Callable[[], Graph]] = {
    "complete": SHAPES["complete"],
    "star": lambda: cg.generators.star(3000),  # several windows of colours
    "odd-cycle": SHAPES["odd-cycle"],
    "hubs": lambda: with_hubs(4000, 5),
    "unsorted": lambda: with_unsorted_rows(cg.generators.rmat(8, 8, seed=3)),
    "wide-offsets": lambda: with_wide_offsets(cg.generators.rmat(8, 8, seed=3)),
}


N_COLORS = {"complete": 100, "star": 3000, "one-vertex": 1, "isolated": 1}


def two_hop(graph: Graph) -> sp.csr_array:
    """Return the pattern of pairs at distance 1 or 2."""
    closed = sp.csr_array(graph.to_scipy().astype(np.int64) + sp.eye_array(graph.n_vertices, dtype=np.int64))
    squared = (closed @ closed).tocsr()
    squared.setdiag(0)
    squared.eliminate_zeros()
    return squared


@pytest.mark.parametrize(("strategy", "options"), [*CASES_OF_TWO, *ON_SQUARE], ids=str)
@pytest.mark.parametrize("name", UNDIRECTED | SHAPES_OF_TWO)
def test_colorings_at_distance_two_are_proper(
    session: Session, name: str, strategy: str, options: dict[str, Any]
) -> None:
    graph = (UNDIRECTED | SHAPES_OF_TWO)[name]()
    if name == "wide-offsets" and "long_row" in options:
        pytest.skip("takes long to compile")
    n_colors, colors = cg.color(graph, distance=2, strategy=strategy, session=session, **options)
    check_coloring(graph, colors, distance=2)
    assert n_colors == colors.max(initial=-1) + 1
    if strategy == "speculative":  # Greedy colourings take at most this many; wide devices clash more.
        factor = 2 if session.facts.is_cpu else 3
        assert n_colors <= N_COLORS.get(name, factor * (1 + np.diff(two_hop(graph).indptr).max(initial=-1)))
    if name in N_COLORS:
        assert n_colors >= N_COLORS[name] or strategy == "hash_repair"


def test_the_check_agrees_with_pairs_at_distance_two() -> None:
    """The check and the oracle against pairs at distance 2, found by a product of matrices."""
    for name in ("grid", "random", "duplicates-self-loops", "star", "odd-cycle", "unsorted"):
        graph = (UNDIRECTED | SHAPES_OF_TWO)[name]()
        colors = greedy_coloring(graph, 2)
        check_coloring(graph, colors, 2)
        pairs = two_hop(graph).tocoo()
        for at in np.random.default_rng(0).integers(pairs.nnz, size=5):
            bad, (u, v) = colors.copy(), (int(pairs.coords[0][at]), int(pairs.coords[1][at]))
            bad[u] = bad[v]
            with pytest.raises(VerificationError, match=f"both of colour {colors[v]}"):
                check_coloring(graph, bad, 2)
            assert cg.count_conflicts(graph, bad, distance=2, session="pocl") >= 1
        assert cg.count_conflicts(graph, colors, distance=2, session="pocl") == 0
    for wrong, why in ((colors[1:], "needed"), (colors - 1, "numbered from 0"), (colors + 1, "no vertex has colour 0")):
        with pytest.raises(VerificationError, match=why):
            check_coloring(graph, wrong, 2)


def test_the_check_sees_faults_in_every_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "_CHUNK", 50)
    graph = UNDIRECTED["grid"]()
    colors = greedy_coloring(graph, 2)
    check_coloring(graph, colors, 2)
    colors[-1] = colors[-2]
    for distance, why in ((1, r"entry \(59[89], 59[89]\)"), (2, "row 5")):
        with pytest.raises(VerificationError, match=why):
            check_coloring(graph, colors, distance)


def test_conflicts_are_counted_as_by_definition(session: Session) -> None:
    rng = np.random.default_rng(0)
    for name in UNDIRECTED:
        graph = UNDIRECTED[name]()
        for n_colors in (1, 3, 50, 10**9):  # numbers above 2**22 are mapped to smaller ones
            colors = rng.integers(n_colors, size=graph.n_vertices)
            for distance in (1, 2):
                counted = cg.count_conflicts(graph, colors, distance=distance, session=session)
                assert counted == count_conflicts(graph, colors, distance)


def test_conflicts_are_those_of_the_table(pocl: Session) -> None:
    graph = cg.generators.rmat(9, 8, seed=2)
    for distance in (1, 2):
        table = cg.hash_collisions(graph, distance=distance, hashes=["murmur3"], bit_widths=[3], session=pocl)
        found = cg.count_conflicts(graph, table.colors("murmur3", 3), distance=distance, session=pocl)
        assert found * (3 - distance) == table.total[0, 0]


def test_a_row_of_100_000_entries_has_as_many_colors(pocl: Session) -> None:
    """A row of 10**5 entries, whose vertices need as many colours."""
    graph = cg.generators.star(100_001)
    for deterministic in (False, True):
        result = cg.color(graph, distance=2, deterministic=deterministic, session=pocl)
        n_colors, colors = result
        check_coloring(graph, colors, distance=2)
        assert n_colors == 100_001
        assert deterministic or result.info.details["windows"] <= 4  # nets of all sizes have room
    assert cg.count_conflicts(graph, colors, distance=2, session=pocl) == 0
    colors[[7, 77]] = 3
    assert cg.count_conflicts(graph, colors, distance=2, session=pocl) == 2


@pytest.mark.long
def test_hubs_have_bitmaps_of_their_own(session: Session) -> None:
    """Nets of many windows end in a few, with hardly more colours than the largest needs: rows and columns."""
    graph = with_hubs(6000, 3)
    matrix = sp.csr_array(np.random.default_rng(1).random((40, 5000)) < 0.6)
    for strategy, options in (("speculative", {}), ("speculative", {"long_row": 20}), ("hash_repair", {"bits": 3})):
        result = cg.color(graph, distance=2, strategy=strategy, session=session, verify=True, **options)
        assert graph.stats.max_degree < result.n_colors
        assert 2 <= result.info.details["windows"] <= 8
        if strategy == "speculative":
            assert result.n_colors <= 1.25 * (greedy_coloring(graph, 2).max() + 1)
        n_colors, _ = cg.color_columns(matrix, strategy=strategy, session=session, verify=True, **options)
        assert n_colors >= int(np.diff(matrix.indptr).max())


def test_a_hash_without_collisions_is_the_colouring(pocl: Session) -> None:
    """A hash colouring without collisions stays as it is."""
    graph = cg.generators.path(500)
    for deterministic in (False, True):
        options = {"hash": "identity", "bits": 2, "deterministic": deterministic}
        result = cg.color(graph, distance=2, strategy="hash_repair", session=pocl, **options)
        assert np.array_equal(result.colors, hash_colors("identity", 500, 2))
    result = cg.color(graph, distance=2, strategy="hash_repair", session=pocl)
    assert result.info.details["hash"] == "identity"


@pytest.mark.parametrize("distance", [1, 2])
def test_a_table_names_a_better_hash_than_a_sample(pocl: Session, distance: int) -> None:
    """A table, of all entries, names a hash of fewer collisions than that chosen from a sample."""
    graph = cg.generators.rmat(10, 16, seed=1) if distance == 1 else cg.generators.uniform_random(3000, 24000)
    options = {"distance": distance, "strategy": "hash_repair", "session": pocl}
    sampled = cg.color(graph, **options).info.details
    table = cg.hash_collisions(graph, distance=distance, hashes=HASHES, bit_widths=[sampled["bits"]], session=pocl)
    best = table.best()
    few, some = (
        cg.count_conflicts(graph, table.colors(name, best.bits), distance=distance, session=pocl)
        for name in (best.hash, sampled["hash"])
    )
    assert few < some and few * (3 - distance) == best.total
    result = cg.color(graph, hash=best.hash, bits=best.bits, verify=True, **options)
    assert result.info.details["hash"] == best.hash


@pytest.mark.parametrize("shape", [(60, 90), (90, 60), (8, 2000), (2000, 5), (1, 1), (4, 0), (0, 4)])
def test_columns_of_a_row_differ_in_color(session: Session, shape: tuple[int, int]) -> None:
    matrix = sp.random_array(shape, density=0.08, rng=np.random.default_rng(1), format="csc")
    longest = np.diff(matrix.tocsr().indptr).max(initial=0)
    for strategy, options in (*CASES_OF_TWO[:3], *CASES_OF_TWO[4:], *ON_SQUARE):
        result = cg.color_columns(matrix, strategy=strategy, session=session, verify=True, **options)
        assert result.colors.shape == shape[1:] and result.n_colors >= longest
        check_coloring(matrix, result.colors, 2, bipartite=True)
        assert cg.count_conflicts(matrix, result.colors, distance=2, bipartite=True, session=session) == 0
    colors = np.random.default_rng(2).integers(4, size=shape[1])
    found = cg.count_conflicts(matrix, colors, distance=2, bipartite=True, session=session)
    assert found == count_conflicts(matrix, colors, 2, bipartite=True)
    if found:
        with pytest.raises(VerificationError, match="both of colour"):
            check_coloring(matrix, colors.astype(np.int32), 2, bipartite=True)


def test_columns_of_directed_graphs_are_coloured(pocl: Session) -> None:
    for make in DIRECTED.values():
        graph = make()
        result = cg.color(graph, distance=2, bipartite=True, session=pocl, verify=True)
        assert result.n_colors >= min(1, graph.n_vertices)
        cg.color_columns(graph, deterministic=True, session=pocl, verify=True)


def test_auto_starts_from_a_hash_that_suffices(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Auto needs no square if a few hash colours differ: in cliques of 8 and rows of 4 columns, not in cliques of 9."""
    monkeypatch.setattr(strategies, "MAX_PAIRS", 0)

    def cliques(size: int, repeats: int = 1) -> Graph:
        ends = sp.block_diag([sp.coo_array(np.triu(np.ones((size, size)), 1))] * 40).coords
        return Graph.from_edges(*(np.tile(end, repeats) for end in ends))

    for deterministic in (False, True):
        found = cg.color(
            cliques(8), distance=2, deterministic=deterministic, prefer="colors", session=pocl, verify=True
        )
        assert (found.info.strategy, found.n_colors) == ("hash_repair", 8)
    for graph, n_colors in ((cliques(9), 9), (cliques(8, 9), 8), (cliques(4, 5), 4)):  # repeats are no members
        found = cg.color(graph, distance=2, prefer="colors", session=pocl, verify=True)
        assert found.info.strategy == "speculative"
        assert n_colors <= found.n_colors <= n_colors + 2  # one more was seen where 16 cores race
    band = cg.color_columns(sp.diags_array([np.ones(97)] * 4, offsets=range(4), shape=(97, 100)), session=pocl)
    assert (band.info.strategy, band.n_colors) == ("hash_repair", 4)


@pytest.mark.parametrize("as_on_gpus", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_colours_on_the_square_are_greedy(
    session: Session, monkeypatch: pytest.MonkeyPatch, order: str, as_on_gpus: bool
) -> None:
    """The sequential algorithm gives the same colours, in the order of the square, on CPUs and as on GPUs."""
    matrix = sp.random_array((50, 80), density=0.06, rng=np.random.default_rng(4), format="csr")
    for data, options in (
        (cg.generators.delaunay_points(150, seed=2), {}),
        (UNDIRECTED["duplicates-self-loops"](), {}),
        (matrix, {"bipartite": True}),
        (matrix.T.tocsr(), {"bipartite": True}),
    ):
        problem = as_problem(data, distance=2, order=order, seed=5, **options)
        n = problem.graph.n_vertices if problem.n_columns is None else problem.n_columns
        turns = [v for v in turns_of(problem.on_square.graph, session, order, 5) if v < n]
        expected = greedy_coloring(data, 2, turns, **options)
        with monkeypatch.context() as patch:
            patch.setattr(session.commands, "facts", replace(session.facts, is_cpu=not as_on_gpus))
            found = cg.color(
                data, distance=2, order=order, prefer="colors", seed=5, session=session, verify=True, **options
            )
        assert found.info.strategy == "jones_plassmann" and found.colors.tolist() == expected.tolist()


def test_columns_take_no_more_colors_than_greedy_by_degree(session: Session) -> None:
    for seed in range(4):
        matrix = sp.random_array((200, 600), density=0.02, rng=np.random.default_rng(seed), format="csr")
        found = cg.color_columns(matrix, session=session, verify=True)
        pattern = matrix.astype(bool).astype(int)
        degrees = ((pattern.T @ pattern) != 0).sum(axis=1)
        by_degree = greedy_coloring(matrix, 2, np.argsort(-degrees, kind="stable").tolist(), bipartite=True)
        orders = [cg.color_columns(matrix, order=order, session=session).n_colors for order in ORDERS]
        assert found.n_colors <= min(by_degree.max() + 1, *orders)
        assert found.n_colors <= min(found.info.details["n_colors_of"].values())
        assert set(found.info.details["n_colors_of"]) >= {"speculative", "hash_repair"}


def test_rows_too_long_for_a_square_leave_other_strategies(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = sp.csr_array(np.ones((9, 9)))
    for module in (strategies, problems):
        monkeypatch.setattr(module, "MAX_PAIRS", 9 * 81 - 1)
    assert cg.color_columns(matrix, session=pocl).info.strategy in ("speculative", "hash_repair")
    for strategy in ("jones_plassmann", "best_of_orders"):
        with pytest.raises(UnsupportedStrategyError, match="729 pairs"):
            cg.color_columns(matrix, strategy=strategy, session=pocl)
    with pytest.raises(InputError, match=r"order='smallest_last': .*729 pairs"):
        cg.color_columns(matrix, order="smallest_last", session=pocl)
    monkeypatch.setattr(strategies, "MAX_PAIRS", 9 * 81)
    assert cg.color_columns(matrix, session=pocl).info.strategy == "best_of_orders"


def test_explain_tells_the_choice_at_distance_two(pocl: Session) -> None:
    for data, options, expected in (
        (sp.random_array((60, 90), density=0.1), {"bipartite": True, "prefer": "colors"}, "best_of_orders"),
        (DIRECTED["directed-path"](), {"bipartite": True, "order": "random", "prefer": "colors"}, "jones_plassmann"),
    ):
        choice = cg.explain("color", data, distance=2, session=pocl, **options)
        assert choice.strategy == expected and choice.contenders == (expected,)
    for why, wrong in (
        ("no reverse", {"distance": 2}),
        ("at distance 2", {"bipartite": True}),
        ("no argument by", {"by": "edge"}),
    ):
        with pytest.raises(InputError, match=why):
            cg.explain("color", DIRECTED["directed-path"](), session=pocl, **wrong)


@pytest.mark.parametrize("deterministic", [False, True])
def test_balanced_classes_differ_less_at_distance_two(pocl: Session, deterministic: bool) -> None:
    graph = cg.generators.delaunay_points(900)
    options = {"distance": 2, "deterministic": deterministic, "session": pocl, "verify": True}
    plain, balanced = (cg.color(graph, balanced=b, **options) for b in (False, True))
    assert balanced.n_colors <= plain.n_colors + (0 if deterministic else 2)
    assert balanced.class_sizes.std() < 0.5 * plain.class_sizes.std()


def test_wrong_calls_and_matrices_are_refused_and_stuck_kernels_end(
    pocl: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, matrix = cg.generators.path(5), sp.csr_array(np.ones((2, 3)))
    asymmetric = Graph.from_edges([0], [1], directed=True)
    for error, why, call in (
        (InputError, "no reverse", lambda: cg.color(asymmetric, distance=2, session=pocl)),
        (InputError, "no reverse", lambda: cg.count_conflicts(asymmetric, [0, 1], session=pocl)),
        (InputError, "at distance 2", lambda: cg.color(graph, bipartite=True, session=pocl)),
        (InputError, "distance = 3", lambda: cg.count_conflicts(graph, [0] * 5, distance=3, session=pocl)),
        (InputError, "distance = array", lambda: cg.count_conflicts(graph, [0] * 5, distance=np.ones(2), session=pocl)),
        (InputError, "bipartite=True", lambda: cg.count_conflicts(matrix, [0] * 3, bipartite=True, session=pocl)),
        (InputError, "needed: integers", lambda: cg.count_conflicts(graph, [0] * 4, session=pocl)),
        (InputError, "needed: integers", lambda: cg.count_conflicts(graph, [0.5] * 5, session=pocl)),
        (InputError, r"colors\[2\] = -1", lambda: cg.count_conflicts(graph, [0, 1, -1, 0, 1], session=pocl)),
        (
            UnsupportedStrategyError,
            "smallest_last",
            lambda: cg.color_columns(matrix, strategy="speculative", order="smallest_last", session=pocl),
        ),
        (InputError, "ndarray is not a graph", lambda: cg.color_columns(np.ones((2, 2)), session=pocl)),
        (InputError, "bits = 11", lambda: cg.color_columns(matrix, strategy="hash_repair", bits=11, session=pocl)),
        (InputError, "'md5'", lambda: cg.color_columns(matrix, strategy="hash_repair", hash="md5", session=pocl)),
        (InputError, "long_row", lambda: cg.color(graph, strategy="speculative", long_row=1, session=pocl)),
    ):
        with pytest.raises(error, match=why):
            call()
    damaged, wrapping = sp.csr_array(np.ones((2, 3))), sp.csr_array(np.eye(6))
    damaged.indices[1] = 7
    wrapping.indptr = np.array([0, *range(1, 6), 0], np.uint64) * 2**60
    for broken in (damaged, wrapping):
        with pytest.raises(GraphError, match="damaged"):
            cg.color_columns(broken, session=pocl)
    # Kernels that colour nothing.
    monkeypatch.setattr(windows, "_PATIENCE", 3)
    monkeypatch.setattr(windows.Windows, "_step", lambda self, *_: len([p.state.fill(9) for p in self._parts]))
    monkeypatch.setattr(claims.Claims, "_window", lambda *_: None)
    for deterministic in (False, True):
        with pytest.raises(DeviceTimeoutError, match="distance 2"):
            cg.color(graph, distance=2, deterministic=deterministic, session=pocl)


def test_zeros_in_the_blocks_of_a_bsr_matrix_join_no_columns(pocl: Session) -> None:
    identity = sp.bsr_array(np.eye(6), blocksize=(3, 3))
    assert cg.color_columns(identity, session=pocl, verify=True).n_colors == 1
    assert cg.count_conflicts(identity, [0] * 6, distance=2, bipartite=True, session=pocl) == 0
    assert count_conflicts(identity, np.zeros(6, int), 2, bipartite=True) == 0


@pytest.mark.parametrize("width", [16, 64])
def test_colorings_at_distance_two_are_proper_at_every_sub_group_width(width: int) -> None:
    script = (
        "import clgraph as cg; from oracles import count_conflicts as count;"
        f"graphs = [cg.generators.{'rmat(9, 16)' if width < 64 else 'delaunay_points(900)'}];"
        "[cg.color(g, distance=2, strategy=k, session=s, verify=True, **o)"
        f" for k, o in {[*CASES_OF_TWO[:3], CASES_OF_TWO[4]]} for g in graphs];"
        "bad = [(g, cg.color(g, session=s).colors) for g in graphs];"
        "assert all(cg.count_conflicts(g, c, distance=d, session=s) == count(g, c, d) for g, c in bad for d in (1, 2))"
    )
    run_at_width(width, script)
