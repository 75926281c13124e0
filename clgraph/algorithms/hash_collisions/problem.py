"""The problem of hash collisions: a graph, hashes and numbers of bits."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

from clgraph.arguments import check_choice, checked_count, refusing, shown
from clgraph.data.graphs.vertex_hashes import HASHES
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem
from clgraph.errors import InputError
from clgraph.runtime.graphs.device_graph import beside

MOST_BITS = 31  # Colours are nonnegative int32, so they have at most 31 bits.


@dataclass(frozen=True)
class CollisionProblem(GraphProblem):
    """A problem of hash collisions: a symmetric graph, and the hashes and widths to count.

    At distance 2, rows are sorted.
    """

    distance: int
    hashes: tuple[str, ...]
    bit_widths: tuple[int, ...]

    def admitted(self) -> Self:
        graph = self.graph
        graph.require_reverses()
        if self.distance == 2 and not graph.has_sorted_rows:
            return replace(self, graph=beside(graph, graph.sorted_pattern()))
        return self


def as_problem(
    graph: Any, *, distance: int = 1, hashes: int | Iterable[str] = 15, bit_widths: Iterable[int] = range(1, 11)
) -> CollisionProblem:
    """Check the arguments of :func:`hash_collisions` and return the problem."""
    graph, distance = wrap_graph(graph), checked_count("distance", distance, 2)
    names = _as_hashes(hashes)
    with refusing("bit_widths", bit_widths, f"rising integers from 1 to {MOST_BITS}"):
        widths = tuple(operator.index(bits) for bits in islice(bit_widths, MOST_BITS + 1))
    if not widths or any(b <= a for a, b in zip((0, *widths), (*widths, MOST_BITS + 1), strict=False)):
        raise InputError(f"bit_widths = {shown(list(widths))}; allowed: rising integers from 1 to {MOST_BITS}")
    graph._require_fits("hash collisions take")
    return CollisionProblem(graph, distance, names, widths).admitted_if_checked()


def _as_hashes(hashes: int | Iterable[str]) -> tuple[str, ...]:
    if isinstance(hashes, str):
        raise InputError(f"hashes = {shown(hashes)}; allowed: names in a list, or how many")
    if not isinstance(hashes, Iterable):
        return tuple(HASHES)[: checked_count("hashes", hashes, len(HASHES))]
    with refusing("hashes", hashes, "names in a list, or how many"):
        names = tuple(islice(hashes, len(HASHES) + 1))
    for name in names:
        check_choice("hashes", name, HASHES)
    if not names or len(set(names)) < len(names):
        raise InputError(f"hashes = {list(names)}; allowed: one or more names, each once")
    return names
