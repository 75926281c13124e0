"""Delaunay refinement: every strategy on every device, checked against the definition."""

import copy
import math
import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from conftest import run_at_width

import clgraph as cg
from clgraph.algorithms.refine_mesh import ALGORITHM, STRATEGIES, RefinedMesh, _answer, refine_mesh, rounds
from clgraph.algorithms.refine_mesh.rounds import Refinement
from clgraph.data.meshes.mesh_arrays import triangle_sides
from clgraph.errors import (
    ConvergenceWarning,
    InputError,
    MeshError,
    NoProgressError,
    UnsupportedStrategyError,
    VerificationError,
)
from clgraph.progress import Progress, listening
from clgraph.reference.refine_mesh import check_delaunay
from clgraph.runtime.session import Session

pytestmark = pytest.mark.filterwarnings("error::clgraph.errors.ConvergenceWarning")


def square(n: int = 0, scale: float = 1.0) -> cg.PlanarGraph:
    """Return the unit square with *n* random points inside."""
    points = np.concatenate([[[0, 0], [1, 0], [1, 1], [0, 1]], np.random.default_rng(n).random((n, 2))])
    return cg.PlanarGraph.from_arrays(scale * points, [[0, 1], [1, 2], [2, 3], [3, 0]])


def ring(n: int, radius: float, first: int) -> tuple[np.ndarray, list[list[int]]]:
    angle = 2 * np.pi * np.arange(n) / n
    points = 0.5 + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return points, [[first + i, first + (i + 1) % n] for i in range(n)]


def with_hole() -> cg.PlanarGraph:
    outer, inner = ring(9, 0.5, 0), ring(17, 0.17, 9)
    points, segments, markers = np.concatenate([outer[0], inner[0]]), outer[1] + inner[1], [3] * 9 + [7] * 17
    return cg.PlanarGraph.from_arrays(points, segments, holes=[[0.5, 0.5]], segment_markers=markers)


def with_slits() -> cg.PlanarGraph:
    """A square with segments that end inside of it, and one that two triangles share from side to side."""
    whole = square(20)
    points = [[0.5, 0.2], [0.5, 0.8], [0.21, 0.5], [0.43, 0.51], [0.62, 0.31], [0.93, 0.95]]
    return cg.PlanarGraph.from_arrays(
        np.concatenate([whole.points, points]), [*whole.segments.tolist(), [24, 25], [26, 27], [28, 29]]
    )


def with_regions() -> cg.PlanarGraph:
    whole = square()
    return cg.PlanarGraph.from_arrays(
        np.concatenate([whole.points, [[0.4, 0], [0.4, 1]]]),
        [*whole.segments.tolist(), [4, 5]],
        regions=[[0.1, 0.5, 11, 0.002], [0.9, 0.5, 22, 0.03]],
    )


def grid(n: int) -> cg.PlanarGraph:
    """Points of which four at a time are on one circle, as no filter can tell."""
    x, y = np.meshgrid(np.arange(n), np.arange(n) * 3.0)
    return cg.PlanarGraph.from_arrays(np.column_stack([x.ravel(), y.ravel()]))


def wedge(degrees: float) -> cg.PlanarGraph:
    tip = 1.3 * np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])
    return cg.PlanarGraph.from_arrays([[0, 0], [1, 0], tip], [[0, 1], [1, 2], [2, 0]])


def fan(n: int) -> cg.PlanarGraph:
    """Segments that meet in one point, ten degrees apart."""
    angle = np.radians(10.0) * np.arange(n)
    length = 1.0 + 0.3 * np.sin(5 * np.arange(n))
    ends = np.column_stack([length * np.cos(angle), length * np.sin(angle)])
    return cg.PlanarGraph.from_arrays(
        np.concatenate([[[0, 0]], ends]), [[0, i + 1] for i in range(n)] + [[i, i + 1] for i in range(1, n)]
    )


