"""Columns of text files of numbers: the header, and the role of each column, such as "source" or "rating"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from numpy.typing import NDArray

from clgraph.arguments import check_length, refusing, shown
from clgraph.errors import InputError
from clgraph.io.text import _NUMBER, file_error, read_header

COMMENTS = b"#%"
IGNORED = frozenset(("", "time", "timestamp", "date", "datetime", "index"))  # names of columns without a role
TIME_SECONDS = 10**8, 5 * 10**9  # Unix time from 1973 to 2128. Few files have only ids or weights in this range.


class Lead(NamedTuple):
    """The beginning of a file, up to its first line of numbers."""

    comments: list[bytes]
    names: list[str]  # names of the columns; empty without a header
    row: bytes  # the first line of numbers; empty if the file has no numbers
    line: int  # the line number of row in the file, from 1
    header: bytes = b""  # the line of names; empty without a header
    header_line: int = 0  # the line number of header in the file, from 1


class Roles(NamedTuple):
    """The roles of a format's columns, with the names that headers may use for each: lower case, no punctuation."""

    needed: Mapping[str, frozenset[str]]
    optional: Mapping[str, frozenset[str]]


def read_lead(stream: IO[bytes]) -> Lead:
    """Read up to the first line of numbers; a first line without any number is a header."""
    comments, row, line = read_header(stream, COMMENTS)
    words = separated(row).split()
    if not words or any(map(_NUMBER.fullmatch, words)):
        return Lead(comments, [], row, line)
    more, first, first_line = read_header(stream, COMMENTS, line + 1)
    return Lead(comments + more, _names(row), first, first_line, row, line)


def _names(header: bytes) -> list[str]:
    text = header.strip(b"\r\n").decode("utf-8-sig", "replace")
    for separator in ("::", ",", "\t"):
        if separator in text:
            return [name.strip(" \t\"'") for name in text.split(separator)]
    return [name.strip("\"'") for name in text.split()]


def separated(text: bytes) -> bytes:
    """Return the lines *text* with each comma or "::" between fields replaced by blanks; blanks and tabs stay.

    An empty field becomes "?", which is not a number, unless all fields after it are empty, too.
    """
    if b"::" in text:
        text = text.replace(b"::", b", ")
    if b"," in text:
        close = text.translate(None, b" \t")
        if b",," in close or b"\n," in close or close.startswith(b","):
            text = re.sub(rb"(^|,)([ \t]*)(?=,)(?![ \t\r,]*$)", rb"\1\2?", text, flags=re.MULTILINE)
        return text.replace(b",", b" ")
    if b"\t\t" in text:
        text = re.sub(rb"(?<=\S) *\t(?= *\t)(?![ \t\r]*$)", b"\t?", text, flags=re.MULTILINE)
    return text


def checked_columns(roles: Roles, columns: Any) -> tuple[str, ...] | None:
    """Return the names *columns* if each needed role is among them exactly once, else raise an InputError."""
    if columns is None:
        return None
    allowed = f"a name for each column, {', '.join(map(repr, roles.needed))} among them"
    if roles.optional:
        allowed += f", {', '.join(map(repr, roles.optional))} if there are any"
    if isinstance(columns, str | bytes):
        raise InputError(f"columns = {shown(columns)}; allowed: {allowed}")
    with refusing("columns", columns, allowed):
        check_length("columns", columns)
        names = tuple("" if name is None else name for name in columns)
    known = {*roles.needed, *roles.optional}
    twice = [name for name in known if names.count(name) > 1]
    if twice or not set(roles.needed) <= set(names) or not all(isinstance(name, str) for name in names):
        raise InputError(f"columns = {shown(columns)}; allowed: {allowed}, each once; any other name is passed over")
    return names


def find_columns(
    path: Path, roles: Roles, lead: Lead, columns: tuple[str, ...] | None, expected: str
) -> tuple[int, ...] | None:
    """Return the position of each role's column, in the order of *roles*, or ``None`` without column names.

    *columns* names the columns, or if it is ``None`` the header.

    Raises
    ------
    GraphFileError
        The names in the header are not clear, or the first line has another number of columns.
    """
    if columns is not None:
        names = list(columns)
        found = [[i for i, name in enumerate(names) if name == role] for role in (*roles.needed, *roles.optional)]
    elif lead.names:
        names = [re.sub(r"[\W_]+", "", name.lower()) for name in lead.names]
        words = {**roles.needed, **roles.optional}
        found = [[i for i, name in enumerate(names) if name in words[role]] for role in words]
        unknown = [name for name in names if name not in IGNORED.union(*words.values())]
        is_clear = all(len(places) == 1 for places in found[: len(roles.needed)])
        is_clear &= all(len(places) == 1 or (not places and not unknown) for places in found[len(roles.needed) :])
        if not is_clear:
            raise file_error(
                path, f"{expected}, or names of such columns; columns= (--columns) tells which is which",
                line=lead.header_line, text=lead.header,
            )  # fmt: skip
    else:
        return None
    if lead.row and len(separated(lead.row).split()) != len(names):
        raise file_error(path, f"{len(names)} columns: {', '.join(names)}", line=lead.line, text=lead.row)
    return tuple(places[0] for places in found if places)


def seem_times(values: NDArray[Any] | None) -> bool:
    """Return whether all *values* are integers in the range of Unix time, in seconds or milliseconds."""
    if values is None or not values.size or values.dtype.kind != "i":
        return False
    low, high = int(values.min()), int(values.max())
    return any(scale * TIME_SECONDS[0] <= low and high < scale * TIME_SECONDS[1] for scale in (1, 1000))
