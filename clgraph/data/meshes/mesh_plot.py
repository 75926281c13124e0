"""Drawings of a mesh with matplotlib, which is imported when something is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clgraph.arguments import checked_array, checked_flag, shown
from clgraph.errors import InputError, MissingExtraError

_MAX_WITH_EDGES = 15_000  # triangles. In larger meshes, edges would cover the colours.
_MAX_CLASSES = 20  # colours of matplotlib's map tab20


def plot_mesh(
    points: NDArray[np.float64],
    triangles: NDArray[np.int32],
    segments: NDArray[np.int32],
    values: ArrayLike | None,
    ax: Any,
    edges: bool | None,
    style: Mapping[str, Any],
) -> Any:
    """Draw triangles, coloured by *values*, with their edges and segments, and return matplotlib's axes.

    :meth:`TriangleMesh.plot` describes the arguments.
    """
    if not len(triangles):
        raise InputError("the mesh has no triangles to draw")
    with_edges = len(triangles) <= _MAX_WITH_EDGES if edges is None else checked_flag("edges", edges)
    numbers = None if values is None else _checked_values(values, len(points), len(triangles))
    if numbers is None and style:
        raise InputError(f"{next(iter(style))}= colours triangles by values; pass values, too")
    ax = _new_axes() if ax is None else ax
    if not hasattr(ax, "tripcolor"):
        raise InputError(f"ax = {shown(ax)}; allowed: axes of matplotlib")
    if numbers is not None:
        of_points = len(numbers) == len(points) and len(numbers) != len(triangles)
        form: dict[str, Any] = {"shading": "gouraud"} if of_points else {"edgecolors": "face"}
        classes = _class_colors(numbers)
        form = {"rasterized": True, **form, **classes, **style}
        drawn = ax.tripcolor(*points.T, triangles, numbers, **form)
        ax.figure.colorbar(drawn, ax=ax, ticks=range(int(classes["vmax"] + 0.5)) if classes else None)
    if with_edges:
        ax.triplot(*points.T, triangles, color="black", linewidth=0.3)
    ends = points[segments]
    gaps = np.full((len(segments), 1, 2), np.nan)  # NaN ends a line, so all segments are one line of matplotlib.
    ax.plot(*np.concatenate([ends, gaps], axis=1).reshape(-1, 2).T, color="black", linewidth=1.0)
    ax.set_aspect("equal")
    return ax


def _checked_values(values: ArrayLike, n: int, t: int) -> NDArray[Any]:
    numbers = checked_array("values", values)
    if numbers.shape not in ((t,), (n,)) or numbers.dtype.kind not in "biuf":
        raise InputError(
            f"values have shape {numbers.shape} and type {numbers.dtype}; needed: numbers, ({t},) for triangles or "
            f"({n},) for points"
        )
    return numbers.astype(np.int8) if numbers.dtype.kind == "b" else numbers


def _class_colors(numbers: NDArray[Any]) -> dict[str, Any]:
    """Return the colour map and limits that give each of a few small integers a colour of its own."""
    if numbers.dtype.kind not in "iu" or not numbers.size or not 0 <= numbers.min() <= numbers.max() < _MAX_CLASSES:
        return {}
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    n = int(numbers.max()) + 1
    return {
        "cmap": ListedColormap(colormaps["tab20"](range(n))),
        "vmin": -0.5,
        "vmax": n - 0.5,
    }


def _new_axes() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("a plot needs matplotlib: pip install 'matplotlib>=3.8'") from error
    return plt.subplots(layout="compressed")[1]
