"""Matrix Market coordinate files, which hold an adjacency matrix with one entry per line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from clgraph.data.graphs.csr import Duplicates
from clgraph.data.graphs.graph import Graph
from clgraph.io.edges import Edges
from clgraph.io.text import Block, Progress, file_error, header_number, read_blocks, read_header, reading, write_rows

SUFFIXES = (".mtx", ".mm")
BANNER = b"%%MatrixMarket"
_WORDS = ["%%matrixmarket", "matrix", "coordinate"]
_FIELDS = ("pattern", "real", "double", "integer")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")


def read(
    path: Path, *, directed: bool | None = None, duplicates: Duplicates = "sum", progress: Progress | None = None
) -> Graph:
    """Read a square coordinate matrix of pattern, integer or real values.

    Entry (i, j) is an edge from vertex ``i - 1`` to ``j - 1``, and its value is the weight. By default
    (*directed* is ``None``), the graph is undirected if the matrix is declared symmetric or is found to be
    symmetric, else directed. ``directed=False`` merges both directions of a general matrix and keeps the
    lesser weight. Repeated entries are summed, as in scipy.
    """
    edges, (n, _), symmetry = read_entries(path, progress)
    if symmetry == "symmetric":
        return edges.graph(n, directed=False, duplicates=duplicates)._replaced(directed=bool(directed))
    if symmetry == "skew-symmetric":
        if directed is False:
            raise file_error(path, "a skew-symmetric matrix is a directed graph, pass directed=True or None")
        edges.mirror_negated()
        return edges.graph(n, directed=True, duplicates=duplicates)
    return edges.graph(n, directed=True, duplicates=duplicates)._settled(directed)


def read_entries(
    path: Path,
    progress: Progress | None,
    *,
    fields: Sequence[str] = _FIELDS,
    symmetries: Sequence[str] = _SYMMETRIES,
    square: bool = True,
    check: Callable[[Block], object] = lambda block: None,
) -> tuple[Edges, tuple[int, int], str]:
    """Return the entries of a coordinate matrix, numbered from 1, its shape, and its symmetry.

    The file's banner must have one of *fields* and one of *symmetries*. *check* is called with each block of lines.
    """
    with reading(path) as stream:
        banner = stream.readline(1000)
        words = banner.decode("ascii", "replace").lower().split()
        is_known = len(words) == 5 and words[3] in fields and words[4] in symmetries
        if not is_known or words[:3] != _WORDS or words[3:] == ["pattern", "skew-symmetric"]:
            expected = f"'%%MatrixMarket matrix coordinate {'|'.join(fields)} {'|'.join(symmetries)}'"
            raise file_error(path, expected, line=1, text=banner)
        _, size, line = read_header(stream, b"%", first_line=2)
        numbers = [header_number(word) for word in size.split()]
        if len(numbers) != 3 or min(numbers) < 0 or (square and numbers[0] != numbers[1]):
            expected = f"the size line 'rows columns entries'{' of a square matrix' * square}"
            raise file_error(path, expected, line=line, text=size)
        width = 2 if words[3] == "pattern" else 3
        expected, shape = f"'row column{' value' * (width - 2)}'", (numbers[0], numbers[1])
        edges = Edges(path, expected, base=1, n=shape)
        for block in read_blocks(stream, path, expected, comments=b"%", first_line=line + 1, progress=progress):
            check(block)
            edges.add(block, width)
    if edges.n_edges != numbers[2]:
        told = f"as many entries as there are, {edges.n_edges}, not {numbers[2]}"
        raise file_error(path, told, line=line, text=size)
    return edges, shape, words[4]


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write *graph* as a general matrix if it is directed, else as the lower triangle of a symmetric matrix."""
    src, dst, weights = graph.edge_list()
    field = "pattern" if weights is None else "integer" if weights.dtype.kind == "i" else "real"
    symmetry = "general" if graph.directed else "symmetric"
    rows, columns = (src, dst) if graph.directed else (dst, src)
    stream.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n".encode())
    stream.write(f"{graph.n_vertices} {graph.n_vertices} {src.size}\n".encode())
    if weights is None:
        write_rows(stream, "%d %d\n", rows + 1, columns + 1)
    else:
        write_rows(stream, "%d %d %r\n", rows + 1, columns + 1, weights)