def on_circle(n: int) -> cg.PlanarGraph:
    """A cavity of more triangles than there is room for at first."""
    points, _ = ring(n, 0.5, 0)
    return cg.PlanarGraph.from_arrays(points)


GRAPHS: dict[str, Callable[[], cg.PlanarGraph]] = {
    "square": square,
    "random": lambda: square(300),
    "tiny": lambda: square(60, 1e-8),
    "huge": lambda: square(60, 1e8),
    "hole": with_hole,
    "slits": with_slits,
    "regions": with_regions,
    "grid": lambda: grid(9),
    "needle": lambda: cg.PlanarGraph.from_arrays([[0, 0], [1, 1e-4], [2, 0]], [[0, 1], [1, 2], [2, 0]]),
    "wedge": lambda: wedge(1.0),
    "fan": lambda: fan(9),
    "circle": lambda: on_circle(150),
    "collinear": lambda: cg.PlanarGraph.from_arrays([[i, 0.0] for i in range(12)] + [[3, 4], [7, -2]]),
    "triangle": lambda: cg.PlanarGraph.from_arrays([[0, 0], [1, 0], [0.2, 0.9]]),
}


def star(n: int, seed: int) -> cg.PlanarGraph:
    """A closed line whose corners are at random distances from the middle: sharp ones beside blunt ones."""
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.random(n)) * 2 * np.pi
    points = rng.uniform(0.2, 1, (n, 1)) * np.column_stack([np.cos(angle), np.sin(angle)])
    return cg.PlanarGraph.from_arrays(points, np.column_stack([np.arange(n), (np.arange(n) + 1) % n]))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.long
def test_only_sharp_corners_excuse_thin_triangles(session: Session, strategy: str) -> None:
    """Two segments at a sharp corner may meet under more than 60 degrees, with points equally far from it."""
    for n, seed in ((8, 15), (20, 1), (20, 59)):
        mesh = star(n, seed).triangulate(convex_hull=True)
        refine_mesh(mesh, min_angle=30, strategy=strategy, session=session, verify=True)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("min_angle", [0.0, 28.0])
def test_all_triangles_may_become_delaunay(session: Session, min_angle: float, strategy: str) -> None:
    """Delaunay triangles without regard to segments take more points than the angles alone."""
    mesh = with_slits().triangulate()
    asked = {"min_angle": min_angle, "strategy": strategy, "session": session, "verify": True}
    plain, refined = (refine_mesh(mesh, conforming=conforming, **asked) for conforming in (False, True))
    check_delaunay(cg.TriangleMesh.from_arrays(refined.points, refined.triangles), min_angle=min_angle)
    least = 1.1 if STRATEGIES[strategy].kind == "offline" else 1.0  # races of online claims move points
    assert refined.n_points > least * plain.n_points


def in_groups(session: Session, mesh: cg.TriangleMesh, size: int, **asked: float) -> RefinedMesh:
    """Return *mesh* refined by work-groups of *size* that take patches, as on GPUs."""
    if size > 1 and "Portable" in session.facts.platform:
        pytest.skip("PoCL 3.0 compiles the rounds of a group wrong; Oclgrind, the race lanes and Intel's runtime agree")
    problem = ALGORITHM.problem(mesh, **asked)
    plan = Refinement(session, problem, method="patches", group_size=size)
    plan.run()
    refined: RefinedMesh = _answer(problem, plan)
    check_delaunay(refined, original=mesh, min_angle=0.0 if plan.stopped else problem.min_angle)
    return refined


@pytest.mark.parametrize("way", [*STRATEGIES, 1, 8, 64])  # a strategy, or the size of the groups that take patches
@pytest.mark.parametrize("name", GRAPHS)
def test_every_mesh_is_refined_and_valid(session: Session, name: str, way: str | int) -> None:
    mesh = GRAPHS[name]().triangulate()
    for min_angle in (20.0, 28.0):
        if isinstance(way, int):
            refined = in_groups(session, mesh, way, min_angle=min_angle)
        else:
            refined = refine_mesh(mesh, min_angle=min_angle, strategy=way, session=session, verify=True)
            assert refined.quality().min_angle >= min_angle - 1e-9 or name in ("needle", "wedge", "fan")
        assert np.array_equal(refined.points[: mesh.n_points], mesh.points)


