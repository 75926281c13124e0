"""The refinement that Triangle's options ask for, also by a user's function and to angles above 34 degrees."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.refine_mesh import refine_mesh
from clgraph.algorithms.refine_mesh.problem import MAX_UNLIMITED_ANGLE
from clgraph.arguments import refusing
from clgraph.compat.switches import Switches
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import ConvergenceWarning
from clgraph.runtime.session import SessionLike

# Without option S, refinement to more than 34 degrees stops at this multiple of the points that 34 degrees take.
_POINTS_FACTOR = 4
_BELOW = 0.999  # A triangle that the user's function refuses gets this part of its area as its largest area.


def refined(
    mesh: TriangleMesh,
    switches: Switches,
    is_too_large: Callable[[list[list[float]], float], Any] | None,
    deterministic: bool,
    session: SessionLike,
) -> TriangleMesh:
    """Return *mesh* refined as options q, a, D, u, S and Y ask for."""
    angle = switches.numbers["q"] if "q" in switches.letters else 0.0
    refine = partial(
        refine_mesh, max_area=switches.numbers.get("a"), whole=switches.whole, conforming="D" in switches.letters,
        deterministic=deterministic, session=session,
    )  # fmt: skip
    most = mesh.n_points + int(switches.numbers["S"]) if "S" in switches.letters else None
    with warnings.catch_warnings():
        # The user asked that segments stay whole, so bad triangles at such segments need no warning.
        if switches.whole != "none":
            warnings.filterwarnings("ignore", ".*segments that stay whole", ConvergenceWarning)
        if angle > MAX_UNLIMITED_ANGLE:
            warnings.warn(
                f"option q{angle:g} asks for angles above {MAX_UNLIMITED_ANGLE:g} degrees; refinement hardly ever ends",
                ConvergenceWarning, stacklevel=3,
            )  # fmt: skip
            if most is None:
                mesh = refine(mesh, min_angle=MAX_UNLIMITED_ANGLE)
                most = _POINTS_FACTOR * mesh.n_points
        refine = partial(refine, min_angle=angle, max_points=most)
        return refine(mesh) if is_too_large is None else _refined_by(is_too_large, mesh, refine)


def _refined_by(
    is_too_large: Callable[[list[list[float]], float], Any],
    mesh: TriangleMesh,
    refine: Callable[[TriangleMesh], TriangleMesh],
) -> TriangleMesh:
    """Refine until the user's function returns false for all triangles, or until a round adds no point."""
    given = mesh
    # Region attributes carry the number of the triangle in *given* from which a new triangle has its bounds.
    mesh = refine(replace(mesh, region_attributes=np.arange(mesh.n_triangles, dtype=np.float64)))
    accepted = np.zeros(0, "V12")
    while True:
        assert mesh.region_attributes is not None
        origins, keys = mesh.region_attributes.astype(np.int64), _triangle_keys(mesh)
        bounds = np.full(mesh.n_triangles, np.inf) if given.max_areas is None else given.max_areas[origins]
        new, areas = np.flatnonzero(~np.isin(keys, accepted)), mesh.areas()
        corners, sizes = mesh.points[mesh.triangles[new]].tolist(), areas[new].tolist()
        with refusing("refinement_func", is_too_large, "a function (vertices, area) that returns a truth value"):
            refused = [bool(is_too_large(vertices, area)) for vertices, area in zip(corners, sizes, strict=True)]
        bad = new[np.array(refused, bool)]
        if bad.size:
            n_points, accepted = mesh.n_points, np.delete(keys, bad)
            caps = bounds.copy()
            caps[bad] = np.minimum(bounds[bad], _BELOW * areas[bad])
            mesh = refine(replace(mesh, max_areas=caps))
        if not bad.size or mesh.n_points == n_points:
            break
    if bad.size:
        warnings.warn(f"refinement_func refuses {bad.size} triangles that are left", ConvergenceWarning, stacklevel=4)
    attributes = None if given.region_attributes is None else given.region_attributes[origins]
    return replace(mesh, region_attributes=attributes, max_areas=None if given.max_areas is None else bounds)


def _triangle_keys(mesh: TriangleMesh) -> NDArray[Any]:
    """Return a value of 12 bytes for each triangle, which depends on its corners but not on their order."""
    corners = np.ascontiguousarray(np.sort(mesh.triangles, axis=1))
    return corners.view("V12").ravel()
