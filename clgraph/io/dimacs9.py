"""Arc files of the 9th DIMACS implementation challenge on shortest paths (``.gr``)."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from clgraph.data.graphs.csr import Duplicates
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.io.edges import Edges
from clgraph.io.text import Progress, file_error, header_number, marked, read_blocks, read_header, reading, write_rows

SUFFIXES = (".gr",)
EXPECTED = "an arc 'a source target weight'"
_ARC = -1  # replaces the letter a


def read(
    path: Path, *, directed: bool | None = None, duplicates: Duplicates = "keep", progress: Progress | None = None
) -> Graph:
    """Read lines ``a source target weight``; vertices are numbered from 1 in the file.

    By default (*directed* is ``None``), the graph is undirected if each arc has its reverse, as in
    the challenge's road networks. ``directed=False`` merges both directions of an edge and keeps the
    lesser weight.
    """
    with reading(path) as stream:
        _, problem, line = read_header(stream, b"c")
        words = problem.split()
        numbers = [header_number(word) for word in words[2:]]
        if words[:2] != [b"p", b"sp"] or len(numbers) != 2 or min(numbers) < 0:
            raise file_error(path, "the problem line 'p sp vertices arcs'", line=line, text=problem)
        n, n_arcs = numbers
        edges = Edges(path, EXPECTED, base=1, n=n)
        for block in read_blocks(
            stream, path, EXPECTED, comments=b"c", clean=marked(b"a", _ARC), first_line=line + 1, progress=progress
        ):
            edges.add(block, 4, (1, 2, 3), marker=_ARC)
    if edges.n_edges != n_arcs:
        raise file_error(path, f"as many arcs as there are, {edges.n_edges}, not {n_arcs}", line=line, text=problem)
    return edges.graph(n, directed=True, duplicates=duplicates)._settled(directed)


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write every stored entry as an arc; arcs of an unweighted graph get weight 1."""
    n, m, weights = graph.n_vertices, graph.n_edges, graph.edge_weights
    if weights is None:
        weights = np.ones(m, np.int32)
    elif weights.dtype.kind != "i":
        raise InputError(f"a .gr file has integer weights; these are {weights.dtype}")
    stream.write(f"p sp {n} {m}\n".encode())
    write_rows(stream, "a %d %d %d\n", graph.sources() + 1, graph.column_indices + 1, weights)