@pytest.mark.parametrize("width", [8, 32])
def test_groups_are_whole_sub_groups(width: int) -> None:
    """Sizes below the width and between its multiples are rounded up; one work-item is a sub-group of its own."""
    run_at_width(
        width,
        """
import test_refine_mesh as t
for size in (1, 2, 12):
    for name in ("random", "wedge"):
        t.in_groups(s, t.GRAPHS[name]().triangulate(), size, min_angle=28.0)
""",
    )


def test_a_patch_without_progress_is_an_error(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum over the group that is always 0: candidates win, but none goes in."""
    from clgraph.runtime.programs import program

    whole = program.build_input
    monkeypatch.setattr(program, "build_input", lambda *given: whole(*given).replace(
        "group_exclusive_sum((uint)has_won, scratch, n_won);", "0u; *n_won = 0u;"
    ))  # fmt: skip
    session.programs.built.clear()
    with pytest.raises(NoProgressError, match="of a patch: no progress"):
        in_groups(session, GRAPHS["random"]().triangulate(), 1, min_angle=28.0)
    session.programs.built.clear()


def test_groups_take_most_of_a_mesh_of_many_patches(session: Session) -> None:
    mesh = square(8000).triangulate()
    refined = in_groups(session, mesh, 32, min_angle=28.0)
    assert refined.history[:3, 1].sum() > 0.8 * refined.history[:, 1].sum()
    with_less, without = in_groups(session, mesh, 32, max_points=9000), in_groups(session, mesh, 32, max_area=1e-5)
    assert with_less.n_points == 9000 and without.areas().max() <= 1e-5 and without.n_points > 70_000


def test_a_deterministic_mesh_is_the_same_in_every_run_and_on_every_device(
    session: Session, pocl: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Launches of another number of cores, and of a GPU, have other sizes. The arrays are enlarged on the way.

    PoCL gets no launches of a GPU: some of its versions crash in these kernels with groups of 128 work-items.
    """
    monkeypatch.setattr(rounds, "_MAX_CANDIDATES", 600)
    mesh, facts = square(1000).triangulate(), replace(session.facts, is_cpu=session is pocl, compute_units=3)
    first = refine_mesh(mesh, max_area=5e-5, deterministic=True, session=session)
    assert first.n_points > 4 * mesh.n_points and first.info.strategy == "priority"
    for on, known in ((session, session.facts), (pocl, pocl.facts), (session, facts)):
        with monkeypatch.context() as context:
            context.setattr(on.commands, "facts", known)
            other = refine_mesh(mesh, max_area=5e-5, deterministic=True, session=on, strategy="priority")
        for name in ("points", "triangles", "neighbors", "segments", "segment_markers", "point_markers", "history"):
            assert np.array_equal(getattr(first, name), getattr(other, name)), name


@pytest.mark.parametrize("strategy", sorted({*STRATEGIES} - {"priority"}))
def test_other_strategies_are_not_deterministic(pocl: Session, strategy: str) -> None:
    with pytest.raises(UnsupportedStrategyError, match="not deterministic; others are priority"):
        refine_mesh(square(10).triangulate(), deterministic=True, strategy=strategy, session=pocl)


def test_large_angles_need_a_greatest_number_of_points(pocl: Session) -> None:
    mesh = square(100).triangulate()
    with pytest.raises(InputError, match="min_angle = 36; allowed: at most 34, or 60 with max_points="):
        refine_mesh(mesh, min_angle=36, session=pocl)
    with pytest.warns(ConvergenceWarning, match="max_points = 900"):
        assert refine_mesh(mesh, min_angle=50, max_points=900, session=pocl, verify=True).n_points == 900


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_regions_keep_attributes_and_areas(pocl: Session, strategy: str) -> None:
    mesh = with_regions().triangulate()
    refined = refine_mesh(mesh, min_angle=25, max_area=0.02, strategy=strategy, session=pocl, verify=True)
    assert refined.region_attributes is not None and refined.max_areas is not None
    left = refined.points[refined.triangles].mean(axis=1)[:, 0] < 0.4
    assert np.array_equal(refined.region_attributes, np.where(left, 11, 22))
    assert refined.areas()[left].max() <= 0.002 and 0.01 < refined.areas()[~left].max() <= 0.02


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_regions_without_segments_keep_their_areas(pocl: Session, strategy: str) -> None:
    """Edges between triangles of different regions are segments of a mesh, though the user gives none."""
    plain = square(60).triangulate()
    middle = plain.points[plain.triangles].mean(axis=1)
    regions = np.where(np.hypot(*(middle - 0.5).T) < 0.3, 7, np.where(middle[:, 0] < 0.5, 8, 9))
    mesh = cg.TriangleMesh.from_arrays(plain.points, plain.triangles, [[0, 1]], region_attributes=regions)
    sides = triangle_sides(mesh.triangles)[(mesh.neighbors < 0) | (regions[mesh.neighbors] != regions[:, None])]
    assert {*map(frozenset, mesh.segments.tolist())} == {*map(frozenset, sides.tolist())}
    assert np.bincount(mesh.segment_markers)[1] == 3 and mesh.segment_markers[0] == 0  # the boundary, and [0, 1]
    refined = refine_mesh(mesh, min_angle=25, max_area=0.005, strategy=strategy, session=pocl, verify=True)
    assert refined.region_attributes is not None
    areas = [np.bincount(m.region_attributes.astype(int), m.areas())[7:] for m in (mesh, refined)]
    np.testing.assert_allclose(*areas, rtol=1e-12)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_parts_of_segments_have_their_markers(pocl: Session, strategy: str) -> None:
    refined = refine_mesh(with_hole().triangulate(), max_area=1e-3, strategy=strategy, session=pocl, verify=True)
    middle = refined.points[refined.segments].mean(axis=1) - 0.5
    inner = np.hypot(*middle.T) < 0.3
    assert np.array_equal(refined.segment_markers, np.where(inner, 7, 3))
    ends = np.unique(refined.segments[~inner])
    assert (refined.point_markers[ends[ends >= 26]] == 3).all() and (ends >= 26).any()


def test_point_attributes_are_interpolated(pocl: Session) -> None:
    whole = square(40)
    graph = cg.PlanarGraph.from_arrays(
        whole.points, whole.segments, point_attributes=whole.points @ [[2.0, 1.0], [-3.0, 0.5]]
    )
    refined = refine_mesh(graph.triangulate(), max_area=0.01, session=pocl)
    np.testing.assert_allclose(refined.point_attributes, refined.points @ [[2.0, 1.0], [-3.0, 0.5]], atol=1e-12)


def test_attributes_are_not_interpolated_across_a_slot(pocl: Session) -> None:
    plates = [[0, 0], [1, 0], [1, 2], [0, 2], [1.02, 0], [2, 0], [2, 2], [1.02, 2], [1.02, 1]]
    lines = [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 8], [8, 4]]
    graph = cg.PlanarGraph.from_arrays(plates, lines, point_attributes=[0] * 4 + [100] * 5)
    refined = refine_mesh(graph.triangulate(), max_area=0.05, session=pocl)
    wanted = np.where(refined.points[:, 0] < 1.01, 0, 100)
    np.testing.assert_allclose(refined.point_attributes[:, 0], wanted, atol=1e-9)


