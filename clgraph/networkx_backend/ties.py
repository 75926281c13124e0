"""Tests of networkx that accept only one of several right answers, and why the backend's answer differs."""

from __future__ import annotations

_CYCLES = "::TestMinimumCycleBasis::"  # The file name is left out, because pytest omits it when it runs only one file.
_PATH = "bidirectional_dijkstra returns another of several shortest paths, so a cycle begins at another node"

TIES: dict[str, str] = {
    f"{_CYCLES}test_weighted_diamond": _PATH,
    f"{_CYCLES}test_gh6787_and_edge_attribute_names": _PATH,
    "::test_random_seed": "maximal_independent_set returns another set, or another order of it, for a seed",
}
