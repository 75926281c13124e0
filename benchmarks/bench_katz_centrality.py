"""Time every strategy of Katz centrality, and judge the pick of the cost model.

    benchmarks/bench_katz_centrality.py --device pocl --graphs rmat-18 road-NY --json results.json

A row holds the fields that ``bench_pagerank.py`` says. ``alpha`` is 1e-3. Each result is checked against
the definition.
"""

from __future__ import annotations

from bench_pagerank import benchmark_of
from graph_benchmark import main

from clgraph.algorithms.katz_centrality import ALGORITHM

BENCHMARK = benchmark_of(ALGORITHM, alpha=1e-3)

if __name__ == "__main__":
    main(BENCHMARK, __doc__)
