"""Reading and writing of rating files: text, Matrix Market coordinates, and numpy archives."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_callback, check_choice, checked_count, checked_path, is_among, shown
from clgraph.data.ratings.ratings import Numbers, Ratings
from clgraph.data.ratings.triples import DuplicateRatings, checked_triples
from clgraph.errors import GraphFileError, GraphFileWarning, InputError
from clgraph.io import _detect, matrix_market
from clgraph.io.columns import COMMENTS, Columns, Roles, checked_columns, find_columns, read_lead, seem_times, separated
from clgraph.io.edges import Edges, believed_vertices
from clgraph.io.names import layout, read_names
from clgraph.io.npz import read_archive
from clgraph.io.parquet import read_table
from clgraph.io.pipes import is_pipe, read_pipe
from clgraph.io.text import Block, Progress, file_error, read_blocks, reading, replacing
from clgraph.progress import reading_progress

FORMATS = ("text", "matrix_market", "npz", "parquet")
NAMED = "'user item rating' or 'user item rating time'"
EXPECTED = f"{NAMED}, ids being integers (ids='names' takes any text)"
ROLES = Roles(
    {
        "user": frozenset(("user", "userid", "users", "customer", "customerid", "reviewer", "reviewerid")),
        "item": frozenset(("item", "itemid", "items", "movie", "movieid", "product", "productid", "book", "bookid")),
        "rating": frozenset(("rating", "ratings", "score", "stars", "value")),
    },
    {},
)
_ENTRY = "'row column value'"
_SIZES = ("n_users", "n_items")
_FAULT = "not ratings saved as .npz"
_ARRAYS = ("users", "items", "values", *_SIZES, "user_ids", "item_ids")


def read_ratings(
    path: str | os.PathLike[str],
    *,
    format: Literal["text", "matrix_market", "npz", "parquet"] | None = None,
    ids: Numbers | Literal["names"] = "compact",
    base: Literal[0, 1] = 0,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    duplicates: DuplicateRatings = "error",
    progress: Progress | None = None,
) -> Ratings:
    """Read ratings from a file, which may be compressed by gzip, xz, bzip2, zstd or zip.

    A text file has a user, an item, a rating and optionally a time per line, separated by blanks, tabs,
    commas or ``::`` as in the MovieLens files. Lines that start with ``#`` or ``%`` are comments. The
    first other line may hold the names of the columns, in any order. A Matrix Market file holds a
    general coordinate matrix of real or integer values, whose rows are users. An archive is a file
    written by :func:`write_ratings` or ``scipy.sparse.save_npz``.

    Parameters
    ----------
    path : path
        The file.
    format : {"text", "matrix_market", "npz", "parquet"}, optional
        By default, it is detected from the content. Parquet files need pyarrow.
    ids : {"compact", "names", False}
        How a text file's ids become numbers: "compact" numbers the users and items that occur, and keeps
        their ids as ``user_ids`` and ``item_ids``. The ids may be names if the columns are named. "names" takes all
        ids as text, even numbers. ``False`` takes the ids (minus *base*) as numbers.
    base : {0, 1}
        The lowest id if *ids* is ``False``.
    columns : sequence of str or dict, optional
        A name for each column of a text file: "user", "item", "rating"; columns with other names are
        ignored. A dict from these three to names of the header does the same. By default, the header has
        the names, such as "userId" or "movie_id". Without a header, they are user, item, rating, time.
    duplicates : {"error", "mean", "sum", "last"}
        As in :meth:`Ratings.from_triples`.
    progress : callable, optional
        A function that is called with the number of bytes read so far, after decompression.

    Raises
    ------
    GraphFileError
        The file cannot be read; the message names the file, the line, its text and the expected form. Or
        the header does not name a user, an item and a rating once each.

    Warns
    -----
    GraphFileWarning
        A text file has no header, and its columns seem to be in another order: the ratings look like
        times, or the fourth column does not look like times but an id does.
    """
    source = checked_path("path", path)
    names = checked_columns(ROLES, columns)
    if ids is not False and not is_among(ids, ("compact", "names")):
        raise InputError(f"ids = {shown(ids)}; allowed: False, 'compact', 'names'")
    checked_count("base", base, 1, least=0)
    check_callback("progress", progress)
    if is_pipe(source):
        options = {"ids": ids, "base": base, "columns": columns, "duplicates": duplicates, "progress": progress}
        return read_pipe(read_ratings, source, format=format, **options)
    if format is None:
        detected = _detect(source)
        kind: str = detected if detected in FORMATS else "text"
    else:
        kind = format
    check_choice("format", kind, FORMATS)
    progress = progress or reading_progress(source)
    try:
        if kind == "npz":
            return _read_npz(source, duplicates)
        if kind == "parquet":
            table, order = read_table(source, ROLES, names, NAMED)
            users, items, stars = (table[name] for name in order)
            return Ratings.from_triples(users, items, stars, ids="compact" if ids else False, duplicates=duplicates)
        if kind == "matrix_market":
            return _read_matrix(source, duplicates, progress)
        return _read_text(source, ids, base, names, duplicates, progress)
    except GraphFileError:
        raise
    except InputError as error:
        raise GraphFileError(f"{source}: {error}") from error


def write_ratings(ratings: Ratings, path: str | os.PathLike[str]) -> None:
    """Write *ratings* to a file that :func:`read_ratings` reads; an older file is replaced atomically.

    Parameters
    ----------
    ratings : Ratings
    path : str or path-like
        The file, which becomes an uncompressed ``.npz`` archive, whatever its suffix.

    Raises
    ------
    InputError
        *ratings* is of another type, or its ids are Python objects, which cannot be written.
    """
    if not isinstance(ratings, Ratings):
        raise InputError(f"ratings = {shown(ratings)}; allowed: Ratings")
    for name in ("user_ids", "item_ids"):
        ids = getattr(ratings, name)
        if ids is not None and ids.dtype.kind == "O":
            raise InputError(f"{name} that are Python objects cannot be saved; drop them or make them text")
    arrays = {name: array for name in _ARRAYS if (array := getattr(ratings, name)) is not None}
    with replacing(checked_path("path", path)) as stream:
        np.savez(stream, **arrays)


def _read_text(
    path: Path,
    ids: Numbers | Literal["names"],
    base: Literal[0, 1],
    names: Columns | None,
    duplicates: DuplicateRatings,
    progress: Progress | None,
) -> Ratings:
    edges = Edges(path, EXPECTED, base=0 if ids else base)
    with reading(path) as stream:
        lead = read_lead(stream)
        form = layout(path, ROLES, lead, names, EXPECTED, forced=ids == "names") if ids else None
        if form is not None:
            found = read_names(stream, path, form, NAMED, apart=True, progress=progress)
            sizes = len(found.names[0]), len(found.names[1])
            data = checked_triples(*found.pairs, found.values if found.values is not None else [], *sizes)
            return Ratings._of_numbers(*data, sizes, found.names, duplicates)
        columns, width = find_columns(path, ROLES, lead, names, EXPECTED), len(separated(lead.row).split())
        if not lead.row:
            raise file_error(path, f"the file has no ratings; expected lines of {EXPECTED}")
        is_told, columns = columns is not None, columns or (0, 1, 2)
        if not is_told and width not in (3, 4):
            more = "" if width < 3 else "; columns= (--columns) tells what other columns hold"
            raise file_error(path, EXPECTED + more, line=lead.line, text=lead.row)
        times = np.full(width, not is_told)
        for block in read_blocks(
            stream,
            path,
            EXPECTED,
            comments=COMMENTS,
            clean=separated,
            head=lead.row,
            first_line=lead.line,
            progress=progress,
        ):
            rows = _check_ratings(block, width, EXPECTED, columns[2])
            if times.any() and len(rows):
                times &= [seem_times(column) for column in rows.T]
            edges.add(block, width, columns)
    if times[2:3].any() or (width == 4 and times[:2].any() and not times[3]):
        warnings.warn(
            f"{path}: the columns are taken for user, item, rating{', time' if width > 3 else ''}, though column "
            f"{1 + int(times.argmax())} looks like times; columns= (--columns) tells which is which",
            GraphFileWarning, stacklevel=3,
        )  # fmt: skip
    users, items = edges.pairs()
    values = edges.weights() if edges.n_edges else np.zeros(0)
    assert values is not None
    if ids:
        return Ratings.from_triples(users, items, values, ids="compact", duplicates=duplicates)
    if edges.largest - base >= believed_vertices(edges.n_edges):
        raise file_error(
            path, f"an id of {edges.largest} with only {edges.n_edges} ratings; pass ids='compact' if it is a name"
        )
    return Ratings.from_triples(users - base, items - base, values, duplicates=duplicates)


def _read_matrix(path: Path, duplicates: DuplicateRatings, progress: Progress | None) -> Ratings:
    edges, (n_users, n_items), _ = matrix_market.read_entries(
        path, progress, fields=("real", "integer", "double"), symmetries=("general",), square=False,
        check=lambda block: _check_ratings(block, 3, _ENTRY, 2),
    )  # fmt: skip
    _check_size((n_users, n_items), edges.n_edges)
    users, items = edges.pairs()
    values = edges.weights() if edges.n_edges else np.zeros(0)
    assert values is not None
    return Ratings.from_triples(users - 1, items - 1, values, n_users=n_users, n_items=n_items, duplicates=duplicates)


def _read_npz(path: Path, duplicates: DuplicateRatings) -> Ratings:
    contents = read_archive(path, _FAULT)
    try:
        if isinstance(contents, dict):
            return _from_arrays(contents)
        _check_size(contents.shape, contents.data.size)
        return Ratings.from_scipy(contents, duplicates=duplicates)
    except InputError as error:
        raise file_error(path, f"{_FAULT}: {error}") from error


def _from_arrays(found: Mapping[str, NDArray[Any]]) -> Ratings:
    arrays: dict[str, Any] = {name: found[name] for name in _ARRAYS if name in found}
    if missing := set(_ARRAYS[:5]) - set(arrays):
        raise InputError(f"expected arrays {', '.join(sorted(missing))}, found {', '.join(found)}")
    for name, array in arrays.items():
        is_size = name in _SIZES
        if array.ndim != (not is_size) or (is_size and array.dtype.kind not in "iu"):
            raise InputError(f"{name} is {array.dtype} {array.shape}; expected {'an integer' if is_size else 'a list'}")
    sizes = {name: int(arrays[name]) for name in _SIZES}
    unnamed = [n for n, ids in zip(sizes.values(), _ARRAYS[5:], strict=True) if ids not in arrays]
    _check_size(unnamed, arrays["users"].size)
    return Ratings(**arrays | sizes)


def _check_size(shape: Sequence[int], n_ratings: int) -> None:
    if max(shape, default=0) > believed_vertices(n_ratings):
        raise InputError(f"{max(shape)} users or items with only {n_ratings} ratings")


def _check_ratings(block: Block, width: int, expected: str, column: int) -> NDArray[Any]:
    """Return the rows of *block*; raise an error for the first rating (in *column*) that is not a finite float32."""
    rows = block.rows(width, expected)
    with np.errstate(over="ignore"):
        wrong = ~np.isfinite(rows[:, column].astype(np.float32))
    if wrong.any():
        raise block.value_error(int(wrong.argmax()) * width, f"{expected}, the rating a finite float32 number")
    return rows
