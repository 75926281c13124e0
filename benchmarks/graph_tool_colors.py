"""Serve timed colourings by graph-tool to ``bench_color_peers.py``, in a Python that has graph-tool.

``graph_tool_colors.py FILE`` reads a graph: int64 numbers of vertices and entries, int64 row offsets, int32 columns.
Then each line of stdin is a number of calls of ``sequential_vertex_coloring``. The answer is the least time of these
calls and the number of colours.
"""

from __future__ import annotations

import sys
import time

import graph_tool
import numpy as np
from graph_tool.topology import sequential_vertex_coloring


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        n, m = (int(size) for size in np.fromfile(file, np.int64, 2))
        offsets, columns = np.fromfile(file, np.int64, n + 1), np.fromfile(file, np.int32, m)
    rows = np.repeat(np.arange(n), np.diff(offsets))
    graph = graph_tool.Graph(directed=False)
    graph.add_vertex(n)
    graph.add_edge_list(np.column_stack([rows, columns])[rows < columns])
    for line in sys.stdin:
        best, n_colors = float("inf"), 0
        for _ in range(int(line)):
            started = time.perf_counter()
            colors = sequential_vertex_coloring(graph)
            best = min(best, time.perf_counter() - started)
            n_colors = int(colors.a.max(initial=-1)) + 1
        print(best, n_colors, flush=True)


if __name__ == "__main__":
    main()
