"""Tests of networkx that expect one of several right answers, and the reason why ours is another."""

from __future__ import annotations

_CYCLES = "::TestMinimumCycleBasis::"  # node ids of one file alone lack its name
_PATH = "bidirectional_dijkstra returns another of several shortest paths, so a cycle begins at another node"

TIES: dict[str, str] = {
    f"{_CYCLES}test_weighted_diamond": _PATH,
    f"{_CYCLES}test_gh6787_and_edge_attribute_names": _PATH,
}
