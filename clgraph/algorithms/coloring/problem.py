"""What the strategies of colouring are given and what they leave."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.coloring.hash_start import HashStart, hash_start, is_few, least_bits
from clgraph.data.graph import Graph
from clgraph.data.stats import GraphStats


@dataclass(frozen=True)
class ColoringStats:
    """What the cost model knows of a problem."""

    graph: GraphStats
    distance: int


@dataclass(frozen=True)
class ColoringProblem:
    """A graph and how it is to be coloured; it is symmetric, unless *bipartite*: then columns are coloured.

    Attributes
    ----------
    order : str or None
        One of :data:`clgraph.algorithms.coloring.orders.ORDERS`; ``None`` is what suits the strategy.
    """

    graph: Graph
    distance: int = 1
    order: str | None = None
    deterministic: bool = False
    seed: int = 0
    bipartite: bool = False

    @property
    def stats(self) -> ColoringStats:
        return ColoringStats(self.graph.stats, self.distance)

    @cached_property
    def hash_start(self) -> HashStart:
        """The hash to begin with at distance 2."""
        return hash_start(self.graph, closed=not self.bipartite, bits=least_bits(self._members))

    @property
    def hash_suffices(self) -> bool:
        """Whether that hash hardly collides, at distance 2, though it has few colours."""
        return is_few(least_bits(self._members), self._members) and self.hash_start.suffices

    @property
    def _members(self) -> int:
        """Members of the largest net, repeats included."""
        return self.graph.stats.max_degree + (not self.bipartite)


class ColoringPlan(Protocol):
    """A compiled and allocated run on one problem; ``run()`` may be called again."""

    details: dict[str, Any]

    def run(self) -> None:
        """Colour the vertices."""

    def result(self) -> NDArray[np.int32]:
        """Return the colours, after ``run()``."""
