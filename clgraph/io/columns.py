"""Columns of text files of numbers: the header, and the role of each column, such as "source" or "rating"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from clgraph.arguments import check_length, refusing, shown
from clgraph.errors import InputError
from clgraph.io.text import _NUMBER, file_error, read_header

COMMENTS = b"#%"
IGNORED = frozenset(("", "time", "timestamp", "date", "datetime", "index"))  # names of columns without a role
TIME_SECONDS = 10**8, 5 * 10**9  # Unix time from 1973 to 2128. Few files have only ids or weights in this range.


Columns: TypeAlias = tuple[str, ...] | Mapping[str, str]
"""A name for each column of a file, or the name in the header of the column of each role."""


class Lead(NamedTuple):
    """The beginning of a file, up to its first line of numbers."""

    comments: list[bytes]
    names: list[str]  # names of the columns; empty without a header
    row: bytes  # the first line of numbers; empty if the file has no numbers
    line: int  # the line number of row in the file, from 1
    header: bytes = b""  # the line of names; empty without a header
    header_line: int = 0  # the line number of header in the file, from 1

    @property
    def at(self) -> int:
        """The line number of the header, or of the first line of numbers if there is no header."""
        return self.header_line or self.line

    @property
    def shown(self) -> bytes:
        """The header, or the first line of numbers if there is no header."""
        return self.header or self.row


class Roles(NamedTuple):
    """The roles of a format's columns, with the names that headers may use for each: lower case, no punctuation."""

    needed: Mapping[str, frozenset[str]]
    optional: Mapping[str, frozenset[str]]

    @property
    def all(self) -> dict[str, frozenset[str]]:
        """The needed roles, then the optional ones."""
        return {**self.needed, **self.optional}


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
    for separator in ("::", ",", "\t", ";"):
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


def checked_columns(roles: Roles, columns: Any) -> Columns | None:
    """Return *columns* if each needed role is among them exactly once, else raise an InputError."""
    if columns is None:
        return None
    if isinstance(columns, Mapping):
        return _checked_mapping(roles, columns)
    allowed = f"a name for each column, {', '.join(map(repr, roles.needed))} among them"
    if roles.optional:
        allowed += f", {', '.join(map(repr, roles.optional))} if there are any"
    if isinstance(columns, str | bytes):
        raise InputError(f"columns = {shown(columns)}; allowed: {allowed}")
    with refusing("columns", columns, allowed):
        check_length("columns", columns)
        names = tuple("" if name is None else name for name in columns)
    known = {*roles.needed, *roles.optional}
    # Names that are no text are found first, since a numpy array may refuse to be compared with a text.
    are_names = all(isinstance(name, str) for name in names)
    if not are_names or any(names.count(name) > 1 for name in known) or not set(roles.needed) <= set(names):
        raise InputError(f"columns = {shown(columns)}; allowed: {allowed}, each once; any other name is passed over")
    return names


def _checked_mapping(roles: Roles, columns: Mapping[Any, Any]) -> dict[str, str]:
    """Return the dict *columns* from roles to names in the header, or raise an InputError."""
    needed = ", ".join(map(repr, roles.needed))
    more = f", and {', '.join(map(repr, roles.optional))} if there are any" if roles.optional else ""
    known = {*roles.needed, *roles.optional}
    are_names = all(isinstance(name, str) for name in columns.values())
    if not set(roles.needed) <= set(columns) <= known or not are_names or len({*columns.values()}) < len(columns):
        allowed = f"a dict from {needed}{more} to different names of the header"
        raise InputError(f"columns = {shown(columns)}; allowed: {allowed}")
    return dict(columns)


def find_columns(
    path: Path, roles: Roles, lead: Lead, columns: Columns | None, expected: str
) -> tuple[int, ...] | None:
    """Return the position of each role's column, in the order of *roles*, or ``None`` without column names.

    *columns* names the columns or, as a dict, says which name of the header has which role. If it is ``None``, the
    header's names are known words for the roles.

    Raises
    ------
    GraphFileError
        The names in the header are not clear, or the first line has another number of columns.
    """
    if isinstance(columns, Mapping):
        names = lead.names
        found = [[i for i, name in enumerate(names) if name == columns[role]] for role in roles.all if role in columns]
        if not all(len(places) == 1 for places in found):
            wanted = ", ".join(map(repr, columns.values()))
            raise file_error(path, f"a header with the names {wanted}, each once", line=lead.at, text=lead.shown)
    elif columns is not None:
        names = list(columns)
        found = [[i for i, name in enumerate(names) if name == role] for role in (*roles.needed, *roles.optional)]
    elif lead.names:
        names = [plain_name(name) for name in lead.names]
        words = roles.all
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


def plain_name(name: str) -> str:
    """Return *name* in lower case, without punctuation."""
    return re.sub(r"[\W_]+", "", name.lower())


def seem_times(values: NDArray[Any] | None) -> bool:
    """Return whether all *values* are integers in the range of Unix time, in seconds or milliseconds."""
    if values is None or not values.size or values.dtype.kind != "i":
        return False
    low, high = int(values.min()), int(values.max())
    return any(scale * TIME_SECONDS[0] <= low and high < scale * TIME_SECONDS[1] for scale in (1, 1000))
