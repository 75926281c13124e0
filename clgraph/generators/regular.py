"""Graphs without chance, of which each entry has a formula."""
from __future__ import annotations

from clgraph.arguments import checked_count, checked_flag
from clgraph.data import generators
from clgraph.data.csr import MAX_VERTICES
from clgraph.data.graph import Graph


def grid(rows: int, cols: int) -> Graph:
    """Return the 4-point grid; vertex ``r * cols + c`` is at row ``r``, column ``c``."""
    return generators.grid(*generators.grid_size(rows, cols))


def star(n: int) -> Graph:
    """Return the star of *n* vertices with centre 0."""
    return tree(n, MAX_VERTICES)


def path(n: int) -> Graph:
    """Return the path 0 - 1 - … - (n - 1)."""
    return tree(n, 1)


def tree(n: int, arity: int = 2) -> Graph:
    """Return the complete tree of *n* vertices in which vertex ``v > 0`` has parent ``(v - 1) // arity``."""
    n, arity = checked_count("n", n, MAX_VERTICES, least=0), checked_count("arity", arity, MAX_VERTICES)
    return generators.tree(n, arity)


def cycle(n: int) -> Graph:
    """Return the cycle of *n* vertices, at least 3."""
    return generators.cycle(checked_count("n", n, MAX_VERTICES, least=3))


def two_cliques(size: int, *, bridge: bool = False) -> Graph:
    """Return two complete graphs of *size* vertices each, joined by one edge if *bridge*."""
    size, bridge = checked_count("size", size, MAX_VERTICES // 2, least=0), checked_flag("bridge", bridge)
    return generators.two_cliques(size, bridge=bridge)
