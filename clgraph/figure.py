"""Matplotlib figures that are saved to files.

No display is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clgraph.errors import InputError, MissingExtraError


def check_figure(path: str | Path) -> None:
    """Raise an error if no figure can be saved as *path*.

    Callers check this before they compute the drawn data.

    Raises
    ------
    MissingExtraError
        Matplotlib is missing.
    InputError
        Matplotlib does not know the suffix, or the folder does not exist.
    """
    known = _classes()[1].get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in known:
        raise InputError(f"{path}: the suffix must be one of {', '.join(f'.{suffix}' for suffix in sorted(known))}")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"{path}: {Path(path).parent} is no folder")


@contextmanager
def figure_file(path: str | Path, width: float, height: float) -> Iterator[Any]:
    """Yield an empty matplotlib figure of *width* × *height* inches, and save it at the end of the block.

    Parameters
    ----------
    path : str or Path
        Its suffix gives the format: ``.png``, ``.svg``, ``.pdf``.

    Raises
    ------
    MissingExtraError, InputError
        As :func:`check_figure`.
    """
    check_figure(path)
    figure_class, canvas_class = _classes()
    figure = figure_class(figsize=(width, height), dpi=120, layout="constrained")
    canvas_class(figure)
    yield figure
    figure.savefig(path)


def _classes() -> tuple[Any, Any]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("a plot needs matplotlib: pip install 'matplotlib>=3.8'") from error
    return Figure, FigureCanvasAgg
