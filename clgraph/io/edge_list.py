"""Edge lists as SNAP, KONECT and spreadsheets write them: one edge per line."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_choice, checked_count
from clgraph.data.csr import Duplicates
from clgraph.data.graph import Graph
from clgraph.data.pairs import csr_of_pairs
from clgraph.errors import GraphFileWarning
from clgraph.io.edges import Edges
from clgraph.io.text import Progress, file_error, read_blocks, read_header, reading, write_rows

SUFFIXES = (".txt", ".el", ".edges", ".edgelist", ".tsv", ".csv")
EXPECTED = "'source target' or 'source target weight', ids being integers"
_COMMENTS = b"#%"


def read(
    path: Path,
    *,
    directed: bool | None = None,
    base: Literal[0, 1] | None = None,
    ids: Literal["auto", "keep", "compact"] = "auto",
    duplicates: Duplicates = "first",
    progress: Progress | None = None,
) -> Graph:
    """Read an edge list: two ids and perhaps a weight per line, split by blanks, tabs or commas.

    Parameters
    ----------
    path : Path
        The file; lines that start with ``#`` or ``%`` are comments.
    directed : bool, optional
        By default what the comments at the head say ("Directed graph" or "Undirected graph", as
        SNAP's do), else false.
    base : {0, 1}, optional
        The lowest id. By default 1, with a warning, if the smallest id in the file is 1 and the
        head does not say "numbered from 0".
    ids : {"auto", "keep", "compact"}
        "keep" takes the ids (less *base*) as vertex numbers, so that an id that does not occur
        becomes an isolated vertex. "compact" numbers the ids that occur and keeps them as
        ``labels``. "auto" keeps them unless the largest is above 2**24 + 64 times the edges.
    duplicates : str
        As in :meth:`Graph.from_edges`; "first" because many lists give both directions of an edge.
    """
    check_choice("ids", ids, ("auto", "keep", "compact"))
    lowest = None if base is None else checked_count("base", base, 1, least=0)
    edges = Edges(path, EXPECTED, base=lowest or 0)
    with reading(path) as stream:
        comments, head, line = read_header(stream, _COMMENTS)
        width = len(_split_commas(head).split())
        if head and width not in (2, 3):
            raise file_error(path, EXPECTED, line=line, text=head)
        for block in read_blocks(
            stream,
            path,
            EXPECTED,
            comments=_COMMENTS,
            clean=_split_commas,
            head=head,
            first_line=line,
            progress=progress,
        ):
            edges.add(block, width)
    about = b"\n".join(comments).lower()
    n_claimed, n_edges = (
        int(found[1]) if (found := re.search(word + rb":\s*(\d{1,18})\b", about)) else None
        for word in (rb"nodes", rb"edges")
    )
    if not head and n_claimed is None:
        raise file_error(path, f"the file has no edges; expected lines of {EXPECTED}")
    if n_edges is not None and n_edges > edges.n_edges:
        warnings.warn(
            f"{path}: the head tells of {n_edges} edges, there are {edges.n_edges}", GraphFileWarning, stacklevel=3
        )
    if directed is None:
        directed = re.search(rb"\bdirected", about) is not None
    if lowest is None and edges.smallest == 1 and b"numbered from 0" not in about:
        edges.base = 1
        warnings.warn(
            f"{path}: the smallest id is 1, so vertices are taken to be numbered from 1; "
            "base=0 or base=1 (--base) says which",
            GraphFileWarning,
            stacklevel=3,
        )
    n = edges.largest + 1 - edges.base
    if ids == "compact" or (ids == "auto" and n > edges.spare_vertices):
        src, dst = edges.pairs()
        labels, numbers = np.unique(np.concatenate([src, dst]), return_inverse=True)
        src, dst = numbers[: src.size], numbers[src.size :]
        arrays = csr_of_pairs(labels.size, src, dst, edges.weights(), directed=directed, duplicates=duplicates)
        return Graph._trusted(*arrays, directed=directed, labels=labels, sorted_rows=True)
    if n_claimed is not None and n < n_claimed <= edges.spare_vertices:
        n = n_claimed
    return edges.graph(n, directed=directed, duplicates=duplicates)


def read_edges(path: Path, *, base: int = 0) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]]:
    """Yield sources, targets and weights, if there are any, of some lines after the other; *base* becomes 0.

    No more of the file is in memory than a few blocks of lines.

    Raises
    ------
    GraphFileError
        Naming the file, the line, its text and what was expected.
    """
    with reading(path) as stream:
        _, head, line = read_header(stream, _COMMENTS)
        width = len(_split_commas(head).split())
        if head and width not in (2, 3):
            raise file_error(path, EXPECTED, line=line, text=head)
        options: Any = {"comments": _COMMENTS, "clean": _split_commas, "head": head, "first_line": line}
        for block in read_blocks(stream, path, EXPECTED, **options):
            edges = Edges(path, EXPECTED, base=base)
            edges.add(block, width)
            sources, targets = edges.pairs()
            yield sources - base, targets - base, edges.weights()


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write vertex numbers from 0, each undirected edge once, with a head like SNAP's."""
    src, dst, weights = graph.edge_list()
    kind = "Directed" if graph.directed else "Undirected"
    stream.write(
        f"# {kind} graph, vertices numbered from 0\n# Nodes: {graph.n_vertices} Edges: {src.size}\n".encode()
    )
    if weights is None:
        write_rows(stream, "%d\t%d\n", src, dst)
    else:
        write_rows(stream, "%d\t%d\t%r\n", src, dst, weights)


def _split_commas(text: bytes) -> bytes:
    return text.replace(b",", b" ") if b"," in text else text
