"""Parser of the beginning of an edge list: the head, the columns, and a line that may state the size."""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO, NamedTuple

from clgraph.io.columns import COMMENTS, Columns, Lead, Roles, find_columns, separated
from clgraph.io.edges import believed_vertices
from clgraph.io.text import file_error, header_number, read_header

NAMED = "'source target' or 'source target weight'"
EXPECTED = f"{NAMED}, ids being integers (ids='names' takes any text)"
ROLES = Roles(
    {
        "source": frozenset(("source", "sourceid", "src", "from", "fromid", "fromnode", "fromnodeid", "node1", "id1")),
        "target": frozenset(("target", "targetid", "dst", "dest", "to", "toid", "tonode", "tonodeid", "node2", "id2")),
    },
    {"weight": frozenset(("weight", "weights", "w", "cost", "length", "distance"))},
)
_KONECT = (
    "unweighted", "positive", "posweighted", "signed", "multisigned", "weighted", "multiweighted", "multiposweighted",
)  # fmt: skip


class Head(NamedTuple):
    """The information in the comments before the first edge.

    Numbers that the comments do not state are ``None``.
    """

    directed: bool
    konect: str = ""  # KONECT's word for the kind of weights, such as "positive"; empty in other files
    apart: bool = False  # whether the ids of sources and of targets are two separate sets
    n_edges: int | None = None
    n_vertices: int | None = None
    sizes: tuple[int, int] | None = None  # numbers of sources and of targets, which no id may exceed
    base: int | None = None  # the lowest id
    named: bool = False  # whether ids are names, which are always compacted


class Start(NamedTuple):
    """The first lines of an edge list, parsed."""

    head: Head
    row: bytes  # the line of the first edge; empty if the file has no edges
    line: int  # the line number of row in the file
    columns: tuple[int, ...]  # positions of the columns of source, target and, if any, weight
    width: int  # number of columns
    is_told: bool  # whether the caller, a header or KONECT's head names the columns
    size: bytes  # a line before the first edge that may be a size line; empty without such a line
    size_at: int  # the line number of size in the file


def read_start(stream: IO[bytes], path: Path, lead: Lead, names: Columns | None, size_line: bool | None) -> Start:
    """Read on from *lead* to the first edge; a line before it that may be a size line is stored separately."""
    head, size, size_at = read_head(path, lead), b"", 0
    if size_line or (size_line is None and not lead.names and head.n_vertices is None and not head.konect):
        numbers = numbers_of(lead.row)
        if numbers and (len(numbers) == 2 or numbers[0] == numbers[1]):
            _, row, line = read_header(stream, COMMENTS, lead.line + 1)
            if row or size_line:
                size, size_at, lead = lead.row, lead.line, lead._replace(row=row, line=line)
        elif size_line:
            raise file_error(path, "the size line 'vertices edges'", line=lead.line, text=lead.row)
    width = len(separated(lead.row).split())
    columns = find_columns(path, ROLES, lead, names, EXPECTED)
    if columns is None:
        columns = (0, 1, 2)[: 2 if head.konect == "unweighted" else width]
        if lead.row and width not in ((2, 3, 4) if head.konect else (2, 3)):
            more = "" if width < 2 else "; columns= (--columns) tells what other columns hold"
            raise file_error(path, EXPECTED + more, line=lead.line, text=lead.row)
    is_told = names is not None or bool(lead.names) or bool(head.konect)
    return Start(head, lead.row, lead.line, columns, width, is_told, size, size_at)


def read_head(path: Path, lead: Lead) -> Head:
    text = b"\n".join(filter(None, lead.comments)).lower()
    if kind := re.match(rb"%[ \t]*(sym|asym|bip)[ \t]+(\w+)[ \t]*(\n|$)", text):
        form, weights = kind[1], kind[2].decode()
        if weights not in _KONECT:
            expected = f"'% sym|asym|bip {'|'.join(_KONECT)}'; edges that come and go are no graph"
            raise file_error(path, f"the head is {kind[0].decode().strip()!r}; expected {expected}")
        number = rb"[ \t]+(\d{1,18})"
        size = re.match(rb"%[ \t]*(\d{1,18})" + number + number + rb"[ \t]*(\n|$)", text[kind.end() :])
        if size is None:
            return Head(form == b"asym", weights, form == b"bip", base=1)
        m, n_sources, n_targets = map(int, size.groups()[:3])
        apart = form == b"bip"
        if not apart and n_sources != n_targets:
            expected = "expected '% edges vertices vertices', the last two alike"
            raise file_error(path, f"the head is {size[0].decode().strip()!r}; {expected}")
        both = n_sources + n_targets if apart else n_sources
        return Head(form == b"asym", weights, apart, m, both, (n_sources, n_targets), base=1)
    counts = (re.search(word + rb":\s*(\d{1,18})\b", text) for word in (rb"edges", rb"nodes"))
    n_edges, n = (int(found[1]) if found else None for found in counts)
    base, directed = re.search(rb"numbered from ([01])\b", text), re.search(rb"\bdirected", text) is not None
    lowest, is_named = int(base[1]) if base else None, b"named by id" in text
    return Head(directed, n_edges=n_edges, n_vertices=n, base=lowest, named=is_named)


def numbers_of(row: bytes) -> list[int]:
    """Return the numbers of a line that may be a size line, or an empty list if the line cannot be one."""
    numbers = [header_number(word) for word in separated(row).split()]
    return numbers if 2 <= len(numbers) <= 3 and numbers[0] > 0 <= min(numbers) else []


def fitting_size(numbers: list[int], n_edges: int, low: int, high: int) -> int | None:
    """Return the number of vertices if *numbers*, a line of the file, can be the sizes of the graph below it.

    The graph has *n_edges* edges, whose vertex ids are *low* … *high*.

    Size lines are "n m", "n n m", and "m n" in hMETIS's files. m may count undirected edges that are listed in both
    directions. If *numbers* do not fit, return ``None``.
    """
    first, last = numbers[0], numbers[-1]

    def holds(n: int) -> bool:
        return high < n + (low > 0) and n <= believed_vertices(n_edges)

    if last in (n_edges, n_edges / 2) and holds(first):
        return first
    return last if len(numbers) == 2 and first == n_edges and holds(last) else None
