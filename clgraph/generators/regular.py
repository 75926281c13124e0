"""Generators of regular graphs, such as grids and trees, whose entries are computed by a formula."""

from __future__ import annotations

import numpy as np

from clgraph.arguments import checked_count, checked_flag
from clgraph.data.graphs.csr import MAX_VERTICES
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.pairs import BYTES_PER_EDGE, BYTES_PER_VERTEX
from clgraph.generators.device import born, empty_rows, launch, without_edges
from clgraph.host_memory import check_host_memory
from clgraph.primitives.types import c_type
from clgraph.runtime.session import Session, SessionLike, as_session


def grid(rows: int, cols: int, *, session: SessionLike = None) -> Graph:
    """Return the grid graph of *rows* × *cols* vertices, in which vertex ``r
    * cols + c`` is at row ``r``, column ``c``.
    """
    rows = checked_count("rows", rows, MAX_VERTICES, least=0)
    cols = checked_count("cols", cols, MAX_VERTICES, least=0)
    n = checked_count("rows * cols", rows * cols, MAX_VERTICES, least=0)
    if session is not None:
        if not n:
            return without_edges(as_session(session), 0)
        m = 2 * ((rows - 1) * cols + rows * (cols - 1))
        return _on_device(as_session(session), "grid", n, m, rows=rows, cols=cols)
    check_host_memory(f"rows * cols = {n}", BYTES_PER_VERTEX * n)
    vertex = np.arange(n, dtype=np.int32).reshape(rows, cols)
    neighbors = vertex[..., None] + np.array([-cols, -1, 1, cols], np.int32)
    exists = np.ones(neighbors.shape, bool)
    exists[:1, :, 0] = exists[:, :1, 1] = exists[:, -1:, 2] = exists[-1:, :, 3] = False
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(exists.sum(-1, dtype=np.int8).ravel(), out=offsets[1:])
    return Graph._trusted(offsets, neighbors[exists], sorted_rows=True)


def star(n: int, *, session: SessionLike = None) -> Graph:
    """Return the star graph of *n* vertices: vertex 0 is the centre, and all other vertices are its neighbours."""
    return tree(n, MAX_VERTICES, session=session)


def path(n: int, *, session: SessionLike = None) -> Graph:
    """Return the path graph 0 - 1 - … - (n - 1), in which consecutive vertices are neighbours."""
    return tree(n, 1, session=session)


def tree(n: int, arity: int = 2, *, session: SessionLike = None) -> Graph:
    """Return the complete tree of *n* vertices in which vertex ``v > 0`` has the parent ``(v - 1) // arity``."""
    n, arity = checked_count("n", n, MAX_VERTICES, least=0), checked_count("arity", arity, MAX_VERTICES)
    if session is not None:
        return _on_device(as_session(session), "tree", n, 2 * max(n - 1, 0), n=n, arity=arity)
    check_host_memory(f"n = {n}", BYTES_PER_VERTEX * n)
    children = np.arange(1, n, dtype=np.int32)
    return Graph.from_edges((children - 1) // arity, children, n=n)


def cycle(n: int, *, session: SessionLike = None) -> Graph:
    """Return the cycle graph of *n* vertices, of which there must be at least 3."""
    n = checked_count("n", n, MAX_VERTICES, least=3)
    if session is not None:
        return _on_device(as_session(session), "cycle", n, 2 * n, n=n)
    check_host_memory(f"n = {n}", BYTES_PER_VERTEX * n)
    vertices = np.arange(n, dtype=np.int32)
    return Graph.from_edges(vertices, np.roll(vertices, -1), n=n)


def two_cliques(size: int, *, bridge: bool = False, session: SessionLike = None) -> Graph:
    """Return a graph of two cliques of *size* vertices each, which one edge joins if *bridge* is true."""
    size, bridge = checked_count("size", size, MAX_VERTICES // 2, least=0), checked_flag("bridge", bridge)
    joins = int(bridge and size > 0)
    if session is not None:
        m = 2 * (size * max(size - 1, 0) + joins)
        return _on_device(as_session(session), "two_cliques", 2 * size, m, size=size, bridge=joins)
    check_host_memory(f"size = {size}", BYTES_PER_EDGE * size**2)
    src, dst = np.triu_indices(size, 1)
    src, dst = np.concatenate([src, src + size]), np.concatenate([dst, dst + size])
    if joins:
        src, dst = np.append(src, size - 1), np.append(dst, size)
    return Graph.from_edges(src, dst, n=2 * size)


def _on_device(session: Session, kernel: str, n: int, m: int, /, **arguments: int) -> Graph:
    """Return the graph of *n* vertices and *m* CSR entries that *kernel* writes on the device."""
    rows = empty_rows(session, n, m)
    defines = {"OFFSET_T": c_type(rows["row_offsets"].dtype)}
    launch(session, "regular", kernel, max(n + 1, m), defines, **arguments, **rows)
    return born(session, **rows)
