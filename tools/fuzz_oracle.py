"""Edge lists and ratings read a second time, word by word in Python, for ``fuzz_readers.py`` to compare with.

Everything is simple and slow: integers are Python's, a file is a list of lines, and vertices keep their ids.
"""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from typing import Any

from clgraph.data.graph import Graph
from clgraph.data.ratings import Ratings
from clgraph.io import edge_list
from clgraph.io import ratings as io_ratings
from clgraph.io.columns import Roles

_NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def _places(roles: Roles) -> dict[bytes, int]:
    """Return the role of each name of a column, as a number."""
    words = (*roles.needed.values(), *roles.optional.values())
    return {name.encode(): role for role, names in enumerate(words) for name in names}


_EDGE_NAMES, _RATING_NAMES = _places(edge_list.ROLES), _places(io_ratings.ROLES)


def _words(line: bytes) -> list[bytes]:
    """Return the fields of a line; trailing empty ones are dropped, and no other may be empty."""
    line = line.replace(b"::", b",")
    if b"," in line:
        fields = [field.strip() for field in line.split(b",")]
        while fields and not fields[-1]:
            fields.pop()
        assert all(fields), "an empty field was read"
        return [word for field in fields for word in field.split()]
    return line.split()


def _table(content: bytes, names: dict[bytes, int]) -> tuple[list[bytes], list[int] | None, list[list[bytes]]]:
    """Return the comments before the first row, the columns that a header names, and the rows."""
    comments, columns, rows, header = [], None, [], False
    for line in content.split(b"\n"):
        text = line.strip(b" \t\r\v\f")
        if not text:
            continue
        if text[:1] in b"#%":
            if not rows:
                comments.append(text.lower())
            continue
        words = text.replace(b"::", b" ").replace(b",", b" ").split()
        if not rows and not header and not any(map(_NUMBER.fullmatch, words)):
            header = True
            separator = next((mark for mark in (b"::", b",", b"\t") if mark in text), rb"\s+")
            fields = re.split(separator, text)
            keys = [re.sub(rb"[\W_]+", b"", field.lower()) for field in fields]
            places = {names[key]: at for at, key in enumerate(keys) if key in names}
            columns = [places[role] for role in sorted(places)] if any(keys) else None
            continue
        if words := _words(line):
            rows.append(words)
    return comments, columns, rows


def _integer(word: bytes) -> int:
    number = Decimal(word.decode())
    assert number == int(number), f"{word!r} was read as an id"
    return int(number)


def check_edges(content: bytes, graph: Graph) -> None:
    """Raise AssertionError unless *graph*, read with ``labels=True``, has the edges of an edge list."""
    comments, columns, rows = _table(content, _EDGE_NAMES)
    head = b"\n".join(comments)
    konect = re.match(rb"%[ \t]*(sym|asym|bip)[ \t]+(\w+)$", comments[0]) if comments else None
    directed = konect[1] == b"asym" if konect else re.search(rb"\bdirected", head) is not None
    assert graph.directed == directed, "the direction is not that of the head"
    if columns is None:
        columns = [0, 1] if konect and konect[2] == b"unweighted" else [0, 1, 2]

    def edge(row: list[bytes]) -> tuple[Any, ...]:
        ids: list[Any] = [_integer(row[column]) for column in columns[:2]]
        if konect and konect[1] == b"bip":
            ids = [f"L{ids[0]}", f"R{ids[1]}"]
        elif not directed:
            ids.sort()
        return (*ids, *(float(row[column]) for column in columns[2:] if column < len(row)))

    names = range(graph.n_vertices) if graph.labels is None else graph.labels.tolist()
    found = Counter()
    for u, v, *weight in zip(*(a.tolist() for a in graph.edge_list() if a is not None), strict=True):
        pair = [names[u], names[v]]
        found[tuple(pair if directed or (konect and konect[1] == b"bip") else sorted(pair)), *map(float, weight)] += 1
    # The first line may be a size line. If it is read as one, its numbers must fit the other lines.
    for reading in (rows, rows[1:]):
        try:
            given = [edge(row) for row in reading]
        except (IndexError, ArithmeticError):
            continue
        wanted = Counter(((*one[:2],), *one[2:]) for one in given)
        if found == wanted:
            ids = {end for one in given for end in one[:2]}
            assert graph.labels is None or ids <= set(names), "an id is lost"
            if len(reading) < len(rows):
                size = [_integer(word) for word in rows[0]]
                assert graph.n_vertices in size, "other vertices than in the size line"
                assert len(reading) in size or len(reading) / 2 in size, "other edges than in the size line"
            return
    raise AssertionError("other edges than those of the file")


def check_triples(content: bytes, ratings: Ratings) -> None:
    """Raise AssertionError unless *ratings* are the ratings in a text file."""
    _, columns, rows = _table(content, _RATING_NAMES)
    user, item, value = columns or (0, 1, 2)
    given = sorted((_integer(row[user]), _integer(row[item]), float(row[value])) for row in rows)
    assert ratings.user_ids is not None and ratings.item_ids is not None
    users, items = ratings.user_ids[ratings.users].tolist(), ratings.item_ids[ratings.items].tolist()
    values = ratings.values.tolist()
    assert [pair for *pair, _ in given] == [list(pair) for pair in zip(users, items, strict=True)], "other pairs"
    assert all(abs(one[2] - found) <= 1e-6 * abs(found) + 1e-37 for one, found in zip(given, values, strict=True)), (
        "other ratings"
    )
