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
_SIDE_BY_SIDE = 0.75  # Meshes whose height is a smaller part of their width are drawn above each other.
_MAX_LABELS = 20  # greatest number of regions that get a number
_EXCUSED = "#c51b8a"
_MAX_WITH_EDGES = 15_000  # greatest number of triangles whose edges are drawn, too


def plot_refinement(
    before: TriangleMesh, after: RefinedMesh, min_angle: float, path: str | Path, name: str,
    excused: NDArray[np.bool_] | None = None,
) -> None:  # fmt: skip
    """Save a plot of both meshes, coloured by smallest angle, with a histogram of angles and a plot of the rounds.

    Regions are outlined and numbered by their attributes, and the triangles of *excused* are drawn in one colour.
    """
    window = _window(after)
    width, height = np.ptp(after.points[after.triangles].reshape(-1, 2), axis=0) if window is None else (1.0, 1.0)
    layout, ratios, size = _layout(float(height / width) if width > 0 < height else 1.0)
    with figure_file(path, *size) as figure:
        axes = figure.subplot_mosaic(layout, width_ratios=ratios)
        figure.suptitle(f"{name} refined to {min_angle:g} degrees" + ("" if window is None else ": the middle of it"))
        for mesh, when in ((before, "before"), (after, "after")):
            drawn = _draw(axes[when], mesh, window)
            _draw_regions(axes[when], mesh, window)
            axes[when].set_title(f"{when}: {mesh.n_triangles:,} triangles")
        if excused is not None and excused.any():
            _draw_excused(axes["after"], after, excused)
        figure.colorbar(
            drawn, ax=[axes["before"], axes["after"]], label="least angle of a triangle (degrees)", location="bottom",
            shrink=0.8, aspect=40,
        )  # fmt: skip
        _draw_angles(axes["angles"], before, after, min_angle)
        _draw_rounds(axes["rounds"], after.history)


def _layout(ratio: float) -> tuple[list[list[str]], tuple[float, ...], tuple[float, float]]:
    """Return the places of the four plots, the widths of their columns, and the size of the figure in inches.

    The sizes follow *ratio*, the height of the mesh over its width, so that the meshes leave no empty space.
    """
    if ratio < _SIDE_BY_SIDE:
        across = min(9.0, 3.7 / max(ratio, 0.15))
        return (
            [["before", "angles"], ["after", "rounds"]],
            (across, 4.5),
            (across + 5.6, max(5.5, 2 * across * ratio + 2.6)),
        )
    across = min(5.5, 7.5 / ratio)
    layout = [["before", "after", below] for below in ("angles", "rounds")]
    return layout, (across, across, 4.0), (2 * across + 5.4, max(6.0, across * ratio + 2.0))


def _draw_angles(axes: Any, before: TriangleMesh, after: TriangleMesh, min_angle: float) -> None:
    for mesh, when, color in ((before, "before", "C1"), (after, "after", "C0")):
        angles = mesh.angles().ravel()
        axes.hist(
            angles, bins=90, range=(0, 180), weights=np.full(angles.size, 100 / max(1, angles.size)),
            color=color, alpha=0.6, label=when,
        )  # fmt: skip
    axes.axvline(min_angle, color="black", linewidth=1, linestyle="--", label="bound")
    axes.set_xticks(range(0, 181, 30))
    axes.set_xlabel("angle (degrees)")
    axes.set_ylabel("% of all angles")
    axes.set_title("Angles")
    axes.legend(frameon=False)


def _draw_rounds(axes: Any, history: NDArray[np.int64]) -> None:
    rounds = np.arange(len(history))
    axes.plot(rounds, history[:, 0], color="C3", label="bad triangles left")
    axes.plot(rounds, history[:, 1].cumsum(), color="C0", label="points put in")
    axes.set_yscale("symlog")
    axes.xaxis.get_major_locator().set_params(integer=True)
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


def _draw_regions(axes: Any, mesh: TriangleMesh, window: NDArray[np.float64] | None) -> None:
    """Draw the border of the mesh and of its regions, and write each region's attribute into its largest triangle."""
    regions = mesh.region_attributes
    other = mesh.neighbors
    borders = other < 0
    if regions is not None:
        borders |= regions[other] != regions[:, None]
    triangle, corner = np.nonzero(borders)
    ends = [mesh.points[mesh.triangles[triangle, (corner + step) % 3]] for step in (1, 2)]
    lines = np.stack(ends, axis=1)
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection([*lines], colors="black", linewidths=1.4 if window is None else 0.7))
    names = np.unique(regions) if regions is not None else np.zeros(0)
    if regions is None or not 1 < names.size <= _MAX_LABELS:
        return
    areas = mesh.areas()
    for name in names:
        inside = np.flatnonzero(regions == name)
        x, y = mesh.points[mesh.triangles[inside[areas[inside].argmax()]]].mean(axis=0)
        axes.text(
            x, y, f"{name:g}", ha="center", va="center", fontweight="bold", clip_on=True,
            bbox={"boxstyle": "round", "facecolor": "white", "alpha": 0.85},
        )  # fmt: skip
    axes.set_xlabel("numbers: attributes of the regions", fontsize="small")


def _draw_excused(axes: Any, mesh: TriangleMesh, excused: NDArray[np.bool_]) -> None:
    from matplotlib.collections import PolyCollection

    label = f"{int(excused.sum()):,} thin triangles between segments that meet at small angles"
    corners = [*mesh.points[mesh.triangles[excused]]]
    drawn = PolyCollection(corners, facecolors=_EXCUSED, edgecolors=_EXCUSED, linewidths=1.0, label=label)
    axes.add_collection(drawn)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), fontsize="small", frameon=False)
