"""Figures that are drawn into files, without a display."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clgraph.errors import InputError


@contextmanager
def figure_file(path: str | Path, width: float, height: float) -> Iterator[Any]:
    """Give an empty matplotlib figure of so many inches, and save it once it is drawn.

    Parameters
    ----------
    path : str or Path
        Its suffix gives the format: ``.png``, ``.svg``, ``.pdf``.

    Raises
    ------
    InputError
        Matplotlib is missing, or does not know the suffix.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("a plot needs matplotlib: the extra `plot` of clgraph-opencl") from error
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    yield figure
    try:
        figure.savefig(path)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
