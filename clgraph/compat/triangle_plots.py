"""``plot`` and ``compare`` of the package triangle: drawings of dictionaries of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clgraph.arguments import checked_array
from clgraph.errors import InputError

_RAY = 100.0  # length of drawn rays of a Voronoi diagram, in units of their directions


def plot(ax: Any, **kw: Any) -> None:
    """Draw the arrays of a dictionary of :func:`triangulate` or :func:`loads`: ``plot(ax, **found)``.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw; its axes are hidden.
    **kw
        ``vertices``, and any of ``segments`` (red), ``triangles`` (black), ``holes`` (crosses), ``edges`` with
        ``ray_origins`` and ``ray_directions``, ``regions`` (stars with their attributes) and ``triangle_attributes``.
        With ``labels`` the points get their numbers, with ``markers`` their markers. Other keys are ignored.

    Raises
    ------
    InputError
        There are no ``vertices``.
    """
    if "vertices" not in kw:
        raise InputError(f"plot: {sorted(kw)}; needed: vertices")
    arrays = {name: checked_array(name, values) for name, values in kw.items() if name not in ("labels", "markers")}
    points = arrays["vertices"]
    ax.set_aspect("equal")
    ax.scatter(*points.T, color="k")
    for name, texts in (("labels", np.arange(len(points))), ("markers", arrays.get("vertex_markers", points[:, :0]))):
        if name in kw:
            for place, text in zip(points, texts.reshape(len(points), -1), strict=True):
                ax.text(*place, ", ".join(map(str, text.tolist())))
    if "segments" in arrays:
        ax.plot(*_lines(points[arrays["segments"]]), color="r", linewidth=3, zorder=0)
    if "triangles" in arrays:
        ax.triplot(*points.T, arrays["triangles"][:, :3], "ko-")
    if "holes" in arrays:
        ax.scatter(*arrays["holes"].T, marker="x", color="r")
    if "edges" in arrays:
        _draw_edges(ax, points, arrays)
    if "regions" in arrays:
        ax.scatter(*arrays["regions"][:, :2].T, marker="*", color="b")
        for x, y, attribute in arrays["regions"][:, :3]:
            ax.text(x, y, f" {attribute:g}", color="b", va="center")
    if "triangle_attributes" in arrays and "triangles" in arrays:
        centers = points[arrays["triangles"][:, :3]].mean(axis=1)
        ax.scatter(*centers.T, marker=".", color="m", zorder=1)
        values = arrays["triangle_attributes"].reshape(len(centers), -1)[:, 0]
        for (x, y), attribute in zip(centers, values, strict=True):
            ax.text(x, y, f" {attribute:g}", color="m", zorder=1, va="center")
    ax.get_xaxis().set_visible(False)
    ax.get_yaxis().set_visible(False)


def compare(plt: Any, A: Mapping[str, Any], B: Mapping[str, Any], figsize: tuple[float, float] = (6, 3)) -> None:
    """Draw two dictionaries side by side, at one scale, with *plt*, the module ``matplotlib.pyplot``."""
    _, (left, right) = plt.subplots(1, 2, figsize=figsize, sharey=True)
    plot(left, **A)
    limits = left.axis()
    plot(right, **B)
    right.axis(limits)
    plt.tight_layout()


def _lines(ends: Any) -> Any:
    """Return x and y of one line of matplotlib through all pairs of *ends*, shape (s, 2, 2), with NaN between them."""
    gaps = np.full((len(ends), 1, 2), np.nan)
    return np.concatenate([ends, gaps], axis=1).reshape(-1, 2).T


def _draw_edges(ax: Any, points: Any, arrays: Mapping[str, Any]) -> None:
    ax.plot(*_lines(points[arrays["edges"]]), color="k", linewidth=0.5)
    if "ray_origins" in arrays and "ray_directions" in arrays:
        limits, starts = ax.axis(), points[arrays["ray_origins"].ravel()]
        ax.plot(*_lines(np.stack([starts, starts + _RAY * arrays["ray_directions"]], axis=1)), color="k", linewidth=0.5)
        ax.axis(limits)  # Rays do not change the scale.
