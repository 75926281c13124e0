"""Every strategy of colouring on every device, at distances 1 and 2 and of columns, against the definition."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import run_at_width
from graphs import DIRECTED, UNDIRECTED, with_unsorted_rows, with_wide_offsets
from oracles import count_conflicts, greedy_coloring

import clgraph as cg
from clgraph.algorithms.color import Coloring, claims, color, speculation, strategies, vertex_orders, windows
from clgraph.algorithms.color import plan as coloring_plan
from clgraph.algorithms.color import problem as problems
from clgraph.algorithms.color.plan import ranks
from clgraph.algorithms.color.problem import ColoringProblem, as_problem
from clgraph.algorithms.color.strategies import STRATEGIES, contenders
from clgraph.algorithms.color.vertex_orders import (
    ORDERS,
    most_need_few,
    order_constant,
    suitable_order,
    vertex_order,
)
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.vertex_hashes import HASHES, hash_colors
from clgraph.errors import DeviceTimeoutError, GraphError, InputError, UnsupportedStrategyError, VerificationError
from clgraph.reference import color as reference
from clgraph.reference.color import check_coloring
from clgraph.runtime.driver.failure import STATUS_TIMEOUT
from clgraph.runtime.session import Session

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "best_of_orders": [{}, {"deterministic": True}],
    "jones_plassmann": [{}, {"order": "smallest_last"}],
    "speculative": [{}, {"order": "largest_first"}, {"deterministic": True}, {"by": "edge"}],
    "hash_repair": [{}, {"deterministic": True, "hash": "gray", "bits": 3}],
}
CASES = [(name, options) for name, several in OPTIONS.items() for options in several]
_PHASE_SIZE = order_constant("PHASE_SIZE")
every_case = pytest.mark.parametrize(("strategy", "options"), CASES, ids=str)

SHAPES: dict[str, Callable[[], Graph]] = {
    "scale-free": lambda: cg.generators.rmat(12, 16),
    "dense": lambda: cg.generators.uniform_random(700, 60000),  # more colours than one word has bits
    "complete": lambda: Graph.from_scipy(sp.csr_array(np.ones((100, 100)))),
    "star": lambda: cg.generators.star(9000),  # a row that is a hub to every strategy
    "odd-cycle": lambda: cg.generators.cycle(501).permuted(3),
}


def turns_of(graph: Graph, session: Session, order: str, seed: int = 0) -> list[int]:
    """Return the vertices in the order of the device's priorities."""
    priorities = ranks(session, graph, order, seed).get().astype(np.int64)
    turns: list[int] = np.lexsort((np.arange(priorities.size), -priorities)).tolist()
    return turns


def assert_greedy(graph: Graph, session: Session, order: str, seed: int = 0) -> None:
    """Check that colours are those of the sequential algorithm in the order of the device's priorities."""
    expected = greedy_coloring(graph, 1, turns_of(graph, session, order, seed)).tolist()
    found = color(graph, strategy="jones_plassmann", order=order, seed=seed, session=session).colors
    assert found.tolist() == expected


def tune(monkeypatch: pytest.MonkeyPatch, session: Session, **sizes: dict[str, int]) -> None:
    """Give kernel files of colouring other sizes."""
    tuning = {f"color/{name}.cl": each for name, each in sizes.items()}
    monkeypatch.setattr(session, "profile", replace(session.profile, tuning=tuning))


def assert_right(graph: Graph, session: Session, strategy: str, **options: Any) -> Coloring:
    result = color(graph, strategy=strategy, session=session, **options)
    n_colors, colors = result
    check_coloring(graph, colors)
    assert n_colors == result.n_colors == int(colors.max(initial=-1)) + 1 and result.graph is graph
    assert result.class_sizes.sum() == graph.n_vertices and (result.class_sizes > 0).all()
    assert result.class_sizes.size == n_colors
    if strategy != "hash_repair":  # which uses all of its first colours
        assert n_colors <= graph.degrees.max(initial=-1) + 1
    return result


