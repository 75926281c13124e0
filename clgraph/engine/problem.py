"""What problems on graphs share."""
from __future__ import annotations

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
