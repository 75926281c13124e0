"""Edge lists, with one edge per line, as SNAP, KONECT and spreadsheets write them."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_choice, checked_count, checked_flag, shown
from clgraph.data.graphs.csr import Duplicates
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.pairs import csr_of_pairs, distinct
from clgraph.errors import GraphFileWarning, InputError
from clgraph.io.columns import COMMENTS, checked_columns, read_lead, seem_times, separated
from clgraph.io.edge_list_start import (
    EXPECTED,
    NAMED,
    ROLES,
    Head,
    Start,
    fitting_size,
    numbers_of,
    read_head,
    read_start,
)
from clgraph.io.edges import Edges, believed_vertices, first_of_each
from clgraph.io.names import Named, layout, read_names
from clgraph.io.text import Block, Progress, file_error, read_blocks, reading, write_rows

SUFFIXES = (".txt", ".el", ".edges", ".edgelist", ".tsv", ".csv")


def read(
    path: Path,
    *,
    directed: bool | None = None,
    base: Literal[0, 1] | None = None,
    ids: Literal["auto", "keep", "compact", "names"] = "auto",
    columns: Sequence[str] | Mapping[str, str] | None = None,
    size_line: bool | None = None,
    duplicates: Duplicates | None = None,
    with_ids: bool = False,
    progress: Progress | None = None,
) -> Graph:
    """Read an edge list: two ids and optionally a weight per line, separated by blanks, tabs or commas.

    Ids are integers, or names: any text. Ids are names with ``ids="names"``, or if the columns are named and an id of
    the first line is no number. Names may be quoted, and there may be semicolons between them. The vertices are
    numbered in the sorted order of the names, which become the graph's ``ids``.

    By default, ids are compacted: the ids that occur are numbered in ascending order, and the graph keeps
    them as ``ids``, unless they are 0, 1, 2, …. But if the file's head states the number n of vertices and
    all ids are within a range of n, the ids are vertex numbers, and vertices without edges are included.

    The head may state n as SNAP's ``# Nodes: n Edges: m``, as KONECT's ``% m n n``, or by a first line
    ``n m``, ``n n m`` or (in hMETIS's files) ``m n`` that fits the edges after it. KONECT's head
    ``% sym|asym|bip`` says whether the graph is directed. In a bipartite file (``bip``), sources and
    targets are two sets of ids. The sources are numbered first, then the targets, and the graph's ids are
    ``"L1"`` for source 1 and ``"R1"`` for target 1.

    Parameters
    ----------
    path : Path
        The file. Lines that start with ``#`` or ``%`` are comments. The first other line may hold the
        names of the columns.
    directed : bool, optional
        By default, comments at the head decide (SNAP's "Directed graph" or "Undirected graph", or
        KONECT's ``asym``); without them, it is false.
    base : {0, 1}, optional
        The lowest id. If it is given, ids are vertex numbers, as with ``ids="keep"``. If ids are vertex
        numbers and *base* is neither given nor in the file, it is 1 if the least id is 1, with a warning.
    ids : {"auto", "keep", "compact", "names"}
        "names" takes all ids as text, even numbers. "keep" takes the ids (minus *base*) as
        vertex numbers, so an id that does not occur becomes an isolated vertex. "compact" numbers only the ids that
        occur, whatever the head states.
    columns : sequence of str or dict, optional
        A name for each column: "source", "target", "weight"; columns with other names are ignored. A dict such as
        ``{"source": "from", "target": "to", "weight": "km"}`` says which names of the header they have.
        By default, the header has the names. Without a header, they are source, target, weight, with a
        warning if the weights look like times.
    size_line : bool, optional
        Whether the first line of numbers is a size line ``n m`` or ``n n m``. By default, it is one if
        it fits the edges after it, with a warning.
    duplicates : str, optional
        As in :meth:`Graph.from_edges`. The default is "sum" for KONECT's ``positive`` weights, which count parallel
        edges. Else it is "first" with a warning if weights differ, because many lists have both directions of an edge.
    with_ids : bool
        Whether to keep the ids even if they are vertex numbers from 1 on.
    """
    check_choice("ids", ids, ("auto", "keep", "compact", "names"))
    lowest = None if base is None else checked_count("base", base, 1, least=0)
    size_line = None if size_line is None else checked_flag("size_line", size_line)
    if ids in ("compact", "names") and base is not None:
        raise InputError(f"base = {base}; allowed with ids={ids!r}: None, since the ids are not kept as numbers")
    given = checked_columns(ROLES, columns)
    with reading(path) as stream:
        lead = read_lead(stream)
        if ids != "keep" and base is None:
            form = layout(path, ROLES, lead, given, EXPECTED, forced=ids == "names")
            if form is not None:
                found = read_names(stream, path, form, NAMED, apart=False, progress=progress)
                is_directed = read_head(path, lead).directed if directed is None else directed
                return _graph_of(path, found, is_directed, duplicates)
        start = read_start(stream, path, lead, given, size_line)
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
    _check_edges(path, start, edges, n)
    if directed is None:
        directed = head.directed
    if duplicates is None and head.konect == "positive":
        duplicates = "sum"
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
        return graph._named(_id_array([np.arange(first_id, first_id + k) for k in sizes])) if with_ids else graph
    names = edges.compact(apart=head.apart)
    n_named = sum(ids.size for ids in names)
    if ids == "auto" and n is not None and n_named != n:
        _warn(f"{path}: the head tells of {n} vertices, the edges name {n_named}")
    return edges.graph(n_named, directed=directed, duplicates=duplicates)._named(_id_array(names))


def _check_edges(path: Path, start: Start, edges: Edges, n: int | None) -> None:
    """Raise if there are no edges, and warn if there are fewer than the head states, or if weights look like times."""
    head = start.head
    if not edges.n_edges and n is None:
        raise file_error(path, f"the file has no edges; expected lines of {EXPECTED}")
    if head.n_edges is not None and head.n_edges > edges.n_edges:
        _warn(f"{path}: the head tells of {head.n_edges} edges, there are {edges.n_edges}")
    if not start.is_told and edges.weight_blocks and all(map(seem_times, edges.weight_blocks)):
        _warn(
            f"{path}: the third column is taken for weights, though it looks like times; columns=('source', 'target', "
            "'time') (--columns) passes it over"
        )


def _graph_of(path: Path, found: Named, directed: bool, duplicates: Duplicates | None) -> Graph:
    """Return the graph of edges between names."""
    names = found.names[0]
    arrays = csr_of_pairs(names.size, *found.pairs, found.values, directed=directed, duplicates=duplicates or "keep")
    graph = Graph._trusted(*arrays, directed=directed, ids=names, sorted_rows=True)
    return first_of_each(path, graph) if duplicates is None else graph


def read_edges(path: Path, *, base: int = 0) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]]:
    """Yield the edges block by block: sources, targets, and weights or ``None``; *base* is subtracted from ids.

    Only a few blocks of lines are in memory at a time.

    Raises
    ------
    GraphFileError
        The file cannot be read; the message names the file, the line, its text and the expected form. Sources and
        targets are two sets of ids. Or the first line, yielded as an edge, fits as a size line of all others, which is
        known only at the end of the file.
    """
    with reading(path) as stream:
        start = read_start(stream, path, read_lead(stream), None, None)
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
        if start.size and is_edge == (fitting_size(numbers_of(start.size), n_edges, low, high) is not None):
            expected = "no size line, though it fits the edges behind it" if is_edge else EXPECTED
            raise file_error(path, expected, line=start.size_at, text=start.size)


def _blocks(stream: IO[bytes], path: Path, row: bytes, line: int, progress: Progress | None = None) -> Iterator[Block]:
    return read_blocks(
        stream, path, EXPECTED, comments=COMMENTS, clean=separated, head=row, first_line=line, progress=progress
    )


def _vertices_of(path: Path, start: Start, edges: Edges, size_line: bool | None) -> int | None:
    """Return the number of vertices if the first line is a size line, or ``None`` if it is an edge.

    If both are possible, warn about the decision.

    Raises
    ------
    GraphFileError
        The line cannot be an edge, or *size_line* is true, but it does not fit the edges.
    """
    numbers, low, high = numbers_of(start.size), edges.smallest, edges.largest
    n = fitting_size(numbers, edges.n_edges, low, high)
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
    """Return whether all ids are in a range of *n* numbers, and the first number of this range.

    The first number is *lowest*, or 0 or 1 if that is ``None``.
    """
    low, high = edges.smallest, edges.largest
    begin = lowest if lowest is not None else int(low == 1 or (low > 1 and high == n))
    is_within = (
        n is not None
        and n <= believed_vertices(edges.n_edges)
        and (not edges.n_edges or begin <= low <= high < begin + n)
    )
    return is_within, begin


def _kept(edges: Edges, head: Head, n: int) -> list[int]:
    """Use ids minus ``edges.base`` as vertex numbers, and return the number of vertices for each set of ids.

    A single set has at least *n* vertices. If sources and targets are two sets of ids, the targets are renumbered.
    """
    ranges, base = edges.ranges, edges.base
    if not head.apart:
        return [max(n, edges.largest + 1 - base)]
    sizes = head.sizes or tuple(high + 1 - base for _, high in ranges)
    edges.move_targets(sizes[0])
    return list(sizes)


def _id_array(ids: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the ids as one array. If there are two sets, ids of sources get the prefix "L", ids of targets "R"."""
    if len(ids) == 1:
        return ids[0]
    return np.array([f"{side}{one}" for side, those in zip("LR", ids, strict=True) for one in those.tolist()], str)


def _warn(text: str) -> None:
    warnings.warn(text, GraphFileWarning, stacklevel=3)


def write(graph: Graph, stream: IO[bytes], delimiter: str = "\t") -> None:
    """Write the ids of each edge, separated by *delimiter*, after a head like SNAP's; undirected edges once.

    Ids must be integers of at least 0. For a graph without ids, vertex numbers from 0 on are written. If the ids are
    not 1, 2, 3, …, vertices without edges are not in the file.
    """
    src, dst, weights = graph.edge_list()
    n, ids = graph.n_vertices, graph.ids
    naming = "numbered from 0"
    if ids is not None:
        bad = (ids < 0) | (ids > 2**63 - 1) if ids.dtype.kind in "iu" else np.ones(n, bool)
        if bad.any():
            at = int(bad.argmax())
            allowed = "an edge list has integers from 0 to 2**63 - 1 as ids, format='npz' any"
            raise InputError(f"ids[{at}] = {shown(ids[at : at + 1].tolist()[0])}; {allowed}")
        is_numbered = np.array_equal(ids, np.arange(1, n + 1))
        naming = "numbered from 1" if is_numbered else "named by id"
        if not is_numbered and (n_isolated := n - distinct(np.concatenate([src, dst])).size):
            n -= n_isolated
            _warn(f"{n_isolated} vertices without edges are not in the file, which names vertices by edges")
        src, dst = ids[src], ids[dst]
    kind = "Directed" if graph.directed else "Undirected"
    stream.write(f"# {kind} graph, vertices {naming}\n# Nodes: {n} Edges: {src.size}\n".encode())
    columns = [src, dst] if weights is None else [src, dst, weights]
    write_rows(stream, delimiter.join(["%d", "%d", "%r"][: len(columns)]) + "\n", *columns)
