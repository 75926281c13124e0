"""Colouring files of the 2nd DIMACS implementation challenge (``.col``)."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from clgraph.data.graphs.csr import Duplicates
from clgraph.data.graphs.graph import Graph
from clgraph.io.edges import Edges
from clgraph.io.text import Progress, file_error, header_number, marked, read_blocks, read_header, reading, write_rows

SUFFIXES = (".col",)
EXPECTED = "an edge 'e vertex vertex'"
_PROBLEMS = (b"edge", b"edges", b"col")
_EDGE = -1  # replaces the letter e


def read(
    path: Path, *, directed: bool | None = None, duplicates: Duplicates = "first", progress: Progress | None = None
) -> Graph:
    """Read lines ``e u v``; vertices are numbered from 1 in the file.

    The graph has no weights.

    By default (*directed* is ``None``), the graph is undirected. Some files list both directions of an edge; they
    become one edge, unless *duplicates* is "keep".
    """
    with reading(path) as stream:
        _, problem, line = read_header(stream, b"c")
        words = problem.split()
        numbers = [header_number(word) for word in words[2:]]
        is_problem = words[:1] == [b"p"] and not {*words[1:2]}.isdisjoint(_PROBLEMS)
        if not is_problem or len(numbers) != 2 or min(numbers) < 0:
            raise file_error(path, "the problem line 'p edge vertices edges'", line=line, text=problem)
        n, n_edges = numbers
        edges = Edges(path, EXPECTED, base=1, n=n)
        for block in read_blocks(
            stream, path, EXPECTED, comments=b"cn", clean=marked(b"e", _EDGE), first_line=line + 1, progress=progress
        ):
            edges.add(block, 3, (1, 2), marker=_EDGE)
    if edges.n_edges not in (n_edges, 2 * n_edges) and 2 * edges.n_edges != n_edges:
        raise file_error(path, f"as many edges as there are, {edges.n_edges}, not {n_edges}", line=line, text=problem)
    return edges.graph(n, directed=bool(directed), duplicates=duplicates)


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write each edge once, without weights."""
    src, dst, _ = graph.edge_list()
    stream.write(f"p edge {graph.n_vertices} {src.size}\n".encode())
    write_rows(stream, "e %d %d\n", src + 1, dst + 1)
