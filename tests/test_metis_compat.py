"""pymetis's names in ``clgraph.compat``: options, contiguous parts, meshes of any elements."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import clgraph as cg
from clgraph.compat import GType, Options, nested_dissection, part_graph, part_mesh
from clgraph.compat.pieces import joined_pieces
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.runtime.session import Session


def n_pieces(graph: Graph, parts: NDArray[np.int32]) -> int:
    """Return the number of connected pieces of all parts together."""
    inside = parts[graph.sources()] == parts[graph.column_indices]
    links = graph.sources()[inside], graph.column_indices[inside]
    return int(connected_components(coo_array((np.ones(inside.sum()), links), (len(parts),) * 2), directed=False)[0])


def cut_of(graph: Graph, parts: NDArray[np.int32]) -> int:
    return int((parts[graph.sources()] != parts[graph.column_indices]).sum()) // 2


@pytest.mark.parametrize("seed", range(3))
def test_scattered_parts_become_contiguous_and_keep_their_limits(seed: int) -> None:
    graph = cg.generators.grid(30, 30)
    strips, rng = np.repeat(np.arange(6), 150).astype(np.int32), np.random.default_rng(seed)
    scattered = np.where(rng.random(900) < 0.1, rng.integers(0, 6, 900), strips).astype(np.int32)
    assert n_pieces(graph, scattered) > 20
    cut, parts = joined_pieces(graph, scattered, 6, None, None, 0.05)
    assert n_pieces(graph, parts) == 6 and cut == cut_of(graph, parts)
    assert np.bincount(parts).max() <= np.floor(1.05 * 150)


def test_contiguous_parts_obey_weights_and_shares() -> None:
    graph, weights = cg.generators.grid(20, 20), np.arange(400) % 3 + 1
    scattered = np.random.default_rng(0).integers(0, 3, 400).astype(np.int32)
    _, parts = joined_pieces(graph, scattered, 3, weights, [0.5, 0.3, 0.2], 0.03)
    assert n_pieces(graph, parts) == 3
    assert (np.bincount(parts, weights) <= np.ceil(1.03 * weights.sum() * np.array([0.5, 0.3, 0.2]))).all()


def test_parts_that_cannot_be_contiguous_and_balanced_raise_a_warning() -> None:
    star, parts = cg.generators.star(9), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1], np.int32)
    with pytest.warns(RuntimeWarning, match="weighs 3 more than the allowed 3.0% above its share"):
        _, joined = joined_pieces(star, parts, 2, None, None, 0.03)
    assert n_pieces(star, joined) == 2 and np.bincount(joined).tolist() == [8, 1]


@pytest.mark.parametrize("given", [{"contiguous": True}, {"options": Options(contig=1, seed=3)}])
def test_part_graph_makes_contiguous_parts(pocl: Session, given: dict[str, Any]) -> None:
    graph = cg.generators.grid(40, 40)
    found = part_graph(5, xadj=graph.row_offsets, adjncy=graph.column_indices, session=pocl, **given)
    parts = np.array(found.vertex_part, np.int32)
    assert n_pieces(graph, parts) == 5 and found.edge_cuts == cut_of(graph, parts)
    with pytest.raises(InputError, match="contiguous parts need a connected graph; this one has 2 components"):
        part_graph(2, [[1], [0], [3], [2]], session=pocl, **given)


def test_options_have_metis_names_and_integers() -> None:
    options = Options(ufactor=50, seed=7)
    options.contig = True
    assert (options.ufactor, options.contig, options.ncuts) == (50, 1, -1)
    assert repr(options) == "Options(seed=7, contig=1, ufactor=50)"
    with pytest.raises(AttributeError, match="METIS has no option 'colour'; known: ptype"):
        Options(colour=1)
    with pytest.raises(InputError, match=r"options\.seed = 1\.5; allowed: integers"):
        Options(seed=1.5)  # type: ignore[arg-type]


STRIP = [[k, k + 1, k + 2] for k in range(60)]  # each triangle shares an edge with the next


@pytest.mark.parametrize(
    ("gtype", "ncommon", "cut"), [(None, 1, 3), (GType.NODAL, 1, 3), (GType.DUAL, 2, 1), (0, 1, 3)]
)
def test_a_strip_of_triangles_is_cut_across(pocl: Session, gtype: Any, ncommon: int, cut: int) -> None:
    found = part_mesh(2, STRIP, gtype=gtype, ncommon=ncommon, session=pocl)
    assert (found.edge_cuts, len(found.element_part), len(found.vertex_part)) == (cut, 60, 62)
    for parts in found[1:]:
        assert np.count_nonzero(np.diff(parts)) == 1 and max(np.bincount(parts)) <= 32


def test_elements_of_several_kinds_are_divided(pocl: Session) -> None:
    """Two squares and four triangles; a small element is a neighbour if it shares all points but one."""
    elements = [[0, 1, 2, 3], [1, 4, 5, 2], [4, 6, 5], [6, 7, 5], [6, 8, 7], [8, 9, 7]]
    found = part_mesh(2, elements, gtype=GType.DUAL, ncommon=3, tpwgts=[0.5, 0.5], session=pocl)
    assert sorted(np.bincount(found.element_part)) == [3, 3] and set(found.vertex_part) == {0, 1}
    assert part_mesh(1, elements, session=pocl) == (0, [0] * 6, [0] * 10)


@pytest.mark.parametrize(("arguments", "match"), [
    ({"connectivity": []}, "each element needs"), ({"connectivity": 3}, "TypeError"),
    ({"connectivity": [[0, -1]]}, "each element needs"), ({"connectivity": STRIP, "gtype": 5}, "gtype = 5"),
    ({"connectivity": STRIP, "ncommon": 0}, "ncommon"),
])  # fmt: skip
def test_a_bad_mesh_is_refused(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        part_mesh(2, **arguments)


def test_what_clgraph_lacks_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"use pymetis\.nested_dissection, or .*reverse_cuthill_mckee"):
        nested_dissection([[1], [0]])
    for several in ([1, 2, 3, 4], [[1, 2], [3, 4]]):
        with pytest.raises(InputError, match=r"vweights has 2 weights for each of 2 vertices; .* use METIS itself"):
            part_graph(2, [[1], [0]], vweights=several)
