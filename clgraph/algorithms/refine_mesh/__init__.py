"""Delaunay refinement: insert points into a triangulation until its angles and areas are within bounds.

Strategies
----------
``patches``
    A work-item processes neighbouring bad triangles. It claims the triangles that it changes and keeps them until the
    launch ends, so it refines its patch like a sequential program. Triangles with short edges come first, in earlier
    launches.
``atomic``
    A work-item processes one bad triangle at a time. It claims the triangle's cavity and the triangles around it; the
    first claim wins.
``priority``
    Candidates find their cavities in one launch and claim them with hashed keys; the highest key wins. The next launch
    inserts the winners' points. Points, triangles and their order are the same in every run, and with
    ``deterministic=True`` on every device.
``three_phase``
    ``priority`` without atomics: candidates write their keys, then replace lower keys, then check whether their own
    keys are still there.
``two_stage``
    A round of ``three_phase``, then two in which the losing candidates search again and claim by atomics.
``two_stage_balanced``
    ``two_stage``, but new triangles are listed, and a separate launch checks equal shares of them.
``child_launch``
    ``two_stage``, but each work-group launches a grid that checks its new triangles. If kernels cannot launch others,
    the host launches one grid for all of them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.refine_mesh.problem import RefineProblem, as_problem
from clgraph.algorithms.refine_mesh.rounds import Refinement
from clgraph.algorithms.refine_mesh.strategies import STRATEGIES as STRATEGIES
from clgraph.algorithms.refine_mesh.strategies import contenders
from clgraph.data.meshes.mesh_location import along_segments, in_triangles
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.engine.algorithm import Algorithm
from clgraph.errors import ConvergenceWarning
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


@dataclass(frozen=True, eq=False, repr=False)
class RefinedMesh(TriangleMesh):
    """The result of :func:`refine_mesh`: a mesh with the history of its refinement.

    Meshes made of it, such as by ``without_unused_points()`` or ``dataclasses.replace``, keep ``history`` and ``info``.

    Attributes
    ----------
    history : int64 array, shape (rounds, 2)
        For each round, the number of bad triangles at its beginning and the number of points that it inserted. The last
        round finds no bad triangle, unless the run was stopped. ``info.details["launched_rounds"]`` may be greater:
        several rounds are launched before the host reads that the work is done.
    info : RunInfo
        What ran, where, and how long it took.
    """

    history: NDArray[np.int64] = field(kw_only=True)
    info: RunInfo = field(
        kw_only=True, default=cast(RunInfo, None)
    )  # The engine sets it after the run, although a mesh is frozen.

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.info._repr_html_()}"


def refine_mesh(
    mesh: TriangleMesh,
    *,
    min_angle: float = 30.0,
    max_area: float | None = None,
    max_points: int | None = None,
    strategy: str = "auto",
    session: SessionLike = None,
    partial: bool = False,
    whole: str = "none",
    conforming: bool = False,
    deterministic: bool = False,
    verify: bool = False,
) -> RefinedMesh:
    """Insert points into a Delaunay mesh until its angles are large enough and its triangles are small enough.

    The rules are J. Ruppert's. A segment is split if the corner of a triangle encroaches on it, that is, sees it under
    more than 180 degrees minus twice *min_angle*. Otherwise a bad triangle gets a point at its circumcentre, or nearer
    to its shortest edge (A. Üngör's off-centre). If that point would encroach on a segment, the segment is split
    instead. Orientation and in-circle tests are exact.

    Parameters
    ----------
    mesh : TriangleMesh
        A triangulation that is Delaunay except for its segments. Edges that are not Delaunay are flipped first. All
        segments stay, possibly split.
    min_angle : float
        The smallest angle wanted, in degrees, 0 to 34. On ordinary input the refinement terminates for angles up to 30;
        for larger ones it may not. Angles from 34 to 60 need *max_points*. With *conforming*, termination is proved up
        to 20.7 if segments meet at 60 degrees or more. Small angles caused by small angles between segments remain.
    max_area : float, optional
        The largest area wanted, in addition to bounds of the mesh.
    max_points : int, optional
        The greatest number of points of the result.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    partial : bool
        On Ctrl-C after rounds have begun, return the current mesh instead of raising an error.
    whole : {"none", "boundary", "segments"}
        The segments that must not be split: none, those at the boundary, or all. Triangles that would need a split stay
        bad and are counted in the warning.
    conforming : bool
        Also split segments that a corner sees under more than 90 degrees. Then all triangles are Delaunay even without
        regard to segments, and angles between segments and edges are larger, but there are more points.
    deterministic : bool
        Return the same points and triangles, in the same order and to the last bit, in every run and on every device.
        Only the strategy ``"priority"`` can.
    verify : bool
        Check the result against the definition, on the host.

    Returns
    -------
    RefinedMesh
        The refined mesh, with ``history`` and ``info``. The points of *mesh* come first, then the new points.
        New triangles have the attribute and the area bound of their region. If bounds differ within a region, a
        new triangle has the bound of one triangle that it replaces, and may exceed the bound of another. Parts
        of a segment, and new points on it, have the segment's marker. The attributes of new points are
        interpolated linearly in the triangles of *mesh*, and so not across holes and slots.

    Raises
    ------
    InputError
        An argument is out of range.
    MeshError
        The mesh has too many triangles, or its coordinates are too large or too close to each other.
    UnsupportedStrategyError
        The strategy is unknown or not deterministic, or the device lacks 64-bit floats or 64-bit atomics.
    DeviceMemoryError
        The mesh does not fit on the device.

    Warns
    -----
    ConvergenceWarning
        Bad triangles are left; the warning gives the reason. The mesh is still valid.

    Examples
    --------
    >>> import clgraph as cg
    >>> square = cg.TriangleMesh.from_arrays([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
    >>> refined = cg.refine_mesh(square, min_angle=25, max_area=0.01, session="cpu", strategy="priority")
    >>> refined.quality().min_angle >= 25, refined.quality().max_area <= 0.01
    (True, True)
    """
    problem = as_problem(
        mesh, min_angle=min_angle, max_area=max_area, max_points=max_points, partial=partial, whole=whole,
        conforming=conforming, deterministic=deterministic,
    )  # fmt: skip
    result: RefinedMesh = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify)
    details = result.info.details
    if why := details["stopped"]:
        warnings.warn(f"bad triangles are left: {why}", ConvergenceWarning, stacklevel=2)
    elif given_up := details["given_up"]:
        warnings.warn(
            f"{given_up} bad triangles could not be improved: their new points fall together with others when rounded"
            + ("" if whole == "none" else ", or lie behind segments that stay whole"),
            ConvergenceWarning,
            stacklevel=2,
        )
    return result


def _answer(problem: RefineProblem, plan: Refinement) -> RefinedMesh:
    mesh, found = problem.mesh, plan.read()
    origins, wholes, n_new = found["origins"], found["wholes"], len(found["points"]) - mesh.n_points
    markers = mesh.segment_markers[wholes]
    point_markers = np.concatenate([mesh.point_markers, np.zeros(n_new, np.int32)])
    for end in found["segments"].T:
        new = end >= mesh.n_points
        point_markers[end[new]] = markers[new]
    history = plan.history
    # A round may count points that find no room. Such points are not there in any later count.
    counts = np.minimum.accumulate(np.append(history[:, 1], len(found["points"]))[::-1])[::-1]
    return RefinedMesh(
        found["points"],
        found["triangles"],
        found["neighbors"],
        found["segments"],
        markers,
        point_markers,
        _attributes(mesh, found),
        None if mesh.region_attributes is None else mesh.region_attributes[origins],
        None if mesh.max_areas is None else mesh.max_areas[origins],
        history=np.column_stack([history[:, 0], np.diff(counts)]),
    )


def _attributes(mesh: TriangleMesh, found: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    """Return the attributes of all points. New points get values that are interpolated in the triangles of *mesh*."""
    n, points = mesh.n_points, found["points"]
    values = np.zeros((len(points), mesh.point_attributes.shape[1]))
    values[:n] = mesh.point_attributes
    if not values[n:].size:
        return values
    segment = np.full(len(points), -1, np.int64)
    segment[found["segments"].T] = found["wholes"]
    on = n + np.flatnonzero(segment[n:] >= 0)
    values[on] = along_segments(mesh, points[on], segment[on])
    inside = n + np.flatnonzero(segment[n:] < 0)
    number = np.full(len(points), -1, np.int64)
    number[inside] = np.arange(inside.size)
    of_corners = number[found["triangles"]]
    triangle, corner = np.nonzero(of_corners >= 0)
    starts = found["origins"][triangle]  # triangles of *mesh*, near the place
    values[inside] = in_triangles(mesh, points[inside], of_corners[triangle, corner], starts)
    return values


def _check(problem: RefineProblem, result: RefinedMesh) -> None:
    from clgraph.reference.refine_mesh import check_delaunay

    is_done = not result.info.details["stopped"] and not result.info.details["given_up"]
    check_delaunay(
        result if is_done else replace(result, max_areas=None),
        original=problem.mesh,
        min_angle=problem.min_angle if is_done else 0.0,
        max_area=problem.max_area if is_done else None,
    )


ALGORITHM = Algorithm("refine_mesh", STRATEGIES, contenders, as_problem, _answer, _check, takes="mesh")
