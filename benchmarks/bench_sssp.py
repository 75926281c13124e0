"""Time every strategy of shortest paths, and what the cost model picks.

    benchmarks/bench_sssp.py --device pocl --graphs rmat-18 road-FLA --scipy --json results.json
    benchmarks/bench_sssp.py --reference results.json     # measure nothing; check rows of another machine

Weights are int32, 1 … 1024, hashed from the edge. What a row holds, ``searches.py`` says.
"""
from __future__ import annotations

from functools import partial
from typing import Any

import inputs
import numpy as np
import searches
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra

from clgraph.algorithms.sssp import STRATEGIES, choose_strategy
from clgraph.reference.sssp import check_sssp, dijkstra


def _scipy(matrix: csr_array, source: int) -> NDArray[Any]:
    distances: NDArray[Any] = scipy_dijkstra(matrix, indices=source)
    return distances


def _describe(source: int, found: NDArray[Any]) -> dict[str, Any]:
    return searches.fingerprint(source, np.where(found < np.inf, found, -1).astype(np.int64))


SEARCH = searches.Search(
    "sssp", STRATEGIES, choose_strategy, partial(inputs.weighted, high=1024, directed=True),
    lambda plan: (plan.result(),), check_sssp, dijkstra, _scipy, _describe,
)  # fmt: skip

if __name__ == "__main__":
    searches.main(SEARCH, str(__doc__).partition("\n")[0])
