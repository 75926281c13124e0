"""``part_graph`` and ``part_mesh`` of pymetis, run by clgraph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple, Never

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from clgraph.algorithms.partition import partition
from clgraph.arguments import check_length, checked_array, checked_count, checked_flag, refusing, shown
from clgraph.compat.metis_options import GType, option_of
from clgraph.compat.pieces import joined_pieces
from clgraph.data.graphs.csr import as_integers
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.sparse import checked_matrix
from clgraph.errors import InputError
from clgraph.runtime.session import SessionLike

_UFACTOR = 30  # METIS's default for k-way partitions: the excess weight that a part may have, in thousandths.


class MeshPartition(NamedTuple):
    """Result of :func:`part_mesh`, as pymetis returns it."""

    edge_cuts: int
    element_part: list[int]
    vertex_part: list[int]


class GraphPartition(NamedTuple):
    """Result of :func:`part_graph`, as pymetis returns it."""

    edge_cuts: int
    vertex_part: list[int]


def part_graph(
    nparts: int,
    adjacency: Any = None,
    xadj: Any = None,
    adjncy: Any = None,
    *,
    vweights: Any = None,
    eweights: Any = None,
    tpwgts: Sequence[float] | None = None,
    recursive: bool | None = None,
    contiguous: bool | None = None,
    options: Any = None,
    warn_on_copies: bool = False,
    session: SessionLike = None,
) -> GraphPartition:
    """Divide a graph by :func:`clgraph.partition`, with the arguments and result of ``pymetis.part_graph``.

    Parameters
    ----------
    nparts : int
    adjacency : sequence, dict, networkx graph, scipy sparse array, or pymetis.CSRAdjacency, optional
        ``adjacency[i]`` are the neighbours of vertex i, for i from 0 to ``len(adjacency) - 1``. In a sparse array, the
        neighbours are the columns of the entries in row i; the values are ignored.
    xadj, adjncy : int arrays, optional
        The graph as CSR, instead of *adjacency*: row offsets and neighbours.
    vweights, eweights : int arrays, optional
        Weights of the vertices and of the edges. *eweights* are in the order of *adjncy*; for a sparse array, row by
        row and in each row by rising columns.
    tpwgts : float array, shape (nparts,), optional
        The target weight of each part.
    recursive, warn_on_copies : bool, optional
        Ignored.
    contiguous : bool, optional
        Whether each part must be in one piece, like ``options.contig``. Pieces that a part has apart from its heaviest
        one go to neighbouring parts, if possible to parts with room.
    options : Options or pymetis.Options, optional
        Its ``seed``, ``ufactor`` and ``contig`` are used; ``numbering`` must be off. Others are ignored.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run.

    Returns
    -------
    GraphPartition
        ``edge_cuts``, the total weight of the edges between parts, and ``vertex_part``, a list of the part of each
        vertex.

    Raises
    ------
    InputError
        The graph is given twice or not at all, is not symmetric, or is not connected although parts must be
        contiguous; or *vweights* has several weights for each vertex.

    Warns
    -----
    RuntimeWarning
        A part weighs more than ``ufactor`` allows.

    Examples
    --------
    >>> from clgraph.compat import part_graph
    >>> edge_cuts, vertex_part = part_graph(2, adjacency=[[1], [0, 2], [1, 3], [2]])
    >>> edge_cuts, sorted(vertex_part)
    (1, [0, 0, 1, 1])
    """
    del recursive, warn_on_copies
    is_whole = contiguous is not None and checked_flag("contiguous", contiguous)
    is_whole = is_whole or option_of(options, "contig") > 0
    if (adjacency is None) == (xadj is None) or (xadj is None) != (adjncy is None):
        raise InputError("the graph is either adjacency, or xadj and adjncy")
    if adjacency is not None:
        xadj, adjncy = _csr_of(adjacency)
    weights = None if eweights is None else checked_array("eweights", eweights)
    graph = Graph(checked_array("xadj", xadj), checked_array("adjncy", adjncy), weights, directed=True)
    _check_constraints(vweights, graph.n_vertices)
    cut, parts = divided(graph, nparts, vweights, tpwgts, options, session, contiguous=is_whole)
    return GraphPartition(cut, parts.tolist())


def _csr_of(adjacency: Any) -> tuple[Any, Any]:
    """Return the row offsets and neighbours of a graph's *adjacency*, of any type that :func:`part_graph` takes."""
    if hasattr(adjacency, "adj_starts"):
        return adjacency.adj_starts, adjacency.adjacent
    if issparse(adjacency):
        pattern = Graph.from_scipy(checked_matrix(adjacency).astype(bool))
        return pattern.row_offsets, pattern.column_indices
    with refusing("adjacency", adjacency, "the neighbours of each vertex"):
        check_length("adjacency", adjacency)
        rows = [list(adjacency[vertex]) for vertex in range(len(adjacency))]
        return np.cumsum([0, *map(len, rows)], dtype=np.int64), as_integers("adjacency", [*chain.from_iterable(rows)])


