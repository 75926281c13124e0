"""The class ``MeshInfo`` of ``meshpy.triangle``, and the classes of its arrays and corners."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, NamedTuple, Self

import numpy as np


class Vertex(NamedTuple):
    """A corner of a triangle, as refinement functions get it."""

    x: float
    y: float


class Rows(list[Any]):
    """A list of rows or numbers with the methods that arrays of MeshPy have."""

    def resize(self, n: int) -> None:
        """Make the list *n* items long; new items are ``None`` until they are set."""
        self[:] = [*self[:n], *[None] * (n - len(self))]

    def setup(self) -> None:
        """Do nothing. MeshPy's arrays get their memory here, and a list has it already."""

    def __getitem__(self, place: Any) -> Any:
        return self[place[0]][place[1]] if isinstance(place, tuple) else super().__getitem__(place)

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(place, tuple):
            self[place[0]][place[1]] = value
        elif isinstance(place, int) and place >= len(self):
            self.resize(place + 1)
            super().__setitem__(place, value)
        else:
            super().__setitem__(place, value)


def _attribute_count(attributes: str, of: str) -> property:
    """Return a property: the number of *attributes* of each item in the list *of*. Setting it makes them zeros."""

    def get(info: MeshInfo) -> int:
        rows = getattr(info, attributes)
        return np.size(rows[0]) if rows else 0

    def set_to(info: MeshInfo, n: int) -> None:
        items = getattr(info, of) if n else ()
        setattr(info, attributes, Rows([0.0] * n if n > 1 else 0.0 for _ in items))

    return property(get, set_to)


class MeshInfo:
    """A planar graph to triangulate, or a mesh.

    Attributes
    ----------
    points : Rows
        The coordinates x and y of each point.
    point_markers, point_attributes : Rows
    facets, facet_markers : Rows
        The segments, each as two numbers of points.
    holes : Rows
        A point inside each hole.
    regions : Rows
        For each region: x and y of a point inside, an attribute, and the largest area of its triangles.
    elements : Rows
        The triangles, each as three numbers of points, or six with ``mesh_order=2``.
    element_attributes, element_volumes : Rows
        The attribute of each triangle's region; and its largest area for :func:`refine`, without a limit if negative.
    neighbors : Rows
        The triangles opposite the three corners; -1 where there is none.
    faces, face_markers : Rows
        All edges, with ``generate_faces=True``.
    number_of_point_attributes, number_of_element_attributes : int
        The number of attributes of each point and of each triangle. To set one makes all of these attributes zero.
    """

    number_of_point_attributes = _attribute_count("point_attributes", "points")
    number_of_element_attributes = _attribute_count("element_attributes", "elements")

    def __init__(self) -> None:
        self.points, self.point_markers, self.point_attributes = Rows(), Rows(), Rows()
        self.facets, self.facet_markers = Rows(), Rows()
        self.holes, self.regions = Rows(), Rows()
        self.elements, self.element_attributes, self.element_volumes = Rows(), Rows(), Rows()
        self.neighbors, self.faces, self.face_markers = Rows(), Rows(), Rows()

    def set_points(self, points: Iterable[Any], point_markers: Iterable[int] | None = None) -> None:
        """Set the points, and their markers if given."""
        self.points = Rows(points)
        self.point_markers = Rows(() if point_markers is None else point_markers)

    def set_facets(self, facets: Iterable[Any], facet_markers: Iterable[int] | None = None) -> None:
        """Set the segments, and their markers if given."""
        self.facets = Rows(facets)
        self.facet_markers = Rows(() if facet_markers is None else facet_markers)

    def set_holes(self, hole_starts: Iterable[Any]) -> None:
        """Set the holes: a point inside each."""
        self.holes = Rows(hole_starts)

    def copy(self) -> Self:
        """Return a copy that shares no list with this object."""
        return deepcopy(self)

    @property
    def face_vertex_indices_to_face_marker(self) -> dict[frozenset[int], int]:
        """The marker of each edge, by the set of its two points."""
        return {frozenset(face): marker for face, marker in zip(self.faces, self.face_markers, strict=True)}
