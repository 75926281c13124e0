"""Delaunay refinement: a triangulation becomes one whose angles and areas are within bounds, by new points.

Strategies
----------
``patches``
    A work-item takes a share of the bad triangles that lie side by side, claims what it changes, and keeps it until
    the launch ends, so it improves its patch as a sequential program would. Launches go from short edges to longer
    ones.
``atomic``
    A work-item takes one bad triangle at a time and claims its cavity and the triangles around it, first come, first
    served.
``priority``
    Candidates find their cavities in one launch, and claim them with hashed keys of which the highest wins. The next
    launch inserts the winners. Points, triangles and their order are the same in every run and on every device.
``three_phase``
    As ``priority``, but without atomics: candidates write their keys, then raise lower ones, then check whether theirs
    have stayed.
``two_stage``
    A round of ``three_phase``, then two in which the candidates that have lost walk again and claim by atomics.
``two_stage_balanced``
    The same, but new triangles are listed, and a separate launch checks equal shares of them for bad ones.
``child_launch``
    The same, but each work-group launches a grid for its new triangles. Where kernels cannot launch others, the
    host does it for all of them together.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from html import escape

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.refine_mesh.problem import RefineProblem, as_problem
from clgraph.algorithms.refine_mesh.rounds import Refinement
from clgraph.algorithms.refine_mesh.strategies import STRATEGIES as STRATEGIES
from clgraph.algorithms.refine_mesh.strategies import contenders
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.engine.algorithm import Algorithm
from clgraph.errors import ConvergenceWarning
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class RefinedMesh(TriangleMesh):
    """A mesh that :func:`refine_mesh` has made.

    Attributes
    ----------
    history : int64 array, shape (rounds, 2)
        How many bad triangles there were when each round began, and how many points it put in.
    info : RunInfo
        How the run went.
    """

    history: NDArray[np.int64]
    info: RunInfo

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
    verify: bool = False,
) -> RefinedMesh:
    """Put points into a Delaunay mesh until its angles are large and its triangles small enough.

    J. Ruppert's rules are followed: a segment is split if the corner of a triangle encroaches on it, that is, sees it
    under more than 180 degrees less twice *min_angle*; else a bad triangle gets a point at its circumcentre, or nearer
    to its shortest edge (A. Üngör's off-centre), unless that would encroach on a segment, which is split instead.
    Orientation and circles are decided exactly.

    Parameters
    ----------
    mesh : TriangleMesh
        It is Delaunay, except for its segments. All of its segments stay, in parts.
    min_angle : float
        The least angle wanted, in degrees, 0 to 34. On ordinary input the refinement ends up to 30, and beyond that it
        may not. It is proved to end up to 20.7 with *conforming*, where segments meet at 60 degrees and more. Small
        angles that small angles between segments cause stay.
    max_area : float, optional
        The largest area wanted, in addition to the bounds that the mesh has.
    max_points : int, optional
        The most points that the result may have.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    partial : bool
        On Ctrl-C, return the mesh as it is then instead of raising an error, once rounds have begun.
    whole : {"none", "boundary", "segments"}
        What must not be split: nothing, the segments at the boundary, or all. Triangles that would need it stay bad,
        and are counted in the warning.
    conforming : bool
        Split segments that a corner sees under more than 90 degrees, too. Then all triangles are Delaunay without
        regard to segments, and angles between segments and edges are larger; there are more points.
    verify : bool
        Check the result against the definition, on the host.

    Returns
    -------
    RefinedMesh
        The points of *mesh* come first and new ones behind them. New triangles have the attribute and the bound of the
        region in which they are, and parts of segments the marker of the whole; new points on them have it, too. It
        has ``history`` and ``info``.

    Raises
    ------
    InputError
        An argument is out of range.
    MeshError
        The mesh has too many triangles, or its coordinates are too large or too close to each other.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it: it needs 64-bit floats and atomics.
    DeviceMemoryError
        The mesh does not fit on the device.

    Warns
    -----
    ConvergenceWarning
        Bad triangles are left, for the reason that the warning gives. The mesh is valid.

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
        conforming=conforming,
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
    inserted = np.diff(history[:, 1], append=len(found["points"]))
    refined = RefinedMesh(
        found["points"],
        found["triangles"],
        found["neighbors"],
        found["segments"],
        markers,
        point_markers,
        np.concatenate([mesh.point_attributes, _interpolated(mesh, found["points"][mesh.n_points :])]),
        None if mesh.region_attributes is None else mesh.region_attributes[origins],
        None if mesh.max_areas is None else mesh.max_areas[origins],
    )
    refined.history = np.column_stack([history[:, 0], inserted])
    return refined


def _interpolated(mesh: TriangleMesh, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return attributes of new *points*, linear between the points of the mesh."""
    if not mesh.point_attributes.shape[1] or not len(points):
        return np.zeros((len(points), mesh.point_attributes.shape[1]))
    from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator

    values: NDArray[np.float64] = LinearNDInterpolator(mesh.points, mesh.point_attributes)(points)
    outside = np.isnan(values).any(axis=1)
    if outside.any():  # rounding puts points on the boundary beyond it
        values[outside] = NearestNDInterpolator(mesh.points, mesh.point_attributes)(points[outside])
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
