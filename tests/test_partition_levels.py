"""Levels of the multilevel method: matchings, contractions, mates of each vertex."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from graphs import UNDIRECTED
from partition_runs import (
    SMALL,
    once_fixture,  # noqa: F401
    quiet,
)
from scipy.sparse import csr_array

import clgraph as cg
from clgraph.algorithms.partition import STRATEGIES, as_problem, multilevel, partition
from clgraph.algorithms.partition.multilevel import REFINING
from clgraph.algorithms.partition.problem import CONTRACTIONS, MATCHINGS, REFINEMENTS
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.runtime.session import Session


def levels_of(session: Session, graph: Graph, *, drop_light_edges: bool = False, **settings):
    """Return the plan of a run, and each level as a scipy matrix with the weights of its vertices and its map."""
    problem = as_problem(graph, n_parts=2, **settings)
    plan = STRATEGIES["gpu"].plan(session, problem, coarsest=1, drop_light_edges=drop_light_edges)
    plan.run()
    program, words = plan.program(REFINING), plan.arrays["levels"].get()
    arena, n_words = plan.arrays["arena"].get(), program.constant("LEVEL_WORDS")
    at = {name: program.constant(f"LEVEL_{name}") for name in (
        "VERTICES", "ENTRIES", "ROWS", "COLUMNS", "EDGE_WEIGHTS", "VERTEX_WEIGHTS", "MAP",
    )}  # fmt: skip
    found = []
    for level in range(len(plan.levels)):
        own = {name: int(words[n_words * level + place]) for name, place in at.items()}
        n, m = own["VERTICES"], own["ENTRIES"]

        def part(name: str, size: int, own=own):
            return arena[own[name] : own[name] + size]

        if level:
            csr = (part("EDGE_WEIGHTS", m), part("COLUMNS", m), part("ROWS", n + 1))
            found.append((csr, part("VERTEX_WEIGHTS", n), part("MAP", n)))
        else:
            weights = np.ones(n, int) if plan.problem.vertex_weights is None else plan.problem.vertex_weights
            entries = np.ones(m, int) if graph.edge_weights is None else graph.edge_weights
            found.append(((entries, graph.column_indices, graph.row_offsets), weights, part("MAP", n)))
    return plan, found


def contraction_of(fine, weights, to, n_coarse: int) -> np.ndarray:
    """Return the matrix of the level on which vertices become *to*."""
    n, kept = weights.size, to >= 0
    onto = csr_array((np.ones(kept.sum(), int), (np.flatnonzero(kept), to[kept])), shape=(n, n_coarse))
    expected = (onto.T @ csr_array(fine, shape=(n, n)) @ onto).toarray()
    np.fill_diagonal(expected, 0)
    return expected


@pytest.mark.parametrize("contraction", CONTRACTIONS)
@pytest.mark.parametrize("matching", MATCHINGS)
@pytest.mark.parametrize("name", ["grid", "scale-free", "star", "duplicates-self-loops", "scattered"])
@pytest.mark.parametrize("cycles", [0, 1])
def test_every_level_is_the_contraction_of_the_one_before(
    session: Session, name: str, matching: str, contraction: str, cycles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(multilevel._CYCLES, "normal", (cycles, 1 << 16))

    graph = UNDIRECTED[name]()
    _, levels = levels_of(session, graph, matching=matching, contraction=contraction)
    if matching == "two_hop":
        assert levels[-1][1].size <= 256 or name == "scale-free" or cycles
    for (fine, weights, to), (coarse, coarse_weights, _) in pairwise(levels):
        n_coarse, kept = coarse_weights.size, to >= 0
        assert (np.diff(fine[2])[~kept] == 0).all()
        sizes = np.bincount(to[kept], minlength=n_coarse)
        assert sizes.min() >= 1 and sizes.max() <= 2  # onto, and a matching
        np.testing.assert_array_equal(np.bincount(to[kept], weights[kept], n_coarse), coarse_weights)
        expected = contraction_of(fine, weights, to, n_coarse)
        found = csr_array(coarse, shape=(n_coarse, n_coarse))
        np.testing.assert_array_equal(found.toarray(), expected)
        assert (found.toarray() == found.toarray().T).all()
        places = np.repeat(np.arange(n_coarse), np.diff(coarse[2])) * n_coarse + coarse[1]
        assert found.nnz == np.unique(places).size and (contraction == "hashed" or (np.diff(places) > 0).all())


def test_claims_in_two_halves_are_the_same(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for has_atomics in (True, False):
        monkeypatch.setattr(pocl.commands, "facts", replace(pocl.facts, has_int64_atomics=has_atomics))
        graph = cg.generators.rmat(9, 6, seed=3)
        found.append(quiet(graph, 4, session=pocl, strategy="gpu", matching="segmented", deterministic=True, **SMALL))
        assert ("break_ties" in found[-1].info.kernels) is not has_atomics
    assert (found[0].parts == found[1].parts).all()


@pytest.mark.parametrize("contraction", CONTRACTIONS)
def test_light_edges_of_coarse_levels_are_dropped(session: Session, contraction: str, once: None) -> None:
    """Weights of vertices and the symmetry are conserved, and what stays has its full weight; the sum is not."""
    graph = cg.generators.rmat(10, 6, seed=2)
    _, levels = levels_of(session, graph, contraction=contraction, drop_light_edges=True)
    n_dropped, most = 0, -(-2 * graph.n_edges // graph.n_vertices)
    for (fine, weights, to), (coarse, coarse_weights, _) in pairwise(levels):
        n, kept = coarse_weights.size, to >= 0
        expected = contraction_of(fine, weights, to, n)
        found = csr_array(coarse, shape=(n, n)).toarray()
        np.testing.assert_array_equal(np.bincount(to[kept], weights[kept], n), coarse_weights)
        assert (found == found.T).all() and (found[found > 0] == expected[found > 0]).all()
        assert coarse[0].size <= 1.2 * most * n
        dropped = expected[(found == 0) & (expected > 0)]
        n_dropped += dropped.size
        if dropped.size:  # the lightest, by powers of two; of the class of the heaviest of them some stay
            assert int(dropped.max()).bit_length() <= int(coarse[0].min()).bit_length()
            assert coarse[0].size >= 0.8 * most * n
    assert n_dropped
    for refinement in REFINEMENTS:
        variants = {"contraction": contraction, "refinement": refinement, "drop_light_edges": True}
        quiet(graph, 8, session=session, strategy="gpu", verify=True, **variants, **SMALL)
    with pytest.raises(InputError, match="drop_light_edges"):
        partition(graph, 2, session=session, strategy="gpu", drop_light_edges=2)


def test_meshes_keep_their_edges(pocl: Session) -> None:
    graph = cg.generators.delaunay_points(2000, seed=2)
    one, other = (quiet(graph, 8, session=pocl, strategy="gpu", drop_light_edges=drops) for drops in (False, True))
    assert (one.parts == other.parts).all()


@pytest.mark.parametrize("matching", ["lock_free", "segmented"])
def test_mates_are_neighbours_and_light(session: Session, matching: str, once: None) -> None:
    graph = cg.generators.delaunay_points(600, seed=2)
    weights = np.random.default_rng(4).integers(1, 9, graph.n_vertices)
    plan, levels = levels_of(session, graph, matching=matching, vertex_weights=weights)
    most = 3 * weights.sum() // (2 * plan.setting.values["coarsest"])
    (_, columns, rows), own, to = levels[0]
    for c in range(levels[1][1].size):
        pair = np.flatnonzero(to == c)
        if pair.size == 2:
            assert pair[1] in columns[rows[pair[0]] : rows[pair[0] + 1]] and own[pair].sum() <= most


def test_segments_match_every_vertex_that_has_a_candidate(session: Session, once: None) -> None:
    """Rows are longer and shorter than a sub-group is wide, and a path of rising weights takes several rounds."""
    rising = Graph.from_edges(np.arange(999), np.arange(1, 1000), np.arange(1, 1000))
    doubled = Graph.from_edges(*np.random.default_rng(5).integers(500, size=(2, 2000)), n=500)
    for graph in (cg.generators.rmat(10, 8, seed=4), rising, doubled):
        _, levels = levels_of(session, graph, matching="segmented")
        assert len(levels) > 1
        ((_, columns, rows), weights, to) = levels[0]
        sizes = np.bincount(to[to >= 0])
        alone = np.append(to, -1)[: weights.size] >= 0
        alone[alone] = sizes[to[alone]] == 1
        sources = np.repeat(np.arange(weights.size), np.diff(rows))
        assert not (alone[sources] & alone[columns] & (sources != columns)).any()


def test_a_star_shrinks_by_either_matching(pocl: Session, once: None) -> None:
    for matching in MATCHINGS:
        result = partition(cg.generators.star(40_000), 2, matching=matching, session=pocl, strategy="gpu", verify=True)
        assert result.levels[-1]["vertices"] <= 200 and result.part_weights.max() <= 20_600