@every_case
@pytest.mark.parametrize("name", UNDIRECTED | SHAPES)
def test_zoo(session: Session, name: str, strategy: str, options: dict[str, Any]) -> None:
    assert_right((UNDIRECTED | SHAPES)[name](), session, strategy, **options)


@pytest.mark.parametrize("order", ORDERS)
def test_jones_plassmann_is_greedy(session: Session, order: str) -> None:
    names = "scale-free", "random-dense", "grid", "duplicates-self-loops", "two-cliques", "star-last-centre"
    for graph in (*(UNDIRECTED[name]() for name in names), SHAPES["complete"]()):
        assert_greedy(graph, session, order, 3)


def test_colors_beyond_a_bitmap(monkeypatch: pytest.MonkeyPatch, session: Session) -> None:
    """Of more colours than a bitmap in local memory holds, the rest is in global memory, or in another window."""
    files = "jones_plassmann_large", "speculative", "speculative_hubs"
    tune(monkeypatch, session, **{name: {"BITMAP_WORDS": 1} for name in files})
    for name in ("dense", "complete"):
        graph = SHAPES[name]()
        assert_greedy(graph, session, "largest_first")
        assert_right(graph, session, "speculative")


@pytest.mark.parametrize("order", ["interleaved", "smallest_last"])
def test_wide_rows(monkeypatch: pytest.MonkeyPatch, session: Session, order: str) -> None:
    """A work-item may take longer rows and more colours than its words have bits, as it does on GPUs."""
    tune(monkeypatch, session, jones_plassmann={"WIDE_DEGREE": 128})
    for graph in (SHAPES["complete"](), cg.generators.uniform_random(3000, 60000)):
        assert_greedy(graph, session, order)


def test_few_neighbors_in_short_rows(monkeypatch: pytest.MonkeyPatch, pocl: Session) -> None:
    """Where vertices of many neighbours have no order by degree, none is taken for large."""
    short = {"SMALL_DEGREE": 5, "SPIN_LIMIT": 9999}
    tune(monkeypatch, pocl, jones_plassmann=short, jones_plassmann_large=short)
    src, dst = np.random.default_rng(1).integers(60, size=(2, 200))
    graph = Graph.from_edges(np.append(src, np.arange(999)), np.append(dst, np.arange(1, 1000)))
    assert most_need_few(graph) and graph.degrees.max() > 9
    assert_greedy(graph, pocl, "largest_first")


def test_suitable_order() -> None:
    """Degrees count unless they are alike, and too many for few colours in any order."""
    for expected, graph in (
        ("largest_first", cg.generators.random_geometric(3000)),
        ("interleaved", cg.generators.uniform_random(3000, 60000)),
        ("largest_first", cg.generators.delaunay_points(1000)),
        ("largest_first", cg.generators.rmat(10, 16)),
        ("largest_first", SHAPES["dense"]()),  # its rows are too long for one work-item each
        ("largest_first", Graph.from_edges([], [])),
        ("interleaved", cg.generators.grid(1 << 16, 16)),  # of which a sample must not be one column
    ):
        assert suitable_order(graph) == expected and not most_need_few(graph)


def test_interleaved_tiles(pocl: Session) -> None:
    """Every vertex has a place, also in blocks of several tiles, the last of them incomplete."""
    n = 3 * 64 * 4096 + 77
    graph = Graph.from_edges([0, n - 2], [1, n - 1], n=n)
    for order in ("interleaved", "largest_first"):
        colors = color(graph, strategy="jones_plassmann", order=order, session=pocl).colors
        assert sorted(colors[[0, 1]].tolist()) == sorted(colors[[-2, -1]].tolist()) == [0, 1]
        assert np.count_nonzero(colors) == 2


