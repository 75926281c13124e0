"""METIS graph files, also those of the 10th DIMACS challenge: one line of neighbours per vertex."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import IO

import numpy as np

from clgraph.data.graphs.csr import as_weights, asymmetric_entry
from clgraph.data.graphs.graph import Graph
from clgraph.errors import GraphFileWarning, InputError
from clgraph.io.text import Progress, file_error, header_number, read_blocks, read_header, reading

SUFFIXES = (".graph", ".metis")
EXPECTED = "the neighbours of a vertex, integers from 1 to the number of vertices"
_HEADER = "the header 'vertices edges [fmt [ncon]]', fmt of up to three digits 0 or 1"


def read(path: Path, *, directed: bool | None = None, progress: Progress | None = None) -> Graph:
    """Read an undirected graph; vertices are numbered from 1 in the file.

    Edge weights (fmt ``1``) are read, vertex sizes and weights (fmt ``1xx``, ``x1x``) passed over
    with a warning. *directed* only sets the flag of the result.
    """
    with reading(path) as stream:
        _, head, line = read_header(stream, b"%")
        words = head.split()
        numbers = [header_number(word) for word in words]
        valid = 2 <= len(words) <= 4 and min(numbers) >= 0
        fmt = words[2].zfill(3) if valid and len(words) > 2 else b"000"
        if not valid or len(fmt) > 3 or set(fmt) - set(b"01"):
            raise file_error(path, _HEADER, line=line, text=head)
        n, m = numbers[:2]
        n_constraints = numbers[3] if len(words) > 3 else 1
        skip = (fmt[0] == ord("1")) + (fmt[1] == ord("1")) * n_constraints
        stride = 1 + (fmt[2] == ord("1"))
        n_rows, row_lines = 0, []
        degrees, columns, weights = [], [], []
        for block in read_blocks(stream, path, EXPECTED, comments=b"%", first_line=line + 1, progress=progress):
            is_row = block.counts >= 0
            excess = n_rows + int(np.count_nonzero(is_row)) - n
            if excess > 0:  # blank lines may follow the last vertex
                surplus = np.flatnonzero(is_row)[-excess:]
                if (used := surplus[block.counts[surplus] > 0]).size:
                    raise block.line_error(int(used[0]), f"no more lines than the {n} vertices of the header")
                is_row[surplus] = False
            rows = np.flatnonzero(is_row)
            counts = block.counts[rows]
            if (bad := (counts < skip) | ((counts - skip) % stride != 0)).any():
                raise block.line_error(
                    int(rows[bad.argmax()]), f"{skip} numbers, then {'pairs of ' * (stride - 1)}{EXPECTED}"
                )
            entry = np.ones(block.values.size, bool)
            starts = np.cumsum(counts) - counts
            for k in range(skip if rows.size else 0):  # a row has at least as many numbers
                entry[starts + k] = False
            values = block.values[entry].reshape(-1, stride)
            target = values[:, 0]
            if (bad := (target < 1) | (target > n) | (target != np.floor(target))).any():
                raise block.value_error(int(np.flatnonzero(entry)[bad.argmax() * stride]), EXPECTED)
            degrees.append((counts - skip) // stride)
            columns.append((target - 1).astype(np.int32))
            weights.append(values[:, 1:].ravel())
            row_lines.append(block.first_line + rows)
            n_rows += rows.size
    if n_rows != n:
        raise file_error(path, f"as many lines as there are, {n_rows}, not {n}", line=line, text=head)
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.concatenate(degrees or [offsets[:0]]), out=offsets[1:])
    neighbors = np.concatenate(columns or [np.zeros(0, np.int32)])
    if neighbors.size != 2 * m:
        raise file_error(
            path, f"half as many edges as there are entries, {neighbors.size}, not {m}", line=line, text=head
        )
    edge_weights = as_weights(np.concatenate(weights), neighbors.size) if stride > 1 and weights else None
    if entry_found := asymmetric_entry(offsets, neighbors, edge_weights):
        u, v = entry_found
        place = int(np.concatenate(row_lines)[u])
        raise file_error(path, f"vertex {u + 1} (line {place}) and vertex {v + 1} list each other unequally")
    if skip:
        warnings.warn(f"{path}: the weights and sizes of vertices are passed over", GraphFileWarning, stacklevel=3)
    return Graph._trusted(offsets, neighbors, edge_weights, directed=bool(directed))


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write an undirected graph without self-loops, with its weights if they are integers."""
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
