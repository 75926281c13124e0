"""What problems on graphs share."""
from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from clgraph.data.graph import Graph
from clgraph.data.stats import GraphStats


@dataclass(frozen=True)
class GraphProblem:
    """A graph; algorithms add what else they are asked."""

    graph: Graph

    @property
    def stats(self) -> GraphStats:
        return self.graph.stats

    @property
    def settings(self) -> Hashable:
        """What is asked of the graph: a plan can solve all problems on one graph that have the same settings."""
        return type(self), *(getattr(self, name) for name in self.__dataclass_fields__ if name != "graph")
