"""``loads``, ``load`` and ``get_data`` of the package triangle: Triangle's files as dictionaries of arrays."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_path, shown
from clgraph.errors import GraphFileError, InputError
from clgraph.io.text import reading

_SUFFIXES = ("node", "ele", "poly", "area", "edge", "neigh")


class _Rows:
    """The rows of numbers of a text, without comments, which its methods consume from the first to the last."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind, self.at = kind, 0
        lines = (re.sub("#.*", "", line).split() for line in text.splitlines())
        try:
            self.rows = [[float(word) for word in words] for words in lines if words]
        except ValueError as error:
            raise GraphFileError(f"{kind}: {error}") from error

    def error(self, expected: str) -> GraphFileError:
        row = " ".join(f"{x:g}" for x in self.rows[self.at]) if self.at < len(self.rows) else "the end of the text"
        return GraphFileError(f"{self.kind}: {row}; expected {expected}")

    def header(self, names: str) -> list[int]:
        """Return the integers of the next row.

        The first is a number of rows; missing ones after it are 0.
        """
        n = len(names.split())
        row = self.rows[self.at] if self.at < len(self.rows) else []
        if not 0 < len(row) <= n or not all(x >= 0 and x == int(x) for x in row):
            raise self.error(f"the header '{names}'")
        self.at += 1
        return [int(x) for x in row] + [0] * (n - len(row))

    def table(self, n: int, name: str, widths: tuple[int, ...]) -> tuple[NDArray[np.float64], int]:
        """Return the next *n* rows without the number in front of each, and the first of these numbers."""
        rows = self.rows[self.at : self.at + n]
        for row in rows:
            if len(row) != len(rows[0]) or len(row) - 1 not in widths:
                raise self.error(f"{n} {name} of {' or '.join(map(str, widths))} numbers behind their own")
            self.at += 1
        if len(rows) < n:
            raise self.error(f"{n} {name}")
        table = np.array(rows, float).reshape(n, -1)
        return table[:, 1:], int(table[0, 0])


def loads(
    node: str | None = None,
    ele: str | None = None,
    poly: str | None = None,
    area: str | None = None,
    edge: str | None = None,
    neigh: str | None = None,
) -> dict[str, NDArray[Any]]:
    """Return the arrays in texts of Triangle's formats, with the keys that :func:`triangulate` takes.

    Parameters
    ----------
    node, ele, poly, area, edge, neigh : str, optional
        The contents of files with these suffixes. Points are numbered from 0 or from 1; the result counts from 0.

    Returns
    -------
    dict
        The arrays that are in the texts: ``vertices``, ``vertex_attributes``, ``vertex_markers``, ``triangles``,
        ``triangle_attributes``, ``segments``, ``segment_markers``, ``holes``, ``regions``, ``triangle_max_area``,
        ``edges``, ``ray_origins``, ``ray_directions``, ``triangle_neighbors``. A region with a single number has
        attribute 0 and this number as its largest area.

    Raises
    ------
    GraphFileError
        A text is not in its format.

    Examples
    --------
    >>> from clgraph.compat import loads
    >>> loads(node="3 2 0 0\\n1 0 0\\n2 1 0\\n3 0 1")["vertices"].tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    found: dict[str, NDArray[Any]] = {}
    base = 1
    for kind, text in (("node", node), ("poly", poly), ("ele", ele), ("area", area), ("edge", edge), ("neigh", neigh)):
        if text is not None:
            if not isinstance(text, str):
                raise InputError(f"{kind} = {shown(text)}; allowed: the text of a .{kind} file")
            base = _READERS[kind](_Rows(kind, text), found, base)
    return found


def load(directory: Any, name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of the files *name*.node, .ele, .poly and so on in *directory*, as :func:`loads` does.

    Raises
    ------
    InputError
        There is no such file, or a file is not in its format.
    """
    folder = checked_path("directory", directory)
    texts = {}
    for suffix in _SUFFIXES:
        if (file := folder / f"{name}.{suffix}").is_file():
            with reading(file) as stream:
                texts[suffix] = stream.read().decode("utf-8", "replace")
    if not texts:
        raise InputError(f"{folder} has no file {name}.node, {name}.ele, {name}.poly, .area, .edge or .neigh")
    return loads(**texts)


