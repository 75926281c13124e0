"""Graphs without chance, of which each entry has a formula."""

from __future__ import annotations

from clgraph.arguments import checked_count, checked_flag
from clgraph.data import generators
from clgraph.data.csr import MAX_VERTICES
from clgraph.data.graph import Graph
from clgraph.generators.device import born, empty_rows, launch, without_edges
from clgraph.primitives.types import c_type
from clgraph.runtime.session import Session, SessionLike, as_session


def grid(rows: int, cols: int, *, session: SessionLike = None) -> Graph:
    """Return the 4-point grid; vertex ``r * cols + c`` is at row ``r``, column ``c``."""
    rows, cols = generators.grid_size(rows, cols)
    if session is None:
        return generators.grid(rows, cols)
    if not rows * cols:
        return without_edges(as_session(session), 0)
    m = 2 * ((rows - 1) * cols + rows * (cols - 1))
    return _regular(as_session(session), "grid", rows * cols, m, rows=rows, cols=cols)


def star(n: int, *, session: SessionLike = None) -> Graph:
    """Return the star of *n* vertices with centre 0."""
    return tree(n, MAX_VERTICES, session=session)


def path(n: int, *, session: SessionLike = None) -> Graph:
    """Return the path 0 - 1 - … - (n - 1)."""
    return tree(n, 1, session=session)


def tree(n: int, arity: int = 2, *, session: SessionLike = None) -> Graph:
    """Return the complete tree of *n* vertices in which vertex ``v > 0`` has parent ``(v - 1) // arity``."""
    n, arity = checked_count("n", n, MAX_VERTICES, least=0), checked_count("arity", arity, MAX_VERTICES)
    if session is None:
        return generators.tree(n, arity)
    return _regular(as_session(session), "tree", n, 2 * max(n - 1, 0), n=n, arity=arity)


def cycle(n: int, *, session: SessionLike = None) -> Graph:
    """Return the cycle of *n* vertices, at least 3."""
    n = checked_count("n", n, MAX_VERTICES, least=3)
    return generators.cycle(n) if session is None else _regular(as_session(session), "cycle", n, 2 * n, n=n)


def two_cliques(size: int, *, bridge: bool = False, session: SessionLike = None) -> Graph:
    """Return two complete graphs of *size* vertices each, joined by one edge if *bridge*."""
    size, bridge = checked_count("size", size, MAX_VERTICES // 2, least=0), checked_flag("bridge", bridge)
    if session is None:
        return generators.two_cliques(size, bridge=bridge)
    joins = int(bridge and size > 0)
    m = 2 * (size * max(size - 1, 0) + joins)
    return _regular(as_session(session), "two_cliques", 2 * size, m, size=size, bridge=joins)


def _regular(session: Session, kernel: str, n: int, m: int, /, **arguments: int) -> Graph:
    """Return the graph of *n* vertices and *m* entries that *kernel* writes."""
    rows = empty_rows(session, n, m)
    defines = {"OFFSET_T": c_type(rows["row_offsets"].dtype)}
    launch(session, "regular", kernel, max(n + 1, m), defines, **arguments, **rows)
    return born(session, **rows)
