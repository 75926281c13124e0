"""A plot of a mesh before and after its refinement, with angles and the number of bad triangles in each round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.refine_mesh import RefinedMesh
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.figure import figure_file

# greatest number of triangles that are drawn. In a drawing of more triangles, a triangle would be smaller than a pixel.
_MAX_DRAWN = 200_000
_MAX_WITH_EDGES = 15_000  # greatest number of triangles whose edges are drawn, too


def plot_refinement(before: TriangleMesh, after: RefinedMesh, min_angle: float, path: str | Path, name: str) -> None:
    """Save a plot of both meshes, coloured by smallest angle, with a histogram of angles and a plot of the rounds."""
    window = _window(after)
    width, height = np.ptp(after.points[after.triangles].reshape(-1, 2), axis=0) if window is None else (1.0, 1.0)
    is_wide = width > 1.3 * height
    wide = [["before", "angles"], ["after", "rounds"]]
    layout = wide if is_wide else [["before", "after", below] for below in ("angles", "rounds")]
    with figure_file(path, 16.0, 8.0 if is_wide else 6.0) as figure:
        axes = figure.subplot_mosaic(layout, width_ratios=(2, 1) if is_wide else (1, 1, 0.8))
        right = axes["angles"]
        figure.suptitle(f"{name} refined to {min_angle:g} degrees" + ("" if window is None else ": the middle of it"))
        for mesh, when in ((before, "before"), (after, "after")):
            drawn = _draw(axes[when], mesh, window)
            axes[when].set_title(f"{when}: {mesh.n_triangles:,} triangles")
        figure.colorbar(
            drawn, ax=[axes["before"], axes["after"]], label="least angle of a triangle (degrees)", shrink=0.8
        )
        for mesh, when, color in ((before, "before", "C1"), (after, "after", "C0")):
            angles = mesh.angles().ravel()
            right.hist(
                angles, bins=90, range=(0, 180), weights=np.full(angles.size, 100 / max(1, angles.size)),
                color=color, alpha=0.6, label=when,
            )  # fmt: skip
        right.axvline(min_angle, color="black", linewidth=1, linestyle="--", label="bound")
        right.set_xlabel("angle (degrees)")
        right.set_ylabel("% of all angles")
        right.set_title("Angles")
        right.legend(frameon=False)
        _draw_rounds(axes["rounds"], after.history)


def _draw_rounds(axes: Any, history: NDArray[np.int64]) -> None:
    rounds = np.arange(len(history))
    axes.plot(rounds, history[:, 0], color="C3", label="bad triangles left")
    axes.plot(rounds, history[:, 1].cumsum(), color="C0", label="points put in")
    axes.set_yscale("symlog")
    axes.set_xlabel("round")
    axes.set_title("Rounds")
    axes.legend(frameon=False)


def _window(mesh: TriangleMesh) -> NDArray[np.float64] | None:
    """Return the lower and the upper corner of the part to draw, or ``None`` for the whole mesh."""
    if mesh.n_triangles <= _MAX_DRAWN:
        return None
    centers = mesh.points[mesh.triangles].mean(axis=1)
    middle = np.median(centers, axis=0)
    distance = np.abs(centers - middle).max(axis=1)
    radius = np.partition(distance, _MAX_DRAWN)[_MAX_DRAWN]
    return np.array([middle - radius, middle + radius])


def _draw(axes: Any, mesh: TriangleMesh, window: NDArray[np.float64] | None) -> Any:
    triangles, points = mesh.triangles, mesh.points
    angles = mesh.angles().min(axis=1)
    if window is not None:
        centers = points[triangles].mean(axis=1)
        inside = ((centers > window[0]) & (centers < window[1])).all(axis=1)
        triangles, angles = triangles[inside], angles[inside]
        axes.set_xlim(*window[:, 0])
        axes.set_ylim(*window[:, 1])
    edges = {"edgecolors": "black", "linewidth": 0.2} if len(triangles) <= _MAX_WITH_EDGES else {"edgecolors": "face"}
    drawn = axes.tripcolor(
        *points.T, triangles, facecolors=angles, vmin=0, vmax=60, cmap="RdYlBu", rasterized=True, **edges
    )
    axes.set_aspect("equal")
    axes.tick_params(labelsize="small")
    return drawn
