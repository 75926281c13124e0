"""``part_graph`` of pymetis and ``triangulate`` of triangle, run by clgraph: a program changes only its imports."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from clgraph.algorithms.partition import partition
from clgraph.algorithms.refine_mesh import refine_mesh
from clgraph.arguments import check_length, checked_array, checked_flag, refusing, shown
from clgraph.data.graphs.csr import as_integers
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.sparse import checked_matrix
from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import ConvergenceWarning, InputError
from clgraph.runtime.session import SessionLike

_SEGMENT_KEYS = {"segments", "segment_markers", "holes", "regions"}
_TRIANGLE_KEYS = _SEGMENT_KEYS | {
    "vertices", "vertex_attributes", "vertex_markers", "triangles", "triangle_attributes", "triangle_max_area",
    "neighbors", "edges", "edge_markers",
}  # fmt: skip
_TRIANGLE_INTEGERS = {"segments", "segment_markers", "vertex_markers", "triangles"}
_TRIANGLE_OPTIONS = r"(q[\d.]*|a[\d.]*|S\d*|V+|[prcADYjneBzQXiFlCgkNPEI])*"
_ADDS_POINTS = {"q", "a", "D"}
_TRIANGLE_LEFT_OUT = {"B": "_markers$", "P": "^(segment|holes|regions)", "N": "^vert", "E": "^triangle"}
_TRIANGLE_ANGLE = 20.0  # If Triangle's option q has no number, Triangle takes this least angle in degrees.
_UFACTOR = 30  # METIS's default for k-way partitions: the excess weight that a part may have, in thousandths.


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
        Only false is allowed.
    options : pymetis.Options, optional
        Its ``seed`` and ``ufactor`` are used; ``contig`` and ``numbering`` must be off. Others are ignored.
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
        The graph is given twice or not at all, is not symmetric, or contiguous parts are asked for.

    Examples
    --------
    >>> from clgraph.compat import part_graph
    >>> edge_cuts, vertex_part = part_graph(2, adjacency=[[1], [0, 2], [1, 3], [2]])
    >>> edge_cuts, sorted(vertex_part)
    (1, [0, 0, 1, 1])
    """
    del recursive, warn_on_copies
    for name, value in (("contiguous", contiguous), ("options.contig", getattr(options, "contig", -1) > 0)):
        if value is not None and checked_flag(name, value):
            raise InputError(f"{name} = True; parts may be in several pieces here")
    if (numbering := getattr(options, "numbering", -1)) > 0:
        raise InputError(f"options.numbering = {numbering}; vertices are numbered from 0")
    if (adjacency is None) == (xadj is None) or (xadj is None) != (adjncy is None):
        raise InputError("the graph is either adjacency, or xadj and adjncy")
    if adjacency is not None:
        xadj, adjncy = _csr_of(adjacency)
    weights = None if eweights is None else checked_array("eweights", eweights)
    graph = Graph(checked_array("xadj", xadj), checked_array("adjncy", adjncy), weights, directed=True)
    seed, ufactor = getattr(options, "seed", -1), getattr(options, "ufactor", -1)
    result = partition(
        graph,
        nparts,
        imbalance=(ufactor if ufactor > 0 else _UFACTOR) / 1000,
        vertex_weights=vweights,
        target_weights=tpwgts,
        seed=max(0, seed),
        session=session,
    )
    return GraphPartition(result.edge_cut, result.parts.tolist())


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


