"""METIS graph files, which the 10th DIMACS challenge uses, too: one line of neighbours per vertex."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.csr import as_weights, asymmetric_entry
from clgraph.data.graphs.graph import Graph
from clgraph.errors import GraphFileError, GraphFileWarning, InputError
from clgraph.io.text import Block, Progress, file_error, header_number, read_blocks, read_header, reading

SUFFIXES = (".graph", ".metis")
EXPECTED = "the neighbours of a vertex, integers from 1 to the number of vertices"
_HEADER = "the header 'vertices edges [fmt [ncon]]', fmt of up to three digits 0 or 1"


class _Header(NamedTuple):
    """The first line of a METIS file: the numbers of vertices and edges, and the layout of a vertex's line."""

    n_vertices: int
    n_edges: int
    skip: int  # Count of numbers before the neighbours in a vertex's line: the vertex's size and weights.
    stride: int  # Count of numbers for each neighbour in a line: 2 if a weight follows the neighbour, else 1.
    line: int
    text: bytes

    def error(self, path: Path, expected: str) -> GraphFileError:
        return file_error(path, expected, line=self.line, text=self.text)


class _Rows(NamedTuple):
    """The graph's rows in one block of a METIS file, and the line number of each row."""

    degrees: NDArray[np.int64]
    columns: NDArray[np.int32]
    weights: NDArray[np.float64]
    lines: NDArray[np.int64]


def read(path: Path, *, directed: bool | None = None, progress: Progress | None = None) -> Graph:
    """Read an undirected graph from a METIS file, in which vertices are numbered from 1.

    Edge weights (fmt ``1``) are read. Vertex sizes and weights (fmt ``1xx``, ``x1x``) are ignored
    with a warning. *directed* only sets the flag of the result.
    """
    with reading(path) as stream:
        header = _read_header(stream, path)
        n, n_rows = header.n_vertices, 0
        found: list[_Rows] = []
        for block in read_blocks(stream, path, EXPECTED, comments=b"%", first_line=header.line + 1, progress=progress):
            found.append(_rows_of(block, header, n - n_rows))
            n_rows += found[-1].degrees.size
    if n_rows != n:
        raise header.error(path, f"as many lines as there are, {n_rows}, not {n}")
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.concatenate([rows.degrees for rows in found] or [offsets[:0]]), out=offsets[1:])
    neighbors = np.concatenate([rows.columns for rows in found] or [np.zeros(0, np.int32)])
    if neighbors.size != 2 * header.n_edges:
        raise header.error(path, f"half as many edges as there are entries, {neighbors.size}, not {header.n_edges}")
    edge_weights = None
    if header.stride > 1 and found:
        edge_weights = as_weights(np.concatenate([rows.weights for rows in found]), neighbors.size)
    if entry_found := asymmetric_entry(offsets, neighbors, edge_weights):
        u, v = entry_found
        place = int(np.concatenate([rows.lines for rows in found])[u])
        raise file_error(path, f"vertex {u + 1} (line {place}) and vertex {v + 1} list each other unequally")
    if header.skip:
        warnings.warn(f"{path}: the weights and sizes of vertices are passed over", GraphFileWarning, stacklevel=3)
    return Graph._trusted(offsets, neighbors, edge_weights, directed=bool(directed))


def _read_header(stream: IO[bytes], path: Path) -> _Header:
    _, head, line = read_header(stream, b"%")
    words = head.split()
    numbers = [header_number(word) for word in words]
    valid = 2 <= len(words) <= 4 and min(numbers) >= 0
    fmt = words[2].zfill(3) if valid and len(words) > 2 else b"000"
    if not valid or len(fmt) > 3 or set(fmt) - set(b"01"):
        raise file_error(path, _HEADER, line=line, text=head)
    n_constraints = numbers[3] if len(words) > 3 else 1
    skip = (fmt[0] == ord("1")) + (fmt[1] == ord("1")) * n_constraints
    return _Header(numbers[0], numbers[1], skip, 1 + (fmt[2] == ord("1")), line, head)


def _rows_of(block: Block, header: _Header, n_left: int) -> _Rows:
    """Return the checked rows of a block.

    *n_left* vertices have no row in the blocks before this block.
    """
    skip, stride, n = header.skip, header.stride, header.n_vertices
    is_row = block.counts >= 0
    excess = int(np.count_nonzero(is_row)) - n_left
    if excess > 0:  # Only blank lines may follow the last vertex's line.
        surplus = np.flatnonzero(is_row)[-excess:]
        if (used := surplus[block.counts[surplus] > 0]).size:
            raise block.line_error(int(used[0]), f"no more lines than the {n} vertices of the header")
        is_row[surplus] = False
    rows = np.flatnonzero(is_row)
    counts = block.counts[rows]
    if (bad := (counts < skip) | ((counts - skip) % stride != 0)).any():
        raise block.line_error(int(rows[bad.argmax()]), f"{skip} numbers, then {'pairs of ' * (stride - 1)}{EXPECTED}")
    entry = np.ones(block.values.size, bool)
    starts = np.cumsum(counts) - counts
    for k in range(skip if rows.size else 0):  # The check above ensures that each vertex's line has these numbers.
        entry[starts + k] = False
    values = block.values[entry].reshape(-1, stride)
    target = values[:, 0]
    if (bad := (target < 1) | (target > n) | (target != np.floor(target))).any():
        raise block.value_error(int(np.flatnonzero(entry)[bad.argmax() * stride]), EXPECTED)
    columns = (target - 1).astype(np.int32)
    return _Rows((counts - skip) // stride, columns, values[:, 1:].ravel(), block.first_line + rows)


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write *graph* as a METIS file.

    It must be undirected, without self-loops, and unweighted or with integer weights.
    """
    weights, columns = graph.edge_weights, graph.column_indices + 1
    if graph.directed:
        raise InputError("a METIS file holds an undirected graph, this one is directed")
    if weights is not None and weights.dtype.kind != "i":
        raise InputError(f"a METIS file has integer weights; these are {weights.dtype}")
    if (loops := graph.sources() == graph.column_indices).any():
        raise InputError(f"a METIS file has no self-loops; vertex {columns[loops.argmax()] - 1} has one")
    stream.write(f"{graph.n_vertices} {graph.n_edges // 2}{'' if weights is None else ' 001'}\n".encode())
    for v in range(graph.n_vertices):
        row = slice(graph.row_offsets[v], graph.row_offsets[v + 1])
        numbers = columns[row] if weights is None else np.column_stack([columns[row], weights[row]]).ravel()
        stream.write(" ".join(map(str, numbers.tolist())).encode() + b"\n")
