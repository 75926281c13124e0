"""What a process holds after many calls."""

from __future__ import annotations

from conftest import run_python

CHILD = """
from first_answer import resident_bytes
from clgraph import bfs, connected_components, generators, minimum_spanning_forest
from clgraph.data.graph import Graph
from clgraph.runtime.session import Session

session = Session("pocl")
first = generators.random_weights(generators.grid(150, 150), seed=1)
for i in range(40):
    if i == 10:
        before = resident_bytes("VmRSS")
    graph = Graph(first.row_offsets, first.column_indices, first.edge_weights)
    given = graph if i % 2 else graph.to_scipy()
    connected_components(given, strategy="rem", session=session)
    bfs(given, i, strategy="frontier", session=session)
    minimum_spanning_forest(given, strategy="edge_list", session=session)
print((resident_bytes("VmRSS") - before) / first.nbytes)
"""


def test_a_process_does_not_grow_with_the_graphs_that_it_has_solved() -> None:
    found = run_python(CHILD)
    assert found.returncode == 0, found.stderr
    assert float(found.stdout) < 5  # of the thirty graphs
