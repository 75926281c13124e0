"""The problem of eigenvector centrality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.algorithms.pagerank.problem import PowerProblem, checked_common, distribution
from clgraph.data.graphs.networkx_graphs import Weight


@dataclass(frozen=True, eq=False)
class EigenvectorProblem(PowerProblem):
    """A graph whose vertices get the values of an eigenvector.

    The values of an iteration add up to 1, and so does *initial*.
    """

    epilogue = "EIGENVECTOR"

    def scale_of(self, _pull: int) -> NDArray[np.float64]:
        return self.strengths


def as_problem(
    graph: Any,
    *,
    initial: Any = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    weight: Weight = None,
    dtype: DTypeLike | None = None,
) -> EigenvectorProblem:
    """Return the problem of these arguments of :func:`eigenvector_centrality`, or raise an error."""
    data, common = checked_common(graph, "eigenvector centrality takes", tol, max_iter, weight, dtype)
    return EigenvectorProblem(data, initial=distribution("initial", initial, data), **common).admitted_if_checked()
