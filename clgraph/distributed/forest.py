"""Minimum spanning forests of a graph whose edges are in chunks: what no forest of some edges has, no forest has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.mst.on_devices import forest_of_edges
from clgraph.algorithms.mst.plan import total_weight
from clgraph.arguments import checked_flag
from clgraph.data.graph import Graph
from clgraph.distributed.chunks import SEGMENT_EDGES, Chunk, Segment, Weights, all_segments
from clgraph.distributed.components import checked_arguments
from clgraph.distributed.fold import DistributedInfo, Part, folded
from clgraph.distributed.forest_edges import Forest
from clgraph.distributed.forest_filter import ForestFilter
from clgraph.distributed.workers import as_client, on_device, own_address, worker_session
from clgraph.errors import GraphError


class _Forest(NamedTuple):
    weight: int | float
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: Weights


class DistributedForest(_Forest):
    """Result of :func:`minimum_spanning_forest`; unpacks as ``weight, sources, targets, weights``.

    Attributes
    ----------
    weight : int or float
        Total weight, the same as of one device.
    sources, targets : int32 array, shape (n_vertices - n_trees,)
        The lesser and the greater end of each edge, in their order.
    weights : array or None
        Weight of each edge; ``None`` for an unweighted graph.
    n_vertices : int
    info : DistributedInfo
        Who took part, and what was sent.
    """

    n_vertices: int
    info: DistributedInfo

    def to_graph(self) -> Graph:
        """Return the forest as an undirected graph of all vertices."""
        return Graph.from_edges(self.sources, self.targets, self.weights, n=self.n_vertices)


def minimum_spanning_forest(
    chunks: Iterable[Chunk], *, n_vertices: int | None = None, maximum: bool = False, base: int = 0, client: Any = None
) -> DistributedForest:
    """Find the minimum spanning forest of the graph of all edges in *chunks*.

    Each worker finds the forest of what it has and the next segments of chunks; an edge outside it is in no forest of
    more edges [1]_. Of later segments it drops the edges whose ends lighter edges of the forest connect. Then pairs of
    workers merge their forests, so that a result passes ``log2(workers)`` others.

    Parameters
    ----------
    chunks : sequence
        As for :func:`connected_components`; all have weights, or none has, and every edge weighs 1.
    n_vertices : int, optional
        By default one more than the largest id.
    maximum : bool
        Find the maximum spanning forest.
    base : {0, 1}
        The id of the first vertex.
    client : distributed.Client, optional
        By default the one that was made last.

    Returns
    -------
    DistributedForest
        ``weight, sources, targets, weights``, and ``info``. Of edges that weigh the same the one of lesser ends wins,
        so the forest is that of :func:`clgraph.minimum_spanning_forest`, however the edges are cut.

    Raises
    ------
    GraphError
        A chunk is none, has an id out of range, or has weights where others have none.
    GraphFileError
        A file cannot be read.
    ClusterError
        There is no client, no worker, or one with other packages.
    NoDeviceError
        A worker has no device.

    Warns
    -----
    DeviceDroppedWarning
        A worker was lost before it described its device; the others do its part.

    References
    ----------
    .. [1] R. E. Tarjan. "Data Structures and Network Algorithms." SIAM, 1983, chapter 6.
    """
    found, n, base = checked_arguments(chunks, n_vertices, base)
    options: dict[str, Any] = {"n": n, "base": base, "maximum": checked_flag("maximum", maximum)}
    last, info = folded(
        as_client(client),
        found,
        partial(absorb, **options),
        partial(merge, maximum=maximum),
        "minimum spanning forest",
        finish=partial(finish, maximum=maximum),
    )
    forest = last.value
    weight = forest.sources.size if forest.weights is None else total_weight(forest.weights)
    result = DistributedForest(weight, *forest[:3])
    result.n_vertices, result.info = forest.n_vertices, info
    return result


def absorb(
    known: Part[Forest] | None, places: list[int], *chunks: Chunk, n: int | None, base: int, maximum: bool
) -> Part[Forest]:
    """Return what is *known* with the edges of *chunks*, which have these places; some may still wait."""
    none = np.zeros(0, np.int32)
    known = known or Part(Forest(none, none, None, n or 0), 0, own_address(), 0)
    known, n_edges = known.received(), 0
    forest, sieve, waiting, size = known.value, known.aside, [*known.value.waiting], known.value.n_vertices
    with on_device():
        for segment in all_segments(places, chunks, n=n, base=base):
            size = max(size, 1 + int(max(segment[0].max(), segment[1].max())))
            # Else nearly all that was seen is in the forest, and few edges would be ruled out.
            rules_out = 0 < 2 * forest.sources.size <= known.n_edges + n_edges
            n_edges += segment[0].size
            if rules_out and segment[2] is not None and forest.weights is not None:
                sieve = sieve or ForestFilter(worker_session(), size, forest.edges, maximum=maximum)
                segment = sieve.rest(segment)
            waiting.append(segment)
            # A forest is looked at again only with as many new edges, so all of that takes no longer than the edges.
            if sum(part[0].size for part in waiting) >= max(SEGMENT_EDGES, forest.sources.size):
                forest, sieve, waiting = lightest(size, maximum, forest.edges, *waiting), None, []
    forest = forest._replace(n_vertices=size, waiting=tuple(waiting))
    return replace(known.grown(forest, forest.nbytes, n_edges), aside=sieve)


def finish(part: Part[Forest], *, maximum: bool) -> Part[Forest]:
    """Return *part* when no edges wait in it."""
    if not part.value.waiting:
        return replace(part, aside=None)
    part = part.received()
    with on_device():
        forest = lightest(part.value.n_vertices, maximum, part.value.edges, *part.value.waiting)
    return part.grown(forest, forest.nbytes, 0)


def merge(one: Part[Forest], other: Part[Forest], *, maximum: bool) -> Part[Forest]:
    """Return the forest of two."""
    one, other = one.received(), other.received()
    size = max(one.value.n_vertices, other.value.n_vertices)
    with on_device():
        forest = lightest(size, maximum, one.value.edges, other.value.edges)
    return one.grown(forest, forest.nbytes, 0, other)


def lightest(n: int, maximum: bool, *parts: Segment) -> Forest:
    """Return the forest of all edges in *parts*."""
    parts = tuple(part for part in parts if part[0].size)
    if len({part[2] is None for part in parts}) > 1:
        raise GraphError("some edges have weights, and others have none")
    if not parts:
        return Forest(np.zeros(0, np.int32), np.zeros(0, np.int32), None, n)
    sources, targets = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    given = [part[2] for part in parts if part[2] is not None]
    weights = np.concatenate(given) if given else None
    session = worker_session()
    found = forest_of_edges(session, n, (sources, targets, weights), maximum=maximum)
    session.release()  # the pool keeps memory for arrays of the same size, and the next lists are longer
    return Forest(*found, n)
