"""Edge lists as SNAP, KONECT and spreadsheets write them: one edge per line."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_choice, checked_count, checked_flag, shown
from clgraph.data.graphs.csr import Duplicates
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.pairs import distinct
from clgraph.errors import GraphFileWarning, InputError
from clgraph.io.columns import COMMENTS, Lead, Roles, checked_columns, find_columns, read_lead, seem_times, separated
from clgraph.io.edges import Edges, believed_vertices, labelled
from clgraph.io.text import Block, Progress, file_error, header_number, read_blocks, read_header, reading, write_rows

SUFFIXES = (".txt", ".el", ".edges", ".edgelist", ".tsv", ".csv")
EXPECTED = "'source target' or 'source target weight', ids being integers"
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


class _Head(NamedTuple):
    """Statements of the comments before the first edge; ``None`` where they state nothing."""

    directed: bool
    konect: str = ""  # KONECT's word for the weights; empty in other files
    apart: bool = False  # Sources and targets are two sets of ids.
    n_edges: int | None = None
    n_vertices: int | None = None
    sizes: tuple[int, int] | None = None  # number of sources and of targets; no id may be larger
    base: int | None = None  # the lowest id
    named: bool = False  # Ids are names, whatever their range.


class _Start(NamedTuple):
    """The first lines of a file, understood."""

    head: _Head
    row: bytes  # the first edge; empty if there is none
    line: int  # its number
    columns: tuple[int, ...]  # places of source, target and perhaps weight
    width: int  # columns of each line
    is_told: bool  # Names tell the columns.
    size: bytes  # a line before it that may be a size line; else empty
    size_at: int  # its number


def read(
    path: Path,
    *,
    directed: bool | None = None,
    base: Literal[0, 1] | None = None,
    ids: Literal["auto", "keep", "compact"] = "auto",
    columns: Sequence[str] | None = None,
    size_line: bool | None = None,
    duplicates: Duplicates | None = None,
    labels: bool = False,
    progress: Progress | None = None,
) -> Graph:
    """Read an edge list: two ids and perhaps a weight per line, split by blanks, tabs or commas.

    Ids are compacted: ids that occur are numbered in ascending order, and the graph keeps them as
    ``labels``, unless they are 0, 1, 2, …. If the head states the number n of vertices and all ids
    are within a range of n, ids are vertex numbers, and vertices without edges count.

    Heads that state n are SNAP's ``# Nodes: n Edges: m``, KONECT's ``% m n n``, and a first line
    ``n m``, ``n n m`` or, as in hMETIS's files, ``m n`` that fits the edges behind it. KONECT's head
    ``% sym|asym|bip`` says whether the graph is directed. In a bipartite file (``bip``) sources and
    targets are two sets of ids. Vertices of the targets stand behind the vertices of the sources, and
    labels are ``"L1"`` for source 1 and ``"R1"`` for target 1.

    Parameters
    ----------
    path : Path
        The file; lines that start with ``#`` or ``%`` are comments. The first other line may hold the
        names of the columns.
    directed : bool, optional
        By default what the comments at the head say ("Directed graph" or "Undirected graph", as
        SNAP's do, or KONECT's ``asym``), else false.
    base : {0, 1}, optional
        Ids are vertex numbers that begin here, as with ``ids="keep"``. If ids are vertex numbers and
        nothing tells where they begin, it is 1 if the least id is 1, with a warning.
    ids : {"auto", "keep", "compact"}
        "keep" takes the ids (less *base*) as vertex numbers, so that an id that does not occur
        becomes an isolated vertex. "compact" numbers the ids that occur, whatever the head states.
    columns : sequence of str, optional
        A name for each column: "source", "target", "weight"; columns of other names are passed over.
        By default the header's names tell. Without a header they are source, target, weight, with a
        warning if the weights look like times.
    size_line : bool, optional
        Whether the first line of numbers is a size line ``n m`` or ``n n m``. By default it is one if
        it fits the edges behind it, with a warning.
    duplicates : str, optional
        As in :meth:`Graph.from_edges`. The default is "sum" for KONECT's ``positive`` weights, which
        count parallel edges, else "first", because many lists give both directions of an edge.
    labels : bool
        Keep the ids as labels also where they are vertex numbers from 1 on.
    """
    check_choice("ids", ids, ("auto", "keep", "compact"))
    lowest = None if base is None else checked_count("base", base, 1, least=0)
    size_line = None if size_line is None else checked_flag("size_line", size_line)
    if ids == "compact" and base is not None:
        raise InputError(f"base = {base}; allowed with ids='compact': None, since the ids are not kept as numbers")
    with reading(path) as stream:
        start = _read_start(stream, path, checked_columns(ROLES, columns), size_line)
        head = start.head
        lowest = head.base if lowest is None else lowest
        edges = Edges(path, EXPECTED, base=lowest or 0, n=head.sizes)
        for block in _blocks(stream, path, start.row, start.line, progress):
            edges.add(block, start.width, start.columns)
    n = head.n_vertices
    if start.size:
        n = _vertices_of(path, start, edges, size_line)
        if n is None:
            first = Edges(path, EXPECTED, base=lowest or 0)
            for block in _blocks(io.BytesIO(), path, start.size, start.size_at):
                first.add(block, start.width, start.columns)
            edges.prepend(first)
    if not edges.n_edges and n is None:
        raise file_error(path, f"the file has no edges; expected lines of {EXPECTED}")
    if head.n_edges is not None and head.n_edges > edges.n_edges:
        _warn(f"{path}: the head tells of {head.n_edges} edges, there are {edges.n_edges}")
    if not start.is_told and edges.weight_blocks and all(map(seem_times, edges.weight_blocks)):
        _warn(
            f"{path}: the third column is taken for weights, though it looks like times; columns=('source', 'target', "
            "'time') (--columns) passes it over"
        )
    if directed is None:
        directed = head.directed
    if duplicates is None:
        duplicates = "sum" if head.konect == "positive" else "first"
    low, high = edges.smallest, edges.largest
    is_within, first_id = _range_of(edges, n, lowest)
    if ids == "keep" or base is not None or (ids == "auto" and is_within and not head.named):
        if lowest is None and low >= 1 and (low == 1 if n is None else high < n):
            _warn(
                f"{path}: the smallest id is {low}, so vertices are taken to be numbered from {first_id}; base=0 or "
                "base=1 (--base) says which"
            )
        edges.base = first_id
        sizes = _kept(edges, head, n if n is not None and is_within else 0)
        graph = edges.graph(sum(sizes), directed=directed, duplicates=duplicates)
        return labelled(graph, _label_array([np.arange(first_id, first_id + k) for k in sizes])) if labels else graph
    names = edges.compact(apart=head.apart)
    n_named = sum(ids.size for ids in names)
    if ids == "auto" and n is not None and n_named != n:
        _warn(f"{path}: the head tells of {n} vertices, the edges name {n_named}")
    return labelled(edges.graph(n_named, directed=directed, duplicates=duplicates), _label_array(names))


def read_edges(path: Path, *, base: int = 0) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]]:
    """Yield sources, targets and weights, if there are any, of some lines after the other; *base* becomes 0.

    No more of the file is in memory than a few blocks of lines.

    Raises
    ------
    GraphFileError
        Naming the file, the line, its text and what was expected; sources and targets are two sets of ids; or the
        first line fits as the size line of the others, which shows only behind the last one.
    """
    with reading(path) as stream:
        start = _read_start(stream, path, None, None)
        if start.head.apart:
            raise file_error(path, "sources and targets are two sets of ids; expected one")
        is_edge = start.size and len(separated(start.size).split()) == start.width
        blocks = _blocks(stream, path, start.row, start.line)
        if is_edge:
            blocks = chain(_blocks(io.BytesIO(), path, start.size, start.size_at), blocks)
        n_edges, low, high = 0, 2**63, -1
        for number, block in enumerate(blocks):
            edges = Edges(path, EXPECTED, base=base)
            edges.add(block, start.width, start.columns)
            if edges.n_edges and not (is_edge and number == 0):
                n_edges += edges.n_edges
                low, high = min(low, edges.smallest), max(high, edges.largest)
            sources, targets = edges.pairs()
            yield sources - base, targets - base, edges.weights()
        if start.size and is_edge == (_fitting_size(_numbers_of(start.size), n_edges, low, high) is not None):
            expected = "no size line, though it fits the edges behind it" if is_edge else EXPECTED
            raise file_error(path, expected, line=start.size_at, text=start.size)


def _read_start(stream: IO[bytes], path: Path, names: tuple[str, ...] | None, size_line: bool | None) -> _Start:
    """Read up to the first edge; the line before it that may be a size line is kept aside."""
    lead = read_lead(stream)
    head, size, size_at = _read_head(path, lead), b"", 0
    if size_line or (size_line is None and not lead.names and head.n_vertices is None and not head.konect):
        numbers = _numbers_of(lead.row)
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
    return _Start(head, lead.row, lead.line, columns, width, is_told, size, size_at)


def _read_head(path: Path, lead: Lead) -> _Head:
    text = b"\n".join(filter(None, lead.comments)).lower()
    if kind := re.match(rb"%[ \t]*(sym|asym|bip)[ \t]+(\w+)[ \t]*(\n|$)", text):
        form, weights = kind[1], kind[2].decode()
        if weights not in _KONECT:
            expected = f"'% sym|asym|bip {'|'.join(_KONECT)}'; edges that come and go are no graph"
            raise file_error(path, f"the head is {kind[0].decode().strip()!r}; expected {expected}")
        number = rb"[ \t]+(\d{1,18})"
        size = re.match(rb"%[ \t]*(\d{1,18})" + number + number + rb"[ \t]*(\n|$)", text[kind.end() :])
        if size is None:
            return _Head(form == b"asym", weights, form == b"bip", base=1)
        m, n_sources, n_targets = map(int, size.groups()[:3])
        apart = form == b"bip"
        if not apart and n_sources != n_targets:
            expected = "expected '% edges vertices vertices', the last two alike"
            raise file_error(path, f"the head is {size[0].decode().strip()!r}; {expected}")
        both = n_sources + n_targets if apart else n_sources
        return _Head(form == b"asym", weights, apart, m, both, (n_sources, n_targets), base=1)
    counts = (re.search(word + rb":\s*(\d{1,18})\b", text) for word in (rb"edges", rb"nodes"))
    n_edges, n = (int(found[1]) if found else None for found in counts)
    base, directed = re.search(rb"numbered from ([01])\b", text), re.search(rb"\bdirected", text) is not None
    lowest, is_named = int(base[1]) if base else None, b"named by id" in text
    return _Head(directed, n_edges=n_edges, n_vertices=n, base=lowest, named=is_named)


def _blocks(stream: IO[bytes], path: Path, row: bytes, line: int, progress: Progress | None = None) -> Iterator[Block]:
    return read_blocks(
        stream, path, EXPECTED, comments=COMMENTS, clean=separated, head=row, first_line=line, progress=progress
    )


def _numbers_of(row: bytes) -> list[int]:
    """Return the numbers of a line that may be a size line; none if it cannot be one."""
    numbers = [header_number(word) for word in separated(row).split()]
    return numbers if 2 <= len(numbers) <= 3 and numbers[0] > 0 <= min(numbers) else []


def _fitting_size(numbers: list[int], n_edges: int, low: int, high: int) -> int | None:
    """Return the number of vertices if *numbers* fit as the size of *n_edges* edges with ids from *low* to *high*.

    Sizes are "n m", "n n m", and "m n" of hMETIS's files. An undirected edge may be listed in both directions.
    """
    first, last = numbers[0], numbers[-1]

    def holds(n: int) -> bool:
        return high < n + (low > 0) and n <= believed_vertices(n_edges)

    if last in (n_edges, n_edges / 2) and holds(first):
        return first
    return last if len(numbers) == 2 and first == n_edges and holds(last) else None


def _vertices_of(path: Path, start: _Start, edges: Edges, size_line: bool | None) -> int | None:
    """Return the number of vertices if the first line is a size line, ``None`` if it is an edge; tell what was assumed.

    Raises
    ------
    GraphFileError
        It can be no edge, or *size_line* says so, and it does not fit the edges.
    """
    numbers, low, high = _numbers_of(start.size), edges.smallest, edges.largest
    n = _fitting_size(numbers, edges.n_edges, low, high)
    there = f"there are {edges.n_edges} edges with ids from {low} to {high}"
    must = size_line or (start.row and len(numbers) != start.width)
    if n is None and must:
        raise file_error(
            path, f"a line like the others, or a size line that fits: {there}", line=start.size_at, text=start.size
        )
    place = f"{path}, line {start.size_at}: {start.size.strip().decode()!r}"
    option = "size_line=True or False (--size-line, --no-size-line) says which"
    if n is not None and not must:
        _warn(f"{place} is taken for the size line of the edges behind it, not for an edge; {option}")
    if n is None and numbers[0] > high and numbers[-1]:
        _warn(f"{place} is taken for an edge, not for a size line, since {there}; {option}")
    return n


def _range_of(edges: Edges, n: int | None, lowest: int | None) -> tuple[bool, int]:
    """Return whether all ids are within a range of *n*, and where it begins: at *lowest*, or else at 0 or 1."""
    low, high = edges.smallest, edges.largest
    begin = lowest if lowest is not None else int(low == 1 or (low > 1 and high == n))
    is_within = (
        n is not None
        and n <= believed_vertices(edges.n_edges)
        and (not edges.n_edges or begin <= low <= high < begin + n)
    )
    return is_within, begin


def _kept(edges: Edges, head: _Head, n: int) -> list[int]:
    """Make ids from ``edges.base`` on vertex numbers; return how many there are of each set, at least *n* of one."""
    ranges, base = edges.ranges, edges.base
    if not head.apart:
        return [max(n, edges.largest + 1 - base)]
    sizes = head.sizes or tuple(high + 1 - base for _, high in ranges)
    edges.move_targets(sizes[0])
    return list(sizes)


def _label_array(ids: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the ids as one array; of two sets, "L" stands before each id of the first and "R" of the second."""
    if len(ids) == 1:
        return ids[0]
    return np.array([f"{side}{one}" for side, those in zip("LR", ids, strict=True) for one in those.tolist()], str)