def test_attributes_are_found_behind_walls(pocl: Session) -> None:
    """A search over edges ends at slots between a place and its start, in a comb of 20 teeth and few triangles."""
    slots = [[[k + 0.49, 0], [k + 0.495, 5], [k + 0.5, 0]] for k in range(20)]
    points = np.concatenate([[[0.0, 0.0]], *slots, [[20, 0], [20, 6], [0, 6]]])
    ring = np.column_stack([np.arange(len(points)), np.roll(np.arange(len(points)), -1)])
    graph = cg.PlanarGraph.from_arrays(points, ring, point_attributes=points @ [2.0, 1.0])
    refined = refine_mesh(graph.triangulate(), max_area=0.01, strategy="priority", session=pocl)
    np.testing.assert_allclose(refined.point_attributes[:, 0], refined.points @ [2.0, 1.0], atol=1e-12)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_arrays_grow_with_the_mesh(session: Session, strategy: str) -> None:
    """One area bound asks for many times the points for which there is room at first."""
    refined = refine_mesh(square().triangulate(), max_area=1e-5, strategy=strategy, session=session)
    assert refined.n_points > 20_000 and refined.areas().max() <= 1e-5
    assert refined.quality().min_angle >= 30 and math.isclose(refined.areas().sum(), 1.0, rel_tol=1e-9)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_limit_of_points_is_kept(session: Session, strategy: str) -> None:
    mesh = square(200).triangulate()
    with pytest.warns(ConvergenceWarning, match="max_points = 260 is reached"):
        refined = refine_mesh(mesh, max_points=260, strategy=strategy, session=session, verify=True)
    assert refined.n_points == 260
    with pytest.warns(ConvergenceWarning, match="max_points = 5 is reached"):
        assert refine_mesh(mesh, max_points=5, strategy=strategy, session=session).n_points == mesh.n_points


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", ["hole", "slits", "regions"])
def test_segments_stay_whole_on_request(session: Session, name: str, strategy: str) -> None:
    mesh = GRAPHS[name]().triangulate()
    given, boundary = pairs(mesh.segments), pairs(triangle_sides(mesh.triangles)[mesh.neighbors < 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for whole in ("boundary", "segments"):
            refined = refine_mesh(mesh, max_area=0.01, whole=whole, strategy=strategy, session=session, verify=True)
            assert boundary <= (found := pairs(refined.segments)) and refined.n_points > mesh.n_points
            assert given == found or whole == "boundary"


def pairs(ends: np.ndarray) -> set[tuple[int, ...]]:
    return set(map(tuple, np.sort(ends, axis=1).tolist()))


def test_points_that_round_to_others_are_given_up(pocl: Session) -> None:
    far = 2.0**40
    points = far + np.array([[0, 0], [2e-3, 0], [2e-3, 2e-3], [0, 2e-3]])
    mesh = cg.PlanarGraph.from_arrays(points, [[0, 1], [1, 2], [2, 3], [3, 0]]).triangulate()
    for strategy in STRATEGIES:
        with pytest.warns(ConvergenceWarning, match="could not be improved"):
            refine_mesh(mesh, max_area=1e-9, strategy=strategy, session=pocl, verify=True)


def test_a_mesh_without_bad_triangles_stays(session: Session) -> None:
    mesh = cg.TriangleMesh.from_arrays([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
    for strategy in STRATEGIES:
        refined = refine_mesh(mesh, strategy=strategy, session=session, verify=True)
        assert refined.n_points == 4 and refined.history.tolist() == [[0, 0]]
        assert sorted(map(sorted, refined.triangles.tolist())) == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize("scale", [1e75, 1e-70])
def test_meshes_of_the_largest_and_least_scales_are_refined(session: Session, scale: float) -> None:
    mesh = square(60, scale).triangulate()
    for strategy in STRATEGIES:
        area = 0.01 * scale**2
        refined = refine_mesh(mesh, max_area=area, strategy=strategy, session=session, verify=True)
        assert refined.quality().min_angle >= 30 and refined.n_points > 200


def shuffled_triangulation(seed: int) -> cg.TriangleMesh:
    """A triangulation of random points between two segments that is far from Delaunay: a sweep from left to right."""
    points = np.random.default_rng(seed).random((80, 2))
    order = np.argsort(points[:, 0])
    fan: list[list[int]] = []
    upper, lower = [order[0]], [order[0]]
    for v in order[1:]:
        for chain, turn in ((upper, 1.0), (lower, -1.0)):
            while len(chain) > 1:
                a, b = points[chain[-2]], points[chain[-1]]
                if turn * np.cross(np.append(b - a, 0), np.append(points[v] - a, 0))[2] <= 0:
                    break
                fan.append([chain[-2], chain[-1], int(v)])
                chain.pop()
            chain.append(int(v))
    return cg.TriangleMesh.from_arrays(points, fan)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_not_delaunay_is_flipped_first(session: Session, seed: int) -> None:
    mesh = shuffled_triangulation(seed)
    with pytest.raises(VerificationError, match="circle"):
        check_delaunay(mesh)
    flipped = refine_mesh(mesh, min_angle=0, session=session, verify=True)
    assert flipped.n_points == mesh.n_points and flipped.info.details["flips"] > 50
    refine_mesh(mesh, min_angle=25, session=session, verify=True)


def test_meshes_made_of_a_refined_one_keep_its_history_and_info(pocl: Session) -> None:
    refined = refine_mesh(with_regions().triangulate(), session=pocl)
    for made in (
        refined.without_unused_points(),
        refined.with_boundary_markers(),
        refined.to_delaunay(),
        replace(refined, max_areas=None),
        copy.copy(refined),
        pickle.loads(pickle.dumps(refined)),
    ):
        assert np.array_equal(made.history, refined.history)
        assert made.info.strategy == refined.info.strategy and "RefinedMesh" in made._repr_html_()


def test_history_has_a_row_for_each_round(pocl: Session) -> None:
    mesh = square(300).triangulate()
    for strategy in STRATEGIES:
        refined = refine_mesh(mesh, strategy=strategy, session=pocl)
        assert isinstance(refined, RefinedMesh) and refined.history[-1].tolist() == [0, 0]
        assert refined.history[:, 1].sum() == refined.n_points - mesh.n_points
        assert refined.info.strategy == strategy and refined.info.details["launched_rounds"] >= len(refined.history)
        with pytest.warns(ConvergenceWarning, match="max_points = 400 is reached"):
            stopped = refine_mesh(mesh, max_points=400, strategy=strategy, session=pocl)
        assert stopped.history[:, 1].min() >= 0 and stopped.history[:, 1].sum() == 400 - mesh.n_points


def test_progress_reports_bad_triangles_left(pocl: Session) -> None:
    heard: list[Progress] = []
    with listening(heard.append):
        refine_mesh(square(300).triangulate(), session=pocl)
    assert [state.unit for state in heard] == ["bad triangles"] * len(heard) and heard[-1].done == 0


def interrupting() -> Callable[[Progress], None]:
    """Return a listener that acts as Ctrl-C does, after some rounds."""
    calls = count(1)

    def listen(_state: Progress) -> None:
        if next(calls) == 4:
            raise KeyboardInterrupt

    return listen


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_interrupts_give_a_valid_mesh_if_wanted(pocl: Session, strategy: str) -> None:
    mesh = square(3000).triangulate()
    with pytest.raises(KeyboardInterrupt), listening(interrupting()):
        refine_mesh(mesh, strategy=strategy, session=pocl)
    with pytest.warns(ConvergenceWarning, match="interrupted"), listening(interrupting()):
        refined = refine_mesh(mesh, strategy=strategy, session=pocl, partial=True, verify=True)
    assert mesh.n_points < refined.n_points


def test_a_plan_runs_again(session: Session) -> None:
    problem = ALGORITHM.problem(square(200).triangulate(), min_angle=28)
    for strategy in STRATEGIES:
        plan = STRATEGIES[strategy].plan(session, problem)
        plan.run()
        first = plan.read()["points"]
        plan.run()
        if strategy == "priority":
            assert np.array_equal(first, plan.read()["points"])
        assert abs(len(first) - len(plan.read()["points"])) < 0.1 * len(first)


def test_the_benchmark_checks_what_it_times(pocl: Session) -> None:
    import bench_refine_mesh

    mesh = square(300).triangulate()
    row, refined = bench_refine_mesh.measure(pocl, mesh, 25.0, "priority", repeats=1, budget_seconds=1.0)
    assert bench_refine_mesh.check(refined, mesh, 25.0)
    assert row["n_points"] > 304 and row["call_seconds"] > 0 and "insert" in row["kernels"]
    with pytest.warns(UserWarning, match="no row of Triangle"):
        assert bench_refine_mesh.measure_triangle("/bin/false", 10, 25.0) is None


def test_there_may_be_more_workers_than_triangles(session: Session) -> None:
    problem = ALGORITHM.problem(square(400).triangulate(), min_angle=28)
    for method in ("patches", "atomic"):
        plan = Refinement(session, problem, method=method, workers=5000)
        plan.run()
        assert plan.details["given_up"] == 0 and not plan.stopped


def test_wrong_arguments_are_refused() -> None:
    mesh = square().triangulate()
    wrong = [
        ({"min_angle": -1}, "min_angle"), ({"min_angle": 35}, "min_angle"), ({"max_area": 0}, "max_area"),
        ({"max_points": 0}, "max_points"), ({"min_angle": math.nan}, "min_angle"), ({"partial": 2}, "partial"),
        ({"whole": "all"}, "whole"), ({"conforming": "no"}, "conforming"),
    ]  # fmt: skip
    for arguments, name in wrong:
        with pytest.raises(InputError, match=name):
            refine_mesh(mesh, **arguments)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="TriangleMesh"):
        refine_mesh(mesh.points)
    for scale in (1e200, 1e76, 1e-71):
        with pytest.raises(MeshError, match="coordinates"):
            refine_mesh(cg.TriangleMesh.from_arrays(np.array([[0, 0], [1, 0], [0, 1]]) * scale, [[0, 1, 2]]))
    with pytest.raises(MeshError, match="0 triangles"):
        refine_mesh(cg.TriangleMesh.from_arrays(np.zeros((0, 2)), np.zeros((0, 3), int)))
    with pytest.raises(UnsupportedStrategyError, match="known: auto, patches"):
        refine_mesh(mesh, strategy="nonsense")


def test_devices_without_doubles_or_wide_atomics_are_told(pocl: Session) -> None:
    for strategy in STRATEGIES.values():
        assert strategy.unsupported(pocl.facts) is None
        assert "64-bit floats" in str(strategy.unsupported(replace(pocl.facts, has_fp64=False)))
        assert "64-bit atomics" in str(strategy.unsupported(replace(pocl.facts, has_int64_atomics=False)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.long
def test_random_planar_graphs_are_refined(pocl: Session, seed: int) -> None:
    """Crossing segments, points on segments and small angles, every strategy in turn."""
    rng = np.random.default_rng(seed)
    points = np.round(rng.random((12 + 5 * seed, 2)), rng.integers(1, 4))
    segments = rng.integers(0, len(points), (6 + seed, 2))
    graph = cg.PlanarGraph.from_arrays(points, segments[segments[:, 0] != segments[:, 1]])
    mesh = graph.triangulate(convex_hull=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for strategy in STRATEGIES:
            refined = refine_mesh(mesh, min_angle=22, max_points=20000, strategy=strategy, session=pocl, verify=True)
            assert refined.n_points >= mesh.n_points