def get_data(name: str) -> dict[str, NDArray[Any]]:
    """Return one of the samples of the package triangle, such as ``"face"`` or ``"la"``, if that is installed.

    The samples belong to Triangle, whose licence is not free, so clgraph has no copies. The package is not imported.

    Raises
    ------
    InputError
        The package triangle is not installed, or has no such sample.
    """
    spec = importlib.util.find_spec("triangle")
    if spec is None or spec.origin is None:
        raise InputError(
            f"get_data({name!r}): the samples are in the package triangle, which is not installed; "
            "load(directory, name) reads files of your own"
        )
    return load(Path(spec.origin).parent / "data", name)


def _read_points(rows: _Rows, found: dict[str, NDArray[Any]], base: int) -> int:
    n, dimension, n_attributes, n_markers = rows.header("points 2 attributes markers")
    if n == 0:
        return base
    if dimension != 2:
        raise rows.error(f"points of 2 coordinates, not {dimension}")
    table, base = rows.table(n, "points", (2 + n_attributes + n_markers,))
    found["vertices"] = table[:, :2]
    if n_attributes:
        found["vertex_attributes"] = table[:, 2 : 2 + n_attributes]
    if n_markers:
        found["vertex_markers"] = table[:, 2 + n_attributes :].astype(np.intc)
    return base


def _read_poly(rows: _Rows, found: dict[str, NDArray[Any]], base: int) -> int:
    base = _read_points(rows, found, base)
    n, n_markers = rows.header("segments markers")
    if n:
        table, _ = rows.table(n, "segments", (2 + n_markers,))
        found["segments"] = table[:, :2].astype(np.intc) - np.intc(base)
        if n_markers:
            found["segment_markers"] = table[:, 2:].astype(np.intc)
    (n,) = rows.header("holes")
    if n:
        found["holes"] = rows.table(n, "holes", (2,))[0]
    if rows.at < len(rows.rows) and (n := rows.header("regions")[0]):
        regions = rows.table(n, "regions", (3, 4))[0]
        found["regions"] = np.insert(regions, 2, 0.0, axis=1) if regions.shape[1] == 3 else regions
    return base


def _read_triangles(rows: _Rows, found: dict[str, NDArray[Any]], base: int) -> int:
    n, n_corners, n_attributes = rows.header("triangles corners attributes")
    n_corners = n_corners or 3
    if n:
        table, _ = rows.table(n, "triangles", (n_corners + n_attributes,))
        found["triangles"] = table[:, :n_corners].astype(np.intc) - np.intc(base)
        if n_attributes:
            found["triangle_attributes"] = table[:, n_corners:]
    return base


def _read_areas(rows: _Rows, found: dict[str, NDArray[Any]], base: int) -> int:
    (n,) = rows.header("areas")
    if n:
        found["triangle_max_area"] = rows.table(n, "areas", (1,))[0]
    return base


def _read_edges(rows: _Rows, found: dict[str, NDArray[Any]], base: int) -> int:
    """Read edges, and from files of Voronoi diagrams rays, whose second end is -1 and followed by a direction."""
    n, n_markers = rows.header("edges markers")
    some = rows.rows[rows.at : rows.at + n]
    if len(some) < n or any(len(row) not in (3 + n_markers, 5 + n_markers) for row in some):
        raise rows.error(f"{n} edges")
    edges = np.array([row[1:3] for row in some if len(row) == 3 + n_markers], float).reshape(-1, 2)
    rays = np.array([row[1:5] for row in some if len(row) == 5 + n_markers], float).reshape(-1, 4)
    found["edges"] = edges.astype(np.intc) - np.intc(base)
    found["ray_origins"], found["ray_directions"] = rays[:, :1].astype(np.intc) - np.intc(base), rays[:, 2:]
    return base


def _read_neighbors(rows: _Rows, found: dict[str, NDArray[Any]], base: int) -> int:
    n, width = rows.header("triangles neighbors")
    if n:
        table = rows.table(n, "triangles", (width,))[0].astype(np.intc)
        found["triangle_neighbors"] = np.where(table < 0, np.intc(-1), table - np.intc(base))
    return base


_READERS: Mapping[str, Callable[[_Rows, dict[str, NDArray[Any]], int], int]] = {
    "node": _read_points, "poly": _read_poly, "ele": _read_triangles, "area": _read_areas, "edge": _read_edges,
    "neigh": _read_neighbors,
}  # fmt: skip
