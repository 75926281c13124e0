"""The check of a graph and its statistics, which are needed before an algorithm's kernels read the graph."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.entries import EntryFacts
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.wrapped import WrappedGraph
from clgraph.errors import GraphError
from clgraph.runtime.graphs.check_csr import CsrCheck
from clgraph.runtime.graphs.device_graph import DeviceGraph, device_graph
from clgraph.runtime.graphs.graph_stats import StatsRun
from clgraph.runtime.session import Session


def admit(session: Session, graph: Graph) -> None:
    """Check *graph* on the device if it is unchecked, and compute its statistics unless it is small.

    Kernels check a wrapped matrix and compute its statistics. On a CPU, the kernels read the matrix in place. The host
    checks and measures small graphs, because that takes less time than launches.

    Raises
    ------
    GraphError
        The arrays of a matrix do not describe a graph; the message names value, position and limit.
    """
    if graph.is_small:
        if isinstance(graph, WrappedGraph):
            graph.check()
    elif isinstance(graph, WrappedGraph) and not graph.is_checked:
        _admit_wrapped(session, graph)
    else:
        _ = device_graph(session, graph).stats


def _admit_wrapped(session: Session, graph: WrappedGraph) -> None:
    hosts = [np.ascontiguousarray(host) for host in graph.arrays if host is not None]
    # With staging, kernels check the last array of the graph during its upload.
    staging = session.memory.staging_for(hosts[-1].nbytes)
    made = [session.upload(a, in_place=True) if staging is None else session.empty(a.size, a.dtype) for a in hosts]
    offsets, columns, weights = made[0], made[1], made[2] if len(made) == 3 else None
    rows = {"row_offsets": offsets, "column_indices": columns}
    # On a CPU, the check of order and symmetry takes extra time, so it is postponed if the algorithm may not need it.
    leaves_open = graph.along_rows and session.facts.is_cpu
    check = CsrCheck(
        session, graph.n_vertices, offsets, columns, weights, wants_order=graph.merged, wants_symmetry=not leaves_open
    )
    if staging is None:
        check.run()
    else:
        size = hosts[-1].itemsize
        with session.driver:
            staging.upload_all(
                [(array.buffer, 0, host) for array, host in zip(made, hosts, strict=True)],
                lambda start, stop: check.run(start // size, stop // size),
            )
    missing = partial(_all_facts, session, graph.n_vertices, offsets, columns, weights) if leaves_open else None
    stats = StatsRun(session, graph.n_vertices, graph.n_edges, rows, check.state)
    *checked, words = session.read(*check.parts, stats.part)
    found = _found(graph, check, checked)
    if graph.must_merge(found):
        graph.merge()
        _admit_wrapped(session, graph)
        return
    directed, is_sorted = not found.is_symmetric, found.has_sorted_rows
    graph.admit(
        found,
        stats.read(words, directed=directed, weighted=weights is not None, has_sorted_rows=is_sorted),
        missing,
    )
    session.device_graphs[graph] = DeviceGraph(
        session, offsets, columns, weights, directed=directed, has_sorted_rows=is_sorted, _source=weakref.ref(graph)
    )


def _found(graph: WrappedGraph, check: CsrCheck, read: Sequence[NDArray[Any]]) -> EntryFacts:
    """Return the facts about the graph's entries that *check* has found.

    *read* are the values of ``check.parts``.
    """
    try:
        return check.read(read)[1]
    except GraphError:
        graph.check()  # This call raises an error that describes the user's own matrix.
        raise


def _all_facts(session: Session, n: int, *arrays: Any) -> EntryFacts:
    """Return all facts about the CSR entries of checked arrays, including order and symmetry."""
    return CsrCheck(session, n, *arrays, wants_symmetry=True).run().read()[1]