def part_mesh(
    n_parts: int,
    connectivity: Sequence[Sequence[int]],
    options: Any = None,
    tpwgts: Sequence[float] | None = None,
    gtype: Any = None,
    ncommon: int = 1,
    *,
    session: SessionLike = None,
) -> MeshPartition:
    """Divide a mesh of any elements, with the arguments and result of ``pymetis.part_mesh``.

    For a mesh of triangles :func:`clgraph.partition` takes the :class:`clgraph.TriangleMesh` itself.

    Parameters
    ----------
    n_parts : int
    connectivity : sequence of sequences of int
        The points of each element, numbered from 0.
    options, tpwgts
        As in :func:`part_graph`.
    gtype : GType, optional
        ``NODAL``, the default: points that have an element in common are neighbours, and points are divided; an element
        goes to the part of most of its points. ``DUAL``: elements with common points are neighbours, and elements are
        divided; a point goes to the part of most of its elements.
    ncommon : int
        With ``DUAL``, the number of common points from which on elements are neighbours: 2 for triangles that share an
        edge, 3 for tetrahedra that share a face.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run.

    Returns
    -------
    MeshPartition
        ``edge_cuts``, the number of cut edges of the divided graph, and the part of each element and of each point.

    Raises
    ------
    InputError
        An argument is out of range, or parts must be contiguous and the graph is not connected.

    Examples
    --------
    >>> from clgraph.compat import GType, part_mesh
    >>> found = part_mesh(2, [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]], gtype=GType.DUAL, ncommon=2)
    >>> found.edge_cuts, len(found.element_part), len(found.vertex_part)
    (1, 4, 6)
    """
    by_elements = gtype is not None and getattr(gtype, "name", gtype) in ("DUAL", int(GType.DUAL))
    if not by_elements and gtype is not None and getattr(gtype, "name", gtype) not in ("NODAL", int(GType.NODAL)):
        raise InputError(f"gtype = {shown(gtype)}; allowed: None, GType.NODAL, GType.DUAL")
    ncommon = checked_count("ncommon", ncommon, 2**31 - 1)
    elements = _incidence(connectivity)
    graph = _elements_graph(elements, ncommon) if by_elements else _pattern(elements.T @ elements)
    contiguous = option_of(options, "contig") > 0
    cut, parts = divided(graph, n_parts, None, tpwgts, options, session, contiguous=contiguous)
    others = _induced(elements.T if by_elements else elements, parts, n_parts)
    points, cells = (others, parts) if by_elements else (parts, others)
    return MeshPartition(cut, cells.tolist(), points.tolist())


def nested_dissection(*_arguments: Any, **_options: Any) -> Never:
    """Raise an :class:`InputError`: clgraph orders no matrices.

    The message names functions that do.
    """
    raise InputError(
        "clgraph has no nested_dissection: it orders no matrices; use pymetis.nested_dissection, or to narrow a "
        "matrix's band scipy.sparse.csgraph.reverse_cuthill_mckee"
    )


