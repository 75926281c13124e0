"""Readers of Shewchuk's Triangle's files: points (.node), triangles (.ele), planar graphs (.poly), bounds (.area).

A ``#`` begins a comment. Numbers begin with 0 or 1, like the number of the first point. If a .poly file has no points,
they are in the .node file of the same name.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import GraphFileError, GraphFileWarning, MeshError
from clgraph.io.text import file_error, read_blocks, reading
from clgraph.io.triangle_names import companion, needed, stem_of
from clgraph.progress import reading_progress

_COMMENT = re.compile(rb"#[^\n]*")
_LARGEST_NUMBER = 2**31 - 2
Made = TypeVar("Made")


class _Points(NamedTuple):
    base: int
    points: NDArray[np.float64]
    attributes: NDArray[np.float64]
    markers: NDArray[np.int32]


class _Lines:
    """The lines of a file that contain numbers.

    The methods consume these lines from the first to the last.
    """

    def __init__(self, path: Path) -> None:
        values: list[NDArray[np.float64]] = [np.zeros(0)]
        counts, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        with reading(path) as stream:
            clean, progress = partial(_COMMENT.sub, b""), reading_progress(path)
            for block in read_blocks(stream, path, "numbers", comments=b"", clean=clean, progress=progress):
                some = np.flatnonzero(block.counts > 0)
                values.append(block.values.astype(np.float64))
                counts.append(block.counts[some])
                numbers.append(block.first_line + some)
        self.path = path
        self.values, self.counts, self.numbers = np.concatenate(values), np.concatenate(counts), np.concatenate(numbers)
        self.starts = np.cumsum(self.counts) - self.counts
        self.at = 0

    @property
    def left(self) -> int:
        return self.counts.size - self.at

    def error(self, expected: str, line: int | None = None) -> GraphFileError:
        """Return an error that names the *line* of the file, by default the next line to consume."""
        at = self.at if line is None else line
        if at >= self.counts.size:
            return file_error(self.path, f"the file ends; expected {expected}")
        text = " ".join(f"{x:.17g}" for x in self.values[self.starts[at] :][: self.counts[at]].tolist())
        return file_error(self.path, expected, line=int(self.numbers[at]), text=text.encode())

    def header(self, expected: str, most: int, defaults: tuple[int, ...]) -> list[int]:
        """Return the integers of the next line.

        *defaults* replace missing integers. The first is at most *most*.
        """
        if not self.left:
            raise self.error(expected)
        numbers = self.values[self.starts[self.at] :][: self.counts[self.at]]
        wrong = (numbers != np.floor(numbers)) | (numbers < 0) | (numbers > _LARGEST_NUMBER)
        if numbers.size > len(defaults) + 1 or wrong.any():
            raise self.error(expected)
        found = [*numbers.astype(int).tolist(), *defaults[numbers.size - 1 :]]
        if found[0] > most:
            raise self.error(f"{expected}; no more than the {most} lines that follow")
        self.at += 1
        return found

    def rows(self, n: int, widths: Sequence[int], expected: str, base: int) -> NDArray[np.float64]:
        """Return the next *n* lines of the file as rows, without the first number of each line.

        These first numbers must be *base*, *base* + 1, and so on. All rows must have the same width, one of *widths*.
        """
        if n > self.left:
            self.at = self.counts.size
            raise self.error(f"{n} lines with {expected}")
        counts = self.counts[self.at : self.at + n]
        width = int(counts[0]) - 1 if n else widths[0]
        if (bad := (counts != width + 1) | (width not in widths)).any():
            raise self.error(expected, self.at + int(bad.argmax()))
        start = int(self.starts[self.at]) if n else 0
        rows = self.values[start : start + n * (width + 1)].reshape(n, width + 1)
        if (bad := rows[:, 0] != base + np.arange(n)).any():
            at = int(bad.argmax())
            raise self.error(f"{expected}, with the number {base + at} in front", self.at + at)
        self.at += n
        return rows[:, 1:]

    def numbers_of(self, rows: NDArray[np.float64], base: int, n: int, expected: str) -> NDArray[np.int32]:
        """Convert *rows*, which were consumed last, to point numbers from 0 to *n* − 1."""
        bad = (rows != np.floor(rows)) | (rows < base) | (rows >= base + n)
        if bad.any():
            at = self.at - len(rows) + int(bad.any(axis=1).argmax())
            raise self.error(f"{expected}, numbers from {base} to {base + n - 1}", at)
        return (rows - base).astype(np.int32)

    def markers_of(self, column: NDArray[np.float64]) -> NDArray[np.int32]:
        """Convert *column*, from the rows consumed last, to int32 markers."""
        if (bad := (column != np.floor(column)) | (np.abs(column) > _LARGEST_NUMBER)).any():
            raise self.error("a marker of 32 bits at the end", self.at - column.size + int(bad.argmax()))
        return column.astype(np.int32)


def read_mesh(path: Path) -> TriangleMesh:
    """Read the .node and .ele files with the same stem as *path*, and the .poly and .area files if these exist.

    Raises
    ------
    GraphFileError
        A file is missing or malformed, or the data are not a triangulation.

    Warns
    -----
    GraphFileWarning
        Triangles have several attributes, of which the mesh gets the first, or six corners.
    """
    points = _read_points(_Lines(needed(path, ".node")))
    n, base = len(points.points), points.base
    lines = _Lines(needed(path, ".ele"))
    expected = "the header 'triangles [corners [attributes]]' with 3 or 6 corners"
    t, width, n_attributes = lines.header(expected, lines.left - 1, (3, 0))
    if width not in (3, 6):
        raise lines.error(expected, lines.at - 1)
    form = f"the number of a triangle, {width} corners and {n_attributes} attributes"
    rows = lines.rows(t, [width + n_attributes], form, base)
    triangles = lines.numbers_of(rows[:, :3], base, n, form)
    _warn_of_loss(lines.path, width, n_attributes)
    segments, markers = None, None
    if (poly := companion(path, ".poly")) is not None:
        lines = _Lines(poly)
        _read_points(lines, points)
        segments, markers = _read_segments(lines, base, n)
    areas = None
    if (area := companion(path, ".area")) is not None:
        lines = _Lines(area)
        (count,) = lines.header("the number of triangles", lines.left - 1, ())
        areas = lines.rows(count, [1], "the number of a triangle and its largest area", base)[:, 0]
    return _made(path, lambda: TriangleMesh.from_arrays(
        points.points, triangles, segments, segment_markers=markers, point_markers=points.markers,
        point_attributes=points.attributes, region_attributes=rows[:, width] if n_attributes else None,
        max_areas=areas,
    ))  # fmt: skip


def _warn_of_loss(path: Path, width: int, n_attributes: int) -> None:
    if n_attributes > 1:
        warnings.warn(
            f"{path}: triangles have {n_attributes} attributes; all but the first are left out",
            GraphFileWarning, stacklevel=4,
        )  # fmt: skip
    if width > 3:
        warnings.warn(
            f"{path}: triangles have {width} corners; the points in the middle of edges are left out of triangles, and "
            "without_unused_points() drops them",
            GraphFileWarning, stacklevel=4,
        )  # fmt: skip


def has_only_segments(path: Path) -> bool:
    """Return whether a .poly file has no points, holes and regions, as the files that ``write_mesh`` makes."""
    try:
        lines = _Lines(path)
        if lines.header("points", lines.left, (0, 0, 0))[0]:
            return False
        n_segments = lines.header("segments", lines.left - 1, (0,))[0]
        lines.at += n_segments
        return not any(lines.header(name, lines.left, ())[0] for name in ("holes", "regions") if lines.left)
    except GraphFileError:
        return False


def read_planar_graph(path: Path) -> PlanarGraph:
    """Read a planar graph from a .poly file, or its points from a .node file.

    Raises
    ------
    GraphFileError
        The file is missing or malformed.
    """
    lines = _Lines(path)
    is_poly = stem_of(path).suffix == ".poly"
    known = None
    if is_poly and lines.left and lines.values[0] == 0:
        known = _read_points(_Lines(needed(path, ".node")))
    points = _read_points(lines, known)
    segments, markers = np.zeros((0, 2), np.int32), np.zeros(0, np.int32)
    holes, regions = np.zeros((0, 2)), np.zeros((0, 4))
    if is_poly:
        segments, markers = _read_segments(lines, points.base, len(points.points))
        holes = _read_places(lines, "holes", [2])
        if lines.left:
            regions = _read_places(lines, "regions", [3, 4])
            # A region may have a single number, which is both its attribute and its largest area, as in Triangle.
            regions = np.pad(regions, ((0, 0), (0, 4 - regions.shape[1])), mode="edge")
    return _made(path, lambda: PlanarGraph.from_arrays(
        points.points, segments, segment_markers=markers, point_markers=points.markers,
        point_attributes=points.attributes, holes=holes, regions=regions,
    ))  # fmt: skip


def _read_points(lines: _Lines, known: _Points | None = None) -> _Points:
    expected = "the header 'points [2 [attributes [markers]]]', markers being 0 or 1"
    n, dimension, n_attributes, has_markers = lines.header(expected, lines.left - 1, (2, 0, 0))
    if dimension != 2 or has_markers > 1:
        raise lines.error(expected, lines.at - 1)
    if n == 0 and known is not None:
        return known
    base = int(lines.values[lines.starts[lines.at]]) if n else 1
    if base not in (0, 1):
        raise lines.error("a point with the number 0 or 1")
    form = f"the number of a point, 2 coordinates, {n_attributes} attributes and {has_markers} markers"
    rows = lines.rows(n, [2 + n_attributes + has_markers], form, base)
    markers = lines.markers_of(rows[:, -1]) if has_markers else np.zeros(n, np.int32)
    return _Points(base, rows[:, :2], rows[:, 2 : 2 + n_attributes], markers)


def _read_segments(lines: _Lines, base: int, n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    expected = "the header 'segments [markers]', markers being 0 or 1"
    s, has_markers = lines.header(expected, lines.left - 1, (0,))
    if has_markers > 1:
        raise lines.error(expected, lines.at - 1)
    form = f"the number of a segment, 2 points and {has_markers} markers"
    rows = lines.rows(s, [2 + has_markers], form, base)
    segments = lines.numbers_of(rows[:, :2], base, n, form)
    return segments, lines.markers_of(rows[:, 2]) if has_markers else np.zeros(s, np.int32)


def _read_places(lines: _Lines, name: str, widths: Sequence[int]) -> NDArray[np.float64]:
    (n,) = lines.header(f"the number of {name}", lines.left - 1, ())
    base = int(lines.values[lines.starts[lines.at]]) if n and lines.values[lines.starts[lines.at]] == 0 else 1
    return lines.rows(n, widths, f"the number of one of the {name} and {' or '.join(map(str, widths))} numbers", base)


def _made(path: Path, make: Callable[[], Made]) -> Made:
    try:
        return make()
    except MeshError as error:
        raise GraphFileError(f"{path}: {error}") from error
