"""Functions with the signatures of other packages, so that a program changes only where it imports from."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clgraph.algorithms.partition import partition
from clgraph.arguments import checked_array, refusing
from clgraph.data.graph import Graph
from clgraph.errors import InputError
from clgraph.runtime.session import SessionLike

_UFACTOR = 30  # METIS's for direct k-way partitions: thousandths by which a part may be too heavy


class GraphPartition(NamedTuple):
    """Result of :func:`part_graph`, as pymetis returns it."""

    edge_cuts: int
    vertex_part: list[int]


def part_graph(
    nparts: int, adjacency: Any = None, xadj: Any = None, adjncy: Any = None, *, vweights: Any = None,
    eweights: Any = None, tpwgts: Sequence[float] | None = None, recursive: bool | None = None,
    contiguous: bool | None = None, options: Any = None, warn_on_copies: bool = False, session: SessionLike = None,
) -> GraphPartition:
    """Divide a graph as ``pymetis.part_graph`` does, by :func:`clgraph.partition`.

    Parameters
    ----------
    nparts : int
    adjacency : sequence of sequences of int, or an object with ``adj_starts`` and ``adjacent``, optional
        The neighbours of each vertex.
    xadj, adjncy : int arrays, optional
        The same as CSR, in place of *adjacency*.
    vweights, eweights : int arrays, optional
    tpwgts : float array, shape (nparts,), optional
    recursive, warn_on_copies : bool, optional
        They make no difference here.
    contiguous : bool, optional
        Only false is allowed.
    options : pymetis.Options, optional
        Its ``seed`` and ``ufactor`` are heeded.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run.

    Returns
    -------
    GraphPartition
        ``edge_cuts``, and the list ``vertex_part``.

    Raises
    ------
    InputError
        The graph is given twice or not at all, is not symmetric, or contiguous parts are asked for.

    Examples
    --------
    >>> from clgraph.compat import part_graph
    >>> edge_cuts, vertex_part = part_graph(2, adjacency=[[1], [0, 2], [1, 3], [2]])
    >>> edge_cuts, sorted(vertex_part)
    (1, [0, 0, 1, 1])
    """
    del recursive, warn_on_copies
    if contiguous:
        raise InputError("contiguous=True; parts may be in several pieces here")
    if (adjacency is None) == (xadj is None) or (xadj is None) != (adjncy is None):
        raise InputError("the graph is either adjacency, or xadj and adjncy")
    if adjacency is not None and hasattr(adjacency, "adj_starts"):
        xadj, adjncy = adjacency.adj_starts, adjacency.adjacent
    elif adjacency is not None:
        with refusing("adjacency", adjacency, "the neighbours of each vertex"):
            rows = [np.fromiter(row, np.int64) for row in adjacency]
        xadj = np.append(0, np.cumsum([row.size for row in rows], dtype=np.int64))
        adjncy = np.concatenate([np.empty(0, np.int64), *rows])
    weights = None if eweights is None else checked_array("eweights", eweights)
    graph = Graph(checked_array("xadj", xadj), checked_array("adjncy", adjncy), weights, directed=True)
    seed, ufactor = getattr(options, "seed", -1), getattr(options, "ufactor", -1)
    result = partition(
        graph, nparts, imbalance=(ufactor if ufactor > 0 else _UFACTOR) / 1000, vertex_weights=vweights,
        target_weights=tpwgts, seed=max(0, seed), session=session,
    )
    return GraphPartition(result.edge_cut, result.parts.tolist())
