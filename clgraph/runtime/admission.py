"""What is done with a graph before a kernel of an algorithm reads it: it is checked and measured."""
from __future__ import annotations

import weakref
from functools import partial
from typing import Any

from numpy.typing import NDArray

from clgraph.data.entries import EntryFacts
from clgraph.data.graph import Graph
from clgraph.data.wrapped import WrappedGraph
from clgraph.errors import GraphError
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.check_csr import CsrCheck
from clgraph.runtime.device_graph import DeviceGraph, device_graph, is_small
from clgraph.runtime.graph_stats import StatsRun
from clgraph.runtime.session import Session


def admit(session: Session, graph: Graph) -> None:
    """Make sure that nothing unchecked is in *graph*, and that its statistics are known if it is large.

    A matrix that was only wrapped is checked by kernels, which measure it, too; on a CPU they read it in place. What is
    small the host checks and measures in less time than launches take.

    Raises
    ------
    GraphError
        The arrays of a matrix do not describe a graph; the message names value, position and limit.
    """
    if is_small(graph):
        if isinstance(graph, WrappedGraph):
            graph.check()
    elif isinstance(graph, WrappedGraph) and not graph.is_checked:
        _admit_wrapped(session, graph)
    else:
        _ = device_graph(session, graph).stats


def _admit_wrapped(session: Session, graph: WrappedGraph) -> None:
    last = graph.arrays[1] if graph.arrays[2] is None else graph.arrays[2]
    is_checked_on_its_way = session.staging_for(last.nbytes) is not None

    def array(host: NDArray[Any]) -> DeviceArray:
        later = host is last and is_checked_on_its_way
        return session.empty(host.size, host.dtype) if later else session.upload(host, in_place=True)

    offsets, columns = map(array, graph.arrays[:2])
    weights = None if graph.arrays[2] is None else array(graph.arrays[2])
    rows = {"row_offsets": offsets, "column_indices": columns}
    leaves_open = graph.along_rows and session.facts.is_cpu  # where kernels compute no slower than they read
    check = CsrCheck(
        session, graph.n_vertices, offsets, columns, weights, wants_order=graph.merged, wants_symmetry=not leaves_open
    )
    if is_checked_on_its_way:
        (columns if weights is None else weights).set(last, then=check.run)
    else:
        check.run()
    stats = StatsRun(session, graph.n_vertices, graph.n_edges, rows, check.state)
    *checked, measured = session.read(*check.parts, stats.part)
    try:
        _, found = check.read(checked)
    except GraphError:
        graph.check()  # names what is wrong as it is called in a matrix
        raise
    if graph.must_merge(found):
        graph.merge()
        _admit_wrapped(session, graph)
        return
    directed, is_sorted = not found.is_symmetric, found.has_sorted_rows
    graph.admit(
        found, stats.read(measured, directed=directed, weighted=weights is not None, has_sorted_rows=is_sorted),
        partial(_all_facts, session, graph.n_vertices, offsets, columns, weights) if leaves_open else None,
    )
    session.device_graphs[graph] = DeviceGraph(
        session, offsets, columns, weights, directed=directed, has_sorted_rows=is_sorted, _source=weakref.ref(graph)
    )


def _all_facts(session: Session, n: int, *arrays: Any) -> EntryFacts:
    """Find out order and symmetry, too, of arrays that have been checked."""
    return CsrCheck(session, n, *arrays, wants_symmetry=True).run().read()[1]
