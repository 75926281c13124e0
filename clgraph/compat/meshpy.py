"""The module ``meshpy.triangle``, run by clgraph: a program changes only its import.

``from clgraph.compat import meshpy as triangle`` replaces ``import meshpy.triangle as triangle``.
``MeshInfo.write_neu`` and ``dump`` are missing; :func:`clgraph.write_mesh` writes files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from clgraph.arguments import shown
from clgraph.compat.meshpy_info import MeshInfo as MeshInfo
from clgraph.compat.meshpy_info import Rows as Rows
from clgraph.compat.meshpy_info import Vertex as Vertex
from clgraph.compat.triangulation import triangulate
from clgraph.errors import InputError
from clgraph.runtime.session import SessionLike

Refuses = Callable[[tuple["Vertex", ...], float], Any]


def build(
    mesh_info: MeshInfo,
    verbose: bool = False,
    refinement_func: Refuses | None = None,
    attributes: bool = False,
    volume_constraints: bool = False,
    max_volume: float | None = None,
    allow_boundary_steiner: bool = True,
    allow_volume_steiner: bool = True,
    quality_meshing: bool = True,
    generate_edges: bool | None = None,
    generate_faces: bool = False,
    min_angle: float | None = None,
    mesh_order: int | None = None,
    generate_neighbor_lists: bool = False,
    *,
    session: SessionLike = None,
) -> MeshInfo:
    """Triangulate a planar graph and refine it, as ``meshpy.triangle.build`` does.

    Parameters
    ----------
    mesh_info : MeshInfo
        Points, segments, holes and regions.
    verbose : bool
        Has no effect.
    refinement_func : callable, optional
        ``refinement_func(vertices, area)`` gets three :class:`Vertex`, and returns whether the triangle is too large.
    attributes : bool
        Give triangles the attributes of their regions.
    volume_constraints : bool
        Apply the largest areas of the regions.
    max_volume : float, optional
        Largest area of any triangle.
    allow_boundary_steiner, allow_volume_steiner : bool
        Whether segments at the boundary may be split, and whether any segment may.
    quality_meshing : bool
        Whether angles below *min_angle* are refined away.
    generate_edges, generate_faces : bool
        Return all edges as ``faces``.
    min_angle : float, optional
        Least angle in degrees; 20 by default.
    mesh_order : {1, 2}, optional
        2 gives triangles with six points.
    generate_neighbor_lists : bool
        Has no effect, as in MeshPy, where neighbours are always returned.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to refine.

    Returns
    -------
    MeshInfo

    Raises
    ------
    InputError
        The arrays describe no planar graph, or *allow_boundary_steiner* is set without *allow_volume_steiner*.

    Warns
    -----
    ConvergenceWarning
        As in :func:`clgraph.compat.triangulate`.

    Examples
    --------
    >>> from clgraph.compat import meshpy as triangle
    >>> info = triangle.MeshInfo()
    >>> info.set_points([(0, 0), (1, 0), (1, 1), (0, 1)])
    >>> info.set_facets([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> mesh = triangle.build(info, max_volume=0.3)
    >>> len(mesh.points), len(mesh.elements)
    (5, 4)
    """
    if allow_boundary_steiner and not allow_volume_steiner:
        raise InputError(
            "allow_volume_steiner = False keeps all segments whole, so allow_boundary_steiner must be False"
        )
    kinds = {"A": attributes, "a": volume_constraints, "e": generate_faces or generate_edges, "u": refinement_func}
    opts = "pjn" + "".join(letter for letter, is_set in kinds.items() if is_set)
    if quality_meshing:
        opts += "q" if min_angle is None else f"q{min_angle:f}"
    opts += f"a{max_volume:.20f}" if max_volume else ""
    opts += f"o{mesh_order}" if mesh_order else ""
    opts += "YY" if not allow_volume_steiner else "" if allow_boundary_steiner else "Y"
    return _triangulated(mesh_info, opts, refinement_func, session)


def refine(
    input_p: MeshInfo,
    verbose: bool = False,
    refinement_func: Refuses | None = None,
    quality_meshing: bool = True,
    min_angle: float | None = None,
    generate_neighbor_lists: bool = False,
    *,
    session: SessionLike = None,
) -> MeshInfo:
    """Refine a mesh to the areas in ``element_volumes``, as ``meshpy.triangle.refine`` does.

    The parameters are those of :func:`build`. Segments are kept if the mesh has them.

    Raises
    ------
    InputError
        The arrays describe no mesh.
    """
    opts = "rajn" + "p" * bool(input_p.facets) + "u" * (refinement_func is not None)
    if quality_meshing:
        opts += "q" if min_angle is None else f"q{min_angle:f}"
    return _triangulated(input_p, opts, refinement_func, session)


def subdivide_facets(
    subdivisions: int | Sequence[int],
    points: Sequence[Any],
    facets: Sequence[Any],
    facet_markers: Sequence[int] | None = None,
) -> tuple[list[Any], ...]:
    """Divide each segment into equal parts, for a boundary that the refinement must not change.

    Parameters
    ----------
    subdivisions : int, or sequence of int
        The number of parts of all segments, or of each.
    points, facets, facet_markers : sequence

    Returns
    -------
    points, facets, and markers if they were given : list
    """
    counts = [subdivisions] * len(facets) if isinstance(subdivisions, int) else [*subdivisions]
    if len(counts) != len(facets):
        raise InputError(f"subdivisions: {len(counts)} numbers for {len(facets)} facets")
    new_points: list[Any] = [*points]
    new_facets: list[Any] = []
    new_markers: list[int] = []
    for k, ((first, last), count) in enumerate(zip(facets, counts, strict=True)):
        steps = np.linspace(points[first], points[last], count + 1)[1:-1].tolist()
        chain = [first, *range(len(new_points), len(new_points) + len(steps)), last]
        new_points += steps
        new_facets += pairwise(chain)
        new_markers += [] if facet_markers is None else [facet_markers[k]] * count
    return (new_points, new_facets) if facet_markers is None else (new_points, new_facets, new_markers)


def write_gnuplot_mesh(filename: str | os.PathLike[str], out_p: MeshInfo, facets: bool = False) -> None:
    """Write the outlines of the triangles, or of the segments with *facets*, as lines for gnuplot."""
    outlines = ([*ends, ends[0]] for ends in (out_p.facets if facets else out_p.elements))
    text = "".join("".join("{:f} {:f}\n".format(*out_p.points[v]) for v in outline) + "\n" for outline in outlines)
    Path(filename).write_text(text, encoding="ascii")


_INPUT = {
    "points": "vertices", "point_markers": "vertex_markers", "point_attributes": "vertex_attributes",
    "facets": "segments", "facet_markers": "segment_markers", "holes": "holes", "regions": "regions",
}  # fmt: skip
_OUTPUT = {
    "points": "vertices", "point_markers": "vertex_markers", "point_attributes": "vertex_attributes",
    "facets": "segments", "facet_markers": "segment_markers", "elements": "triangles",
    "element_attributes": "triangle_attributes", "neighbors": "neighbors", "faces": "edges",
    "face_markers": "edge_markers",
}  # fmt: skip


def _triangulated(given: MeshInfo, opts: str, refuses: Refuses | None, session: SessionLike) -> MeshInfo:
    if not isinstance(given, MeshInfo):
        raise InputError(f"mesh_info = {shown(given)}; allowed: a MeshInfo of this module")
    tri: dict[str, Any] = {key: [*values] for name, key in _INPUT.items() if (values := getattr(given, name))}
    if "r" in opts:
        tri |= {"triangles": [*given.elements]}
        if given.element_attributes:
            tri["triangle_attributes"] = [*given.element_attributes]
        if given.element_volumes:
            areas = np.asarray(given.element_volumes, float)
            tri["triangle_max_area"] = np.where(areas > 0, areas, np.inf)
    function = None if refuses is None else lambda corners, area: refuses(tuple(Vertex(*at) for at in corners), area)
    found, made = triangulate(tri, opts, refinement_func=function, session=session), MeshInfo()
    for name, key in _OUTPUT.items():
        if key in found:
            values = found[key]
            setattr(made, name, Rows((values[:, 0] if values.shape[1:] == (1,) else values).tolist()))
    return made