def triangulate(tri: Mapping[str, Any], opts: str = "", *, session: SessionLike = None) -> dict[str, NDArray[Any]]:
    """Triangulate points or a planar graph as ``triangle.triangulate`` does.

    Parameters
    ----------
    tri : dict
        ``vertices``, float array, shape (n, 2), and optionally ``vertex_attributes``, ``vertex_markers``, ``segments``,
        ``segment_markers``, ``holes`` (a point inside each), ``regions`` (x, y, attribute, largest area), and with
        option r ``triangles``, ``triangle_attributes``, ``triangle_max_area``.
    opts : str
        Letters, some followed by a number. Spaces and a leading ``-`` are ignored, and so are options that do not
        change the result.

        * ``p``: use segments, holes and regions. Without segments, the convex hull is triangulated.
        * ``r``: start from the given triangles. With ``q``, ``a`` or ``D``, their edges are first flipped until they
          are Delaunay, except for segments.
        * ``q20``: no angle is below 20 degrees, which is also the default.
        * ``a0.1``: no triangle's area is above 0.1. Without a number, the areas of the regions or triangles apply.
        * ``A``: give triangles the attributes of their regions.
        * ``D``: make all triangles Delaunay by splitting segments. ``s``, which is similar, is refused.
        * ``S100``: add at most 100 points.
        * ``c``: keep the convex hull. ``j``: drop points that belong to no triangle.
        * ``e``: return edges. ``n``: return neighbours.
        * ``B``, ``P``, ``N``, ``E``: leave out markers, segments, vertices, triangles.
        * ``Y``: split no segments at the boundary. ``YY``: split no segments at all.

        Options ``s``, ``u``, ``v`` and ``o`` are refused.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to refine.

    Returns
    -------
    dict
        ``vertices``, ``vertex_markers``, ``triangles``, and depending on the options ``vertex_attributes``,
        ``neighbors``, ``triangle_attributes``, ``segments``, ``segment_markers``, ``edges``, ``edge_markers``, with
        the shapes that ``triangle`` gives; ``holes`` and ``regions`` as they were given.

    Raises
    ------
    InputError
        An option or key is unknown, or the arrays describe no planar graph or mesh.

    Examples
    --------
    >>> from clgraph.compat import triangulate
    >>> square = {"vertices": [[0, 0], [1, 0], [1, 1], [0, 1]], "segments": [[0, 2]]}
    >>> sorted(triangulate(square, "pc")["segments"].tolist())
    [[0, 1], [0, 2], [1, 2], [2, 3], [3, 0]]
    """
    letters, numbers, has_areas = _triangle_options(opts)
    needed = {"vertices", "triangles"} if "r" in letters else {"vertices"}
    if not isinstance(tri, Mapping) or needed - set(tri) or set(tri) - _TRIANGLE_KEYS:
        given = list(tri) if isinstance(tri, Mapping) else shown(tri)
        raise InputError(f"tri: {given}; needed: a dict with {sorted(needed)}; known: {sorted(_TRIANGLE_KEYS)}")
    known = {
        key: _integers(values) if key in _TRIANGLE_INTEGERS else values
        for key, values in tri.items() if "p" in letters or key not in _SEGMENT_KEYS
    }  # fmt: skip
    points: dict[str, Any] = {
        "point_markers": known.get("vertex_markers"),
        "point_attributes": known.get("vertex_attributes"),
        "segment_markers": known.get("segment_markers"),
    }
    if "r" in letters:
        attributes, areas = (_column(known.get(f"triangle_{name}")) for name in ("attributes", "max_area"))
        arrays = known["vertices"], known["triangles"], known.get("segments")
        mesh = TriangleMesh.from_arrays(*arrays, region_attributes=attributes, max_areas=areas, **points)
        mesh = mesh.with_boundary_markers()
        mesh = mesh.to_delaunay() if letters & _ADDS_POINTS else mesh
    else:
        segments, holes, regions = (known.get(key, ()) for key in ("segments", "holes", "regions"))
        graph = PlanarGraph.from_arrays(known["vertices"], segments, holes=holes, regions=regions, **points)
        mesh = graph.triangulate(convex_hull="c" in letters, keep_points=True)
    if not has_areas:
        mesh = replace(mesh, max_areas=None)
    if letters & _ADDS_POINTS:
        whole = "segments" if opts.count("Y") > 1 else "boundary" if "Y" in letters else "none"
        most = mesh.n_points + int(numbers["S"]) if "S" in letters else None
        with warnings.catch_warnings():
            # The user asked that segments stay whole, so bad triangles at such segments need no warning.
            if whole != "none":
                warnings.filterwarnings("ignore", ".*segments that stay whole", ConvergenceWarning)
            mesh = refine_mesh(
                mesh,
                min_angle=numbers["q"] if "q" in letters else 0.0,
                max_area=numbers.get("a"),
                max_points=most,
                whole=whole,
                conforming="D" in letters,
                session=session,
            )
    mesh = mesh.without_unused_points() if "j" in letters else mesh
    return _as_dictionary(mesh, tri, letters)


def _triangle_options(opts: object) -> tuple[frozenset[str], dict[str, float], bool]:
    """Return the letters in Triangle's options *opts*, the numbers after q,
    a and S, and whether an ``a`` has no number.
    """
    allowed = "allowed: Triangle's p r q a A c D Y S j n e B P N E, and Q V z X i F l C"
    if not isinstance(opts, str):
        raise InputError(f"opts = {shown(opts)}; {allowed}")
    opts = "".join(opts.split()).removeprefix("-")
    if rest := re.sub("^" + _TRIANGLE_OPTIONS, "", opts):
        raise InputError(f"opts = {shown(opts)}; {rest[0]!r} is unknown; {allowed}")
    numbers = {"S": 0.0, "q": _TRIANGLE_ANGLE}
    found = re.findall(r"([qaS])([\d.]*)", opts)
    for letter, digits in found:
        try:
            numbers |= {letter: float(digits)} if digits else {}
        except ValueError:
            raise InputError(f"opts = {shown(opts)}; {letter} is followed by {digits!r}, which is no number") from None
    return frozenset(re.sub(r"[\d.]", "", opts)), numbers, ("a", "") in found


def _integers(values: Any) -> Any:
    """Return *values* as integers if they are floats without fractions, as programs often read files as floats."""
    array = checked_array("an array of integers", values)
    is_whole = array.dtype.kind == "f" and bool((array == np.rint(array)).all() and (np.abs(array) < 2**53).all())
    return array.astype(np.int64) if is_whole else values


def _column(values: Any) -> Any:
    """Return an array of shape (n, 1) as (n,)."""
    array = None if values is None else checked_array("an array of triangles", values)
    return array[:, 0] if array is not None and array.ndim == 2 and array.shape[1] == 1 else array


def _as_dictionary(mesh: TriangleMesh, given: Mapping[str, Any], letters: frozenset[str]) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {"vertices": mesh.points}
    if mesh.point_attributes.shape[1]:
        found["vertex_attributes"] = mesh.point_attributes
    found["vertex_markers"] = mesh.point_markers[:, None]
    found["triangles"] = mesh.triangles
    if mesh.region_attributes is not None and letters & {"A", "r"}:
        found["triangle_attributes"] = mesh.region_attributes[:, None]
    if "n" in letters:
        found["neighbors"] = mesh.neighbors
    if letters & {"p", "c"}:
        found["segments"], found["segment_markers"] = mesh.segments, mesh.segment_markers[:, None]
    if "e" in letters:
        found["edges"], markers = mesh.edges()
        found["edge_markers"] = markers[:, None]
    if "p" in letters:
        found |= {key: np.asarray(given[key], float) for key in ("holes", "regions") if key in given}
    gone = [_TRIANGLE_LEFT_OUT[letter] for letter in sorted(letters & set(_TRIANGLE_LEFT_OUT))]
    return {key: values for key, values in found.items() if not any(re.search(part, key) for part in gone)}
