"""Time every strategy of breadth-first search, and what the cost model picks.

    benchmarks/bench_bfs.py --device pocl --graphs rmat-18 road-FLA --scipy --json results.json
    benchmarks/bench_bfs.py --reference results.json     # measure nothing; check rows of another machine

What a row holds, ``searches.py`` says.
"""
from __future__ import annotations

import inputs
import searches
from scipy.sparse.csgraph import breadth_first_order

from clgraph.algorithms.bfs import STRATEGIES, choose_strategy
from clgraph.reference.bfs import bfs_distances, check_bfs

SEARCH = searches.Search(
    "bfs", STRATEGIES, choose_strategy, inputs.load, lambda plan: plan.result(), check_bfs, bfs_distances,
    breadth_first_order, lambda source, found: {"source": source, "reached": found[0].size},
)  # fmt: skip

if __name__ == "__main__":
    searches.main(SEARCH, str(__doc__).partition("\n")[0])