def divided(
    graph: Graph, n_parts: int, weights: Any, shares: Any, options: Any, session: SessionLike, *, contiguous: bool
) -> tuple[int, NDArray[np.int32]]:
    """Return the cut and the part of each vertex, by :func:`clgraph.partition` with METIS's *options*."""
    if (numbering := option_of(options, "numbering")) > 0:
        raise InputError(f"options.numbering = {numbering}; vertices are numbered from 0")
    ufactor = option_of(options, "ufactor")
    imbalance = (ufactor if ufactor > 0 else _UFACTOR) / 1000
    shares = None if shares is None or len(shares) == 0 else shares
    found = partition(
        graph, n_parts, imbalance=imbalance, vertex_weights=weights, target_weights=shares,
        seed=max(0, option_of(options, "seed")), session=session,
    )  # fmt: skip
    if not contiguous:
        return found.edge_cut, found.parts
    return joined_pieces(graph, found.parts, n_parts, weights, shares, imbalance)


def _check_constraints(vweights: Any, n: int) -> None:
    """Raise if *vweights* has several weights for each of *n* vertices, as METIS's ``ncon`` allows."""
    size = 0 if vweights is None else checked_array("vweights", vweights).size
    if n and size > n and size % n == 0:
        raise InputError(
            f"vweights has {size // n} weights for each of {n} vertices; clgraph balances one weight. For several "
            "constraints use METIS itself (gpmetis, with ncon in the file), or pass a weighted sum of them"
        )


def _incidence(connectivity: Any) -> csr_array:
    """Return the matrix that has a 1 for each element (row) and each of its points (column)."""
    with refusing("connectivity", connectivity, "the points of each element"):
        check_length("connectivity", connectivity)
        rows = [list(element) for element in connectivity]
        points = as_integers("connectivity", [*chain.from_iterable(rows)])
    if not points.size or points.min() < 0:
        raise InputError("connectivity: each element needs the numbers of its points, from 0 on")
    offsets = np.cumsum([0, *map(len, rows)])
    return csr_array((np.ones(points.size, np.int64), points, offsets), shape=(len(rows), int(points.max()) + 1))


def _pattern(matrix: Any) -> Graph:
    """Return the graph of the entries of a symmetric matrix, without its diagonal."""
    entries = matrix.tocoo()
    off = entries.row != entries.col
    kept = csr_array((np.ones(np.count_nonzero(off), bool), (entries.row[off], entries.col[off])), matrix.shape)
    return Graph(kept.indptr, kept.indices, directed=True)


def _elements_graph(elements: csr_array, ncommon: int) -> Graph:
    """Return the graph of elements that share *ncommon* points, or all points but one of the smaller element."""
    common = (elements @ elements.T).tocoo()
    sizes = np.diff(elements.indptr)
    needed = np.minimum(ncommon, np.minimum(sizes[common.row], sizes[common.col]) - 1)
    common.data = common.data >= np.maximum(needed, 1)
    common.eliminate_zeros()
    return _pattern(common.tocsr())


def _induced(owners: Any, parts: NDArray[np.int32], n_parts: int) -> NDArray[np.int64]:
    """Return a part for each row of *owners*: the part that most of its columns have; among several, the lighter."""
    entries = owners.tocsr().tocoo()
    counts = csr_array((entries.data, (entries.row, parts[entries.col])), (owners.shape[0], n_parts))
    counts.sum_duplicates()
    found, is_split = np.zeros(owners.shape[0], np.int64), np.diff(counts.indptr) > 1
    alone = np.flatnonzero(np.diff(counts.indptr) == 1)
    found[alone] = counts.indices[counts.indptr[alone]]
    sizes = np.bincount(found[alone], minlength=n_parts)
    for row in np.flatnonzero(is_split):
        here = slice(counts.indptr[row], counts.indptr[row + 1])
        candidates = counts.indices[here][counts.data[here] == counts.data[here].max()]
        found[row] = candidates[sizes[candidates].argmin()]
        sizes[found[row]] += 1
    return found
