"""Time every strategy of eigenvector centrality, and judge the pick of the cost model.

    benchmarks/bench_eigenvector_centrality.py --device pocl --graphs rmat-18 road-NY --json results.json

A row holds the fields that ``bench_pagerank.py`` says. Each result is checked against the definition.
"""

from __future__ import annotations

from bench_pagerank import benchmark_of
from graph_benchmark import main

from clgraph.algorithms.eigenvector_centrality import ALGORITHM

BENCHMARK = benchmark_of(ALGORITHM)

if __name__ == "__main__":
    main(BENCHMARK, __doc__)