def test_blocks_come_in_order(pocl: Session) -> None:
    """The host lists the blocks as the device's priorities have them, in every turn."""
    graph = Graph.from_edges([], [], n=3 * 64 * 4096 + 77)
    order, priorities = vertex_order(graph, "interleaved", 3), ranks(pocl, graph, "interleaved", 3).get()
    blocks = np.argsort(~priorities, kind="stable") // (_PHASE_SIZE * order.n_turns)
    in_a_turn, last = np.argsort(order.arrivals(graph.n_vertices)), blocks.max()  # that has no vertices in some turns
    found, expected = blocks[np.flatnonzero(np.diff(blocks, prepend=-1))], np.tile(in_a_turn, order.n_turns)
    assert order.n_turns == 4 and np.array_equal(found[found != last], expected[expected != last])


@pytest.mark.parametrize("name", ["interleaved", "largest_first"])
@pytest.mark.parametrize("n", [1, 2**19 - 1, 2**31 - 2**12])
def test_places_fit_priorities(name: str, n: int) -> None:
    """There are places for all vertices of the largest graphs, and each block comes once in a turn."""
    stats = SimpleNamespace(n_vertices=n, max_degree=3, degree_vertex_counts=(0, 0, n))
    graph: Any = SimpleNamespace(n_vertices=n, stats=stats)
    order = vertex_order(graph, name, 1)
    assert n <= order.n_places <= 2**31
    arrivals = order.arrivals(n)
    assert np.unique(arrivals).size == arrivals.size == -(-n // (_PHASE_SIZE * order.n_turns))


def test_smallest_last_takes_few_colors(pocl: Session) -> None:
    for graph in (cg.generators.tree(999, arity=3).permuted(4), cg.generators.star(50), cg.generators.path(300)):
        assert color(graph, order="smallest_last", strategy="jones_plassmann", session=pocl).n_colors == 2
    graph = cg.generators.rmat(11, 16)
    made = graph.to_networkx()
    made.remove_edges_from(list(nx.selfloop_edges(made)))
    degeneracy = max(nx.core_number(made).values())
    assert color(graph, order="smallest_last", strategy="jones_plassmann", session=pocl).n_colors <= degeneracy + 1


@every_case
def test_number_of_colors(pocl: Session, strategy: str, options: dict[str, Any]) -> None:
    """Close to the sequential algorithm's in the same order of degrees, and not far above it where cores race."""
    graph = cg.generators.rmat(11, 16, seed=3)
    made = graph.to_networkx()
    made.remove_edges_from(list(nx.selfloop_edges(made)))
    expected = max(nx.greedy_color(made, "largest_first").values()) + 1
    n_colors = color(graph, strategy=strategy, session=pocl, **options).n_colors
    in_degree_order = strategy == "jones_plassmann" or options.get("by")
    races_in_degree_order = options.get("order") == "largest_first"  # 1.26 was seen on 16 cores
    assert n_colors <= (1.05 if in_degree_order else 1.4 if races_in_degree_order else 1.5) * expected


def run_twice(graph: Graph, session: Session, strategy: str, options: dict[str, Any]) -> None:
    chosen = {name: options[name] for name in ("distance", "order", "deterministic") if name in options}
    rest = {name: value for name, value in options.items() if name not in chosen}
    plan: Any = STRATEGIES[strategy].plan(session, as_problem(graph, **chosen), **rest)
    for _ in range(2):
        plan.run()
        _, colors = plan.result()
        check_coloring(graph, colors, chosen.get("distance", 1))


AT_DISTANCE_TWO: list[tuple[str, dict[str, Any]]] = [("speculative", {"distance": 2}), ("hash_repair", {"distance": 2})]


@pytest.mark.parametrize(
    ("strategy", "options"),
    [*CASES, *AT_DISTANCE_TWO, ("speculative", {"distance": 2, "deterministic": True})], ids=str,
)  # fmt: skip
def test_plans_run_again(session: Session, strategy: str, options: dict[str, Any]) -> None:
    run_twice(cg.generators.rmat(9, 8), session, strategy, options)


def test_numbers_of_colors(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels find which numbers are used; the host reads the colours only where one is left out, or none is given."""
    graph = cg.generators.path(20000)
    plan: Any = STRATEGIES["speculative"].plan(session, ColoringProblem(graph))
    plan.run()  # it writes the status that a result checks
    plan.arrays["colors"].set(given := np.arange(20000, dtype=np.int32) % 70)
    with monkeypatch.context() as patch:
        patch.setattr(coloring_plan, "_numbered", None)
        n_colors, colors = plan.result()
        assert n_colors == 70 and np.array_equal(colors, given)
    for gaps in (3, 5000):  # of the latter some are above what kernels mark
        plan.arrays["colors"].set(gaps * given)
        n_colors, colors = plan.result()
        assert n_colors == 70 and colors.dtype == np.int32 and np.array_equal(colors, given)
    plan.arrays["colors"].fill(-1, 12345, 12346)
    with pytest.raises(VerificationError, match="vertex 12345 has no colour"):
        plan.result()


ALSO_INTERLEAVED: list[tuple[str, dict[str, Any]]] = [*CASES[2:], ("jones_plassmann", {"order": "interleaved"})]


@pytest.mark.parametrize(("strategy", "options"), ALSO_INTERLEAVED, ids=str)
@pytest.mark.parametrize("name", ["scale-free", "star", "grid"])
def test_one_sub_group_as_on_gpus(pocl: Session, strategy: str, options: dict[str, Any], name: str) -> None:
    with one_sub_group(pocl):
        run_twice((UNDIRECTED | SHAPES)[name](), pocl, strategy, options)


DETERMINISTIC: list[tuple[str, dict[str, Any]]] = [
    ("best_of_orders", {}), ("auto", {"order": "smallest_last"}),
    ("jones_plassmann", {}), ("jones_plassmann", {"balanced": True}), ("speculative", {}),
    ("speculative", {"order": "random"}), ("speculative", {"by": "edge"}), ("hash_repair", {}),
]  # fmt: skip


@pytest.mark.parametrize(("strategy", "options"), [*DETERMINISTIC, *AT_DISTANCE_TWO], ids=str)
def test_deterministic(session: Session, pocl: Session, strategy: str, options: dict[str, Any]) -> None:
    """One seed, one colouring: in every run, on every device."""
    few = [cg.generators.rmat(9, 8, seed=1), cg.generators.delaunay_points(500), cg.generators.star(2000)]
    for graph in few if "distance" in options else [cg.generators.rmat(10, 16)]:
        first, again, other = (
            color(graph, strategy=strategy, deterministic=True, seed=seed, session=on, **options).colors.tolist()
            for seed, on in ((5, session), (5, pocl), (6, pocl))
        )
        assert first == again != other


def test_deterministic_as_on_gpus(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """First colours come in another order there."""
    graph = cg.generators.uniform_random(900, 14000)
    found = []
    for is_cpu in (True, False):
        monkeypatch.setattr(pocl.commands, "facts", replace(pocl.facts, is_cpu=is_cpu))
        found.append(color(graph, strategy="speculative", deterministic=True, session=pocl).colors.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("deterministic", [False, True])
def test_balanced(session: Session, deterministic: bool) -> None:
    generators = cg.generators
    for graph in (generators.rmat(11, 16), generators.random_geometric(2000), generators.uniform_random(700, 60000)):
        plain = color(graph, strategy="jones_plassmann", session=session)
        result = assert_right(graph, session, "jones_plassmann", balanced=True, deterministic=deterministic)
        assert result.n_colors == plain.n_colors
        assert result.class_sizes.std() < 0.5 * plain.class_sizes.std()
    star = cg.generators.star(50)  # the centre's class cannot take anyone
    assert assert_right(star, session, "jones_plassmann", balanced=True).class_sizes.tolist() == [1, 49]
    assert color(Graph.from_edges([], []), balanced=True, session=session).n_colors == 0


def test_inputs(pocl: Session) -> None:
    graph = cg.generators.rmat(9, 8)
    expected = color(graph, strategy="jones_plassmann", session=pocl).colors
    for same in (graph.to_scipy(), with_unsorted_rows(graph), with_wide_offsets(graph), replace(graph, directed=True)):
        assert np.array_equal(color(same, strategy="jones_plassmann", session=pocl).colors, expected)
    made = nx.karate_club_graph()
    result = color(made, session=pocl, verify=True)
    assert isinstance(result, Coloring) and result.n_colors >= 4
    assert result.info.strategy in STRATEGIES and result.info.details
    for name, asymmetric in DIRECTED.items():
        if name != "directed-empty":
            with pytest.raises(InputError, match="has no reverse"):
                color(asymmetric(), session=pocl)
    assert color(DIRECTED["directed-empty"](), session=pocl).n_colors == 0


@pytest.mark.parametrize(
    ("limit", "why"), [("_MAX_DEGREE", "9 entries of a vertex"), ("_MAX_ENTRIES", "18 entries; colouring takes")]
)
def test_graphs_that_are_too_large(monkeypatch: pytest.MonkeyPatch, limit: str, why: str) -> None:
    monkeypatch.setattr(problems, limit, 8)
    with pytest.raises(InputError, match=why):
        as_problem(cg.generators.star(10))


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("distance", [1, 2])
def test_choice(pocl: Session, distance: int, deterministic: bool) -> None:
    """Few colours: the best of several tries, or greedy colours where an order is asked for."""
    for expected, options in (
        ("best_of_two", {}),
        ("best_of_orders", {"prefer": "colors"}),
        ("jones_plassmann", {"prefer": "colors", "order": "natural"}),
    ):
        asked: dict[str, Any] = {"distance": distance, "deterministic": deterministic, **options}
        assert cg.explain("color", cg.generators.rmat(10), session=pocl, **asked).contenders == (expected,)


def test_a_wait_that_ran_out_is_reported(pocl: Session) -> None:
    plan: Any = STRATEGIES["jones_plassmann"].plan(pocl, ColoringProblem(cg.generators.star(99)))
    plan.run()
    program, controls = plan.program("color/jones_plassmann.cl"), plan.arrays["controls"]
    for expression in ("GRID_STATUS", "CONTROL_SMALL + GRID_STATUS"):
        at = program.constant(expression)
        controls.fill(STATUS_TIMEOUT, at, at + 1)
        with pytest.raises(DeviceTimeoutError):
            plan.result()
        controls.fill(0)
    plan._steps[0]()  # nobody has a colour, and the centre gets none
    controls.fill(STATUS_TIMEOUT, program.constant("GRID_STATUS"), program.constant("GRID_STATUS + 1"))
    plan._steps[-1]()
    with pytest.raises(DeviceTimeoutError):
        plan.result()


@contextmanager
def one_sub_group(session: Session) -> Iterator[None]:
    """Colour short rows as on GPUs, in a queue of vertices by place, but in one group of one sub-group."""
    facts, profile = session.facts, session.profile
    sizes = {"WG_SIZE": facts.sub_group_size, "GROUPS_PER_UNIT": 1, "MOST_OPEN": 2, "MOST_IDLE": 2}
    alone = {"WG_SIZE": facts.sub_group_size, "GROUPS_PER_UNIT": 1}
    session.commands.facts = replace(facts, compute_units=1, dialect=replace(facts.dialect, has_grid_barrier=True))
    tuning = {f"color/{name}.cl": alone for name in ("jones_plassmann_large", "speculative")}
    session.profile = replace(profile, tuning={"color/jones_plassmann.cl": sizes, **tuning})
    try:
        yield
    finally:
        session.commands.facts, session.profile = facts, profile


def check_one_sub_group(session: Session, n_cases: int | None = None) -> None:
    cases = [
        (cg.generators.road_like(3000), None),
        (cg.generators.random_geometric(700, 9), None),
        (cg.generators.uniform_random(900, 14000), None),
        (cg.generators.delaunay_points(500), "smallest_last"),
        (cg.generators.grid(30, 50), None),
    ]
    for graph, order in cases[:n_cases]:
        order = order or suitable_order(graph)
        assert graph.degrees.max() <= 30 or order == "interleaved"
        with one_sub_group(session):
            assert_greedy(graph, session, order)


def test_one_sub_group(session: Session) -> None:
    check_one_sub_group(session)


def test_nothing_follows_a_wait_that_ran_out(pocl: Session) -> None:
    """Where vertices of many entries were left open, those of few do not wait for them once more."""
    with one_sub_group(pocl):
        plan: Any = STRATEGIES["jones_plassmann"].plan(pocl, ColoringProblem(cg.generators.star(99)))
        plan._steps[0]()  # nobody has a colour
        plan.arrays["colors"].fill(-7)
        status = plan.program("color/jones_plassmann.cl").constant("GRID_STATUS")
        plan.arrays["controls"].fill(STATUS_TIMEOUT, status, status + 1)
        plan._steps[-1]()
        assert (plan.arrays["colors"].get() == -7).all()
        with pytest.raises(DeviceTimeoutError):
            plan.result()


@pytest.mark.parametrize("width", [8, 64])
def test_sub_group_widths(width: int) -> None:
    cases = [case for case in CASES if "order" not in case[1]]
    script = (
        "import clgraph as cg; from clgraph.reference.color import check_coloring;"
        "[check_coloring(g, cg.color(g, strategy=k, session=s, **o).colors)"
        f" for k, o in {cases} for g in (cg.generators.rmat(11, 16), cg.generators.star(9000),"
        " cg.generators.uniform_random(700, 60000), cg.generators.delaunay_points(900))];"
        "cg.color(cg.generators.rmat(10, 16), balanced=True, session=s, verify=True);"
        "import test_color; test_color.check_one_sub_group(s, 2)"
    )
    run_at_width(width, script)


@pytest.mark.parametrize("n", [1, 2, 1000, 20011])
def test_tiles_far_apart(session: Session, monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    as_on_gpus = replace(session.facts, is_cpu=False)
    stride = speculation.tile_stride(as_on_gpus, n)
    n_tiles = -(-n // session.facts.sub_group_size)
    assert len({tile * stride % n_tiles for tile in range(n_tiles)}) == n_tiles
    monkeypatch.setattr(speculation, "tile_stride", lambda *_: stride)
    color(cg.generators.uniform_random(n, 3 * n), strategy="speculative", session=session, verify=True)


def test_plans_for_one_call_sample_no_rows(pocl: Session) -> None:
    """On GPUs a kept plan is worth the time in which the host samples rows for it; a matrix has no kept plan."""
    gpu, graph = replace(pocl.facts, is_cpu=False), cg.generators.rmat(13)
    picks = [
        contenders(as_problem(data, prefer="time", distance=distance), gpu)
        for data in (graph, graph.to_scipy()) for distance in (1, 2)
    ]  # fmt: skip
    assert picks == [("jones_plassmann",), ("hash_repair",), ("speculative",), ("speculative",)]


def test_prefer_says_whether_auto_looks_for_few_colors(session: Session) -> None:
    graph = cg.generators.rmat(10, 8, seed=1)
    fast = cg.explain("color", graph, prefer="time", session=session)
    assert fast.contenders == (fast.strategy,) and fast.strategy != "best_of_orders"
    assert set(fast.seconds) == set(STRATEGIES)
    assert fast.strategy == "speculative" or not session.facts.is_cpu
    result = cg.color(graph, prefer="time", session=session, verify=True)
    assert result.info.strategy == fast.strategy
    assert fast.strategy in color(graph, prefer="colors", session=session).info.details["n_colors_of"]
    assert color(graph, session=session).n_colors <= result.n_colors
    with pytest.raises(InputError, match="prefer"):
        cg.color(graph, prefer="beauty", session=session)


SEEDED: list[Callable[[int], Graph]] = [
    lambda seed: Graph.from_networkx(nx.random_geometric_graph(128, 0.45, seed=seed)),
    lambda seed: Graph.from_networkx(nx.fast_gnp_random_graph(300, 0.1, seed=seed)),
    lambda seed: cg.generators.rmat(9, 8, seed=seed),
    lambda seed: cg.generators.delaunay_points(400, seed=seed),
    lambda seed: Graph.from_edges(*np.random.default_rng(seed).integers(60, size=(2, 500)), n=70),
]


@pytest.mark.parametrize("as_on_gpus", [False, True])
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("make", SEEDED)
def test_few_colors_are_no_more_than_greedy_ones(
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[int], Graph],
    deterministic: bool,
    as_on_gpus: bool,
) -> None:
    for seed in range(3):
        graph = make(seed)
        greedy_ones = [
            greedy_coloring(graph, 1, turns_of(graph, session, order, seed)).max(initial=-1) + 1
            for order in ("largest_first", "smallest_last")
        ]
        with monkeypatch.context() as patch:
            patch.setattr(session.commands, "facts", replace(session.facts, is_cpu=not as_on_gpus))
            asked = {"deterministic": deterministic, "seed": seed, "session": session, "verify": True}
            result, both = color(graph, prefer="colors", **asked), color(graph, **asked)
        assert both.n_colors <= greedy_ones[0] and result.n_colors <= both.n_colors
        tries = result.info.details["n_colors_of"]
        assert result.n_colors == min(tries.values()) <= min(greedy_ones)
        assert tries.get("largest_first", greedy_ones[0]) == greedy_ones[0]
        assert tries.get("smallest_last", greedy_ones[1]) == greedy_ones[1]


def test_classes_again_save_colors(pocl: Session) -> None:
    """They never take more, and in some graphs fewer."""
    saved = 0
    for seed in range(8):
        graph = Graph.from_networkx(nx.fast_gnp_random_graph(300, 0.1, seed=seed))
        found = color(graph, prefer="colors", deterministic=True, seed=seed, session=pocl, verify=True)
        tries = found.info.details["n_colors_of"]
        again = [count for name, count in tries.items() if "again" in name]
        first = min(count for name, count in tries.items() if "again" not in name)
        assert max(again) <= first
        saved += min(again) < first
    assert saved


def removal_waves(graph: Graph) -> list[int]:
    """Return the wave in which each vertex is removed: all of at most k entries, and k rises where none is left."""
    degrees, waves, wave, k = graph.degrees.astype(int), np.zeros(graph.n_vertices, int), 0, 0
    while (waves == 0).any():
        k = max(k, degrees[waves == 0].min())
        small = np.flatnonzero((waves == 0) & (degrees <= k))
        wave += 1
        waves[small] = wave
        for v in small.tolist():
            row = graph.column_indices[graph.row_offsets[v] : graph.row_offsets[v + 1]]
            np.subtract.at(degrees, row[row != v], 1)
    found: list[int] = waves.tolist()
    return found


@pytest.mark.parametrize("widest", [0, 3, 10**6])
def test_smallest_last_removes_the_smallest(session: Session, monkeypatch: pytest.MonkeyPatch, widest: int) -> None:
    """Whether a launch makes one wave or all that are small."""
    monkeypatch.setattr(vertex_orders, "MAX_CPU_WAVE", widest)
    graphs = [make() for name, make in UNDIRECTED.items() if name != "empty"]
    for graph in (*graphs, cg.generators.rmat(9, 8), cg.generators.path(70_000)):
        waves = (
            np.array(removal_waves(graph))
            if graph.n_vertices < 5000
            else np.minimum(np.arange(1, 70_001), np.arange(70_000, 0, -1))
        )
        found = ranks(session, graph, "smallest_last", 3).get()
        assert (np.diff(waves[np.argsort(found, kind="stable")]) >= 0).all()
        if widest == 0 and graph.n_vertices > 5000:
            break


# ---- distance 2, columns, and counts of conflicts


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
def test_zoo_at_distance_two(session: Session, name: str, strategy: str, options: dict[str, Any]) -> None:
    graph = (UNDIRECTED | SHAPES_OF_TWO)[name]()
    if name == "wide-offsets" and "long_row" in options:
        pytest.skip("takes long to compile")
    n_colors, colors = cg.color(graph, distance=2, strategy=strategy, session=session, **options)
    check_coloring(graph, colors, distance=2)
    assert n_colors == colors.max(initial=-1) + 1
    if strategy == "speculative":  # as many as greedy colourings take at most, but for clashes on wide devices
        factor = 2 if session.facts.is_cpu else 3
        assert n_colors <= N_COLORS.get(name, factor * (1 + np.diff(two_hop(graph).indptr).max(initial=-1)))
    if name in N_COLORS:
        assert n_colors >= N_COLORS[name] or strategy == "hash_repair"


def test_definition() -> None:
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


def test_check_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "_CHUNK", 50)
    graph = UNDIRECTED["grid"]()
    colors = greedy_coloring(graph, 2)
    check_coloring(graph, colors, 2)
    colors[-1] = colors[-2]
    for distance, why in ((1, r"entry \(59[89], 59[89]\)"), (2, "row 5")):
        with pytest.raises(VerificationError, match=why):
            check_coloring(graph, colors, distance)


def test_conflicts(session: Session) -> None:
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


def test_long_row(pocl: Session) -> None:
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


def test_hash_start(pocl: Session) -> None:
    """A hash colouring without collisions stays as it is."""
    graph = cg.generators.path(500)
    for deterministic in (False, True):
        options = {"hash": "identity", "bits": 2, "deterministic": deterministic}
        result = cg.color(graph, distance=2, strategy="hash_repair", session=pocl, **options)
        assert np.array_equal(result.colors, hash_colors("identity", 500, 2))
    result = cg.color(graph, distance=2, strategy="hash_repair", session=pocl)
    assert result.info.details["hash"] == "identity"


@pytest.mark.parametrize("distance", [1, 2])
def test_hash_of_a_table(pocl: Session, distance: int) -> None:
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
def test_columns(session: Session, shape: tuple[int, int]) -> None:
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


def test_columns_of_directed_graphs(pocl: Session) -> None:
    for make in DIRECTED.values():
        graph = make()
        result = cg.color(graph, distance=2, bipartite=True, session=pocl, verify=True)
        assert result.n_colors >= min(1, graph.n_vertices)
        cg.color_columns(graph, deterministic=True, session=pocl, verify=True)


def test_auto_starts_from_a_hash_that_suffices(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a square, where hash colours are few and differ: cliques of 8, rows of 4 columns; not cliques of 9."""
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
def test_greedy_on_the_square(session: Session, monkeypatch: pytest.MonkeyPatch, order: str, as_on_gpus: bool) -> None:
    """Colours are those of the sequential algorithm, in the order of the square, whichever way finds them."""
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


def test_rows_too_long_for_a_square(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_explain(pocl: Session) -> None:
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
def test_balanced_at_distance_two(pocl: Session, deterministic: bool) -> None:
    graph = cg.generators.delaunay_points(900)
    options = {"distance": 2, "deterministic": deterministic, "session": pocl, "verify": True}
    plain, balanced = (cg.color(graph, balanced=b, **options) for b in (False, True))
    assert balanced.n_colors <= plain.n_colors + (0 if deterministic else 2)
    assert balanced.class_sizes.std() < 0.5 * plain.class_sizes.std()


def test_errors(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_sub_group_widths_at_distance_two(width: int) -> None:
    script = (
        "import clgraph as cg; from oracles import count_conflicts as count;"
        f"graphs = [cg.generators.{'rmat(9, 16)' if width < 64 else 'delaunay_points(900)'}];"
        "[cg.color(g, distance=2, strategy=k, session=s, verify=True, **o)"
        f" for k, o in {[*CASES_OF_TWO[:3], CASES_OF_TWO[4]]} for g in graphs];"
        "bad = [(g, cg.color(g, session=s).colors) for g in graphs];"
        "assert all(cg.count_conflicts(g, c, distance=d, session=s) == count(g, c, d) for g, c in bad for d in (1, 2))"
    )
    run_at_width(width, script)
