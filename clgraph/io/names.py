"""Text files whose ids are names: quoted or plain fields between commas, tabs, semicolons or blanks."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.vertex_ids import as_ids
from clgraph.io.columns import COMMENTS, Columns, Lead, Roles, find_columns, plain_name
from clgraph.io.text import Progress, file_error

_BLOCK_ROWS = 1 << 16  # rows between two conversions of Python's numbers to arrays
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_DELIMITERS = ",\t;"


class Layout(NamedTuple):
    """The form of a file with names: where its rows begin, and what is in its columns."""

    rows: list[tuple[int, bytes]]  # number and text of the lines that were read as candidates for the first row
    columns: tuple[int, ...]  # positions of both ids and, if there is one, of the value
    width: int  # number of columns
    delimiter: str  # empty if blanks are between the columns
    forced: bool  # whether the user says that the ids are names


class Named(NamedTuple):
    """The rows of a file with names."""

    pairs: tuple[NDArray[np.int32], NDArray[np.int32]]  # positions of both ids in the names
    values: NDArray[Any] | None
    names: tuple[NDArray[Any], NDArray[Any]]  # the sorted names of the first and the second column


def layout(
    path: Path, roles: Roles, lead: Lead, columns: Columns | None, expected: str, *, forced: bool
) -> Layout | None:
    """Return the form of a file whose ids are names, or ``None`` if the ids are numbers.

    Parameters
    ----------
    path : Path
    roles : Roles
        The roles of the columns: two ids, and a value that may be optional.
    lead : Lead
        The beginning of the file.
    columns : tuple of str, dict or None
        The user's names of the columns.
    expected : str
        The form of a line, for errors.
    forced : bool
        Whether the user says that the ids are names. If not, a header or *columns* must name the columns, and an id in
        the first row must be no number.

    Raises
    ------
    GraphFileError
        The header or the columns do not fit *roles*.
    """
    has_header = bool(lead.names) and _has_header(path, roles, lead, columns)
    if not forced and not has_header and columns is None:
        return None
    rows = [(lead.line, lead.row)] if lead.row else []
    if lead.names and not has_header and forced:
        rows.insert(0, (lead.header_line, lead.header))
    if not rows:
        return None
    delimiter = _delimiter(_text(path, *rows[0]))
    first = _fields_of(path, *rows[0])
    names = lead.names if has_header else []
    found = None
    if names or columns is not None:
        found = find_columns(path, roles, lead._replace(names=names, row=b""), columns, expected)
    positions = found or tuple(range(min(len(first), len(roles.all))))
    width = len(names) or (len(columns) if isinstance(columns, tuple) else len(first))
    fits = len(first) == width and len(roles.needed) <= len(positions)
    ids = [first[place] for place in positions[:2]] if fits else []
    if not forced and (all(map(_NUMBER.fullmatch, ids)) or not all(name and name.isprintable() for name in ids)):
        return None
    if not fits:
        raise file_error(path, expected, line=rows[0][0], text=rows[0][1])
    return Layout(rows, positions, width, delimiter, forced)


def read_names(
    stream: IO[bytes], path: Path, form: Layout, expected: str, *, apart: bool, progress: Progress | None
) -> Named:
    """Read the rows of a file with names.

    Parameters
    ----------
    stream : file
        The lines after the rows in *form*.
    path : Path
    form : Layout
    expected : str
        The form of a line, for errors.
    apart : bool
        Whether the two columns of ids are two sets, as users and items are.
    progress : callable, optional
        As in :func:`clgraph.read`.

    Raises
    ------
    GraphFileError
        A line has another number of fields, an empty id, or a value that is no finite number. Or most names are
        numbers, although the user did not say that ids are names.
    """
    numbers: list[dict[str, int]] = [{}, {}] if apart else [{}]
    pairs: list[list[NDArray[np.int32]]] = []
    values: list[NDArray[Any]] = []
    for lines, rows in _blocks(stream, path, form, progress):
        pairs.append([])
        for number, place in zip((numbers[0], numbers[-1]), form.columns, strict=False):
            names = [row[place] for row in rows]
            if not all(names):
                at = names.index("")
                raise file_error(path, f"{expected}, and no id empty", line=lines[at], text=_shown(rows[at]))
            pairs[-1].append(np.array([number.setdefault(name, len(number)) for name in names], np.int32))
        if len(form.columns) > 2:
            values.append(_values(path, form.columns[2], lines, rows, expected))
    if not form.forced and all(map(_are_numbers, numbers)):
        line, text = form.rows[0]
        raise file_error(path, f"{expected}, ids being integers (ids='names' takes any text)", line=line, text=text)
    found = [_sorted(number) for number in numbers]
    ends = [np.concatenate(side) for side in zip(*pairs, strict=True)]
    return Named((found[0][1][ends[0]], found[-1][1][ends[1]]), _joined(values), (found[0][0], found[-1][0]))


def _has_header(path: Path, roles: Roles, lead: Lead, columns: Columns | None) -> bool:
    """Return whether a first line without numbers is a header.

    It is one if it has a known word for a column, or if only the second line has a number in the column of the values.
    """
    known = frozenset(chain.from_iterable(roles.all.values()))
    if isinstance(columns, Mapping) or any(plain_name(name) in known for name in lead.names):
        return True
    value = [*roles.all][2]
    at = columns.index(value) if columns is not None and value in columns else 2
    row = _fields_of(path, lead.line, lead.row)
    return at < min(len(row), len(lead.names)) and _NUMBER.fullmatch(row[at]) is not None


def _blocks(
    stream: IO[bytes], path: Path, form: Layout, progress: Progress | None
) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield the numbers of the lines and the stripped fields of the rows, block by block."""
    lines, rows, at = [], [], [0]

    def texts() -> Iterator[str]:
        n_bytes, last = 0, form.rows[-1][0]
        for number, raw in chain(form.rows, enumerate(stream, last + 1)):
            n_bytes += len(raw)
            at[0] = number
            if number % _BLOCK_ROWS == 0 and progress is not None:
                progress(n_bytes)
            if raw.strip() and raw.lstrip()[0] not in COMMENTS:
                yield _text(path, number, raw)

    try:
        for fields in _fields(texts(), form.delimiter):
            if len(fields) != form.width:
                raise file_error(path, f"{form.width} columns", line=at[0], text=_shown(fields))
            lines.append(at[0])
            rows.append(fields)
            if len(rows) == _BLOCK_ROWS:
                yield lines, rows
                lines, rows = [], []
    except csv.Error as error:
        raise file_error(path, f"is no line of fields (the csv module says: {error})", line=at[0]) from error
    if rows:
        yield lines, rows