def _warn(text: str) -> None:
    warnings.warn(text, GraphFileWarning, stacklevel=3)


def write(graph: Graph, stream: IO[bytes], delimiter: str = "\t") -> None:
    """Write the ids of each edge, an undirected one once, with *delimiter* between them and a head like SNAP's.

    Ids are the labels, which must be integers of at least 0, else vertex numbers from 0. Labels that are not 1, 2, 3, …
    name only vertices that have edges.
    """
    src, dst, weights = graph.edge_list()
    n, labels = graph.n_vertices, graph.labels
    naming = "numbered from 0"
    if labels is not None:
        bad = (labels < 0) | (labels > 2**63 - 1) if labels.dtype.kind in "iu" else np.ones(n, bool)
        if bad.any():
            at = int(bad.argmax())
            allowed = "an edge list has integers from 0 to 2**63 - 1 as ids, format='npz' any labels"
            raise InputError(f"labels[{at}] = {shown(labels[at : at + 1].tolist()[0])}; {allowed}")
        is_numbered = np.array_equal(labels, np.arange(1, n + 1))
        naming = "numbered from 1" if is_numbered else "named by id"
        if not is_numbered and (n_isolated := n - distinct(np.concatenate([src, dst])).size):
            n -= n_isolated
            _warn(f"{n_isolated} vertices without edges are not in the file, which names vertices by edges")
        src, dst = labels[src], labels[dst]
    kind = "Directed" if graph.directed else "Undirected"
    stream.write(f"# {kind} graph, vertices {naming}\n# Nodes: {n} Edges: {src.size}\n".encode())
    columns = [src, dst] if weights is None else [src, dst, weights]
    write_rows(stream, delimiter.join(["%d", "%d", "%r"][: len(columns)]) + "\n", *columns)