def _delimiter(line: str) -> str:
    return next((mark for mark in _DELIMITERS if mark in line), "")


def _fields(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    if not delimiter:
        return (line.split() for line in lines)
    return ([field.strip() for field in row] for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True))


def _fields_of(path: Path, line: int, raw: bytes) -> list[str]:
    """Return the fields of one row, which may be empty."""
    text = _text(path, line, raw)
    try:
        return next(_fields([text], _delimiter(text)), [])
    except csv.Error as error:
        raise file_error(path, f"a line of fields (the csv module says: {error})", line=line, text=raw) from error


def _text(path: Path, line: int, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise file_error(path, "text in UTF-8", line=line, text=raw) from error


def _shown(row: list[str]) -> bytes:
    return ",".join(row).encode()


def _are_numbers(names: Iterable[str]) -> bool:
    """Return whether most of the names are integers."""
    known = list(names)
    return 2 * sum(_INTEGER.fullmatch(name) is not None for name in known) > len(known)


def _values(path: Path, place: int, lines: list[int], rows: list[list[str]], expected: str) -> NDArray[Any]:
    """Return the fields at *place* as int64 numbers if all are integers, else as float64."""
    texts = [row[place] for row in rows]
    if all(map(_INTEGER.fullmatch, texts)) and max(map(len, texts)) < 19:
        return np.array([int(text) for text in texts], np.int64)
    values = np.array([float(text) if _NUMBER.fullmatch(text) else np.nan for text in texts])
    if not (finite := np.isfinite(values)).all():
        at = int(finite.argmin())
        raise file_error(path, f"{expected}, each value a finite number", line=lines[at], text=_shown(rows[at]))
    return values


def _joined(blocks: list[NDArray[Any]]) -> NDArray[Any] | None:
    """Return the values of all blocks as int32, int64 or float64, whichever fits first."""
    if not blocks:
        return None
    values = np.concatenate(blocks)
    is_narrow = values.dtype.kind == "i" and values.min() >= -(2**31) and values.max() < 2**31
    return values.astype(np.int32) if is_narrow else values


def _sorted(number: Mapping[str, int]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the names in sorted order, and the position there of the name with each number."""
    names = as_ids("ids", list(number))
    order = np.argsort(names) if names.dtype.kind != "O" else np.array(sorted(range(names.size), key=names.__getitem__))
    rank = np.empty(names.size, np.int32)
    rank[order] = np.arange(names.size, dtype=np.int32)
    return names[order], rank
