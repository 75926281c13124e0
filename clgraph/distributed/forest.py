"""Minimum spanning forests of a graph whose edges are in chunks: what no forest of some edges has, no forest has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.connected_components.edge_lists import EdgeComponents
from clgraph.algorithms.minimum_spanning_forest.on_devices import forest_of_edges
from clgraph.algorithms.minimum_spanning_forest.plan import total_weight
from clgraph.arguments import checked_flag
from clgraph.data.graphs.graph import Graph
from clgraph.distributed.chunks import SEGMENT_EDGES, Chunk, Segment, Weights, all_segments
from clgraph.distributed.connected_components import checked_arguments
from clgraph.distributed.fold import DistributedInfo, Part, folded
from clgraph.distributed.workers import as_client, on_device, own_address, worker_session
from clgraph.errors import GraphError
from clgraph.runtime.session import Session

_BITS = 8
# What so many of the lightest edges of the forest connect rules out heavier edges.
_SHARES = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


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


class Forest(NamedTuple):
    """Edges of a forest, lesser ends first, in the order of sources and targets.

    As a message the sources are a bit for each edge and each vertex, and the targets as many bits as a vertex needs.
    """

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: Weights
    n_vertices: int
    waiting: tuple[Segment, ...] = ()  # edges that may be in the forest, too

    @property
    def edges(self) -> Segment:
        return self.sources, self.targets, self.weights

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays in a message."""
        n, m = self.n_vertices, self.sources.size
        n_bytes, n_planes = divmod(_target_bits(n), _BITS)
        arrays = [array for part in (*self.waiting, (self.weights,)) for array in part if array is not None]
        return -(-(n + m) // _BITS) + n_bytes * m + n_planes * -(-m // _BITS) + sum(array.nbytes for array in arrays)

    def __reduce__(self) -> Any:
        places = np.zeros(self.n_vertices + self.sources.size, bool)
        places[self.sources + np.arange(self.sources.size)] = True
        n_bytes, n_planes = divmod(_target_bits(self.n_vertices), _BITS)
        octets = np.ascontiguousarray(self.targets.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :n_bytes])
        planes = [np.packbits(self.targets >> (_BITS * n_bytes + k) & 1 > 0) for k in range(n_planes)]
        return _unpacked, (np.packbits(places), octets, planes, self.weights, self.n_vertices, self.waiting)


def _target_bits(n: int) -> int:
    return max(n - 1, 0).bit_length()


def _unpacked(
    places: NDArray[np.uint8],
    octets: NDArray[np.uint8],
    planes: list[NDArray[np.uint8]],
    weights: Weights,
    n: int,
    waiting: tuple[Segment, ...],
) -> Forest:
    m, n_bytes = octets.shape
    sources = (np.flatnonzero(np.unpackbits(places)) - np.arange(m)).astype(np.int32)
    words = np.zeros((m, 4), np.uint8)
    words[:, :n_bytes] = octets
    targets = words.reshape(-1).view("<i4").astype(np.int32)
    for k, plane in enumerate(planes):
        targets |= np.unpackbits(plane, count=m).astype(np.int32) << (_BITS * n_bytes + k)
    return Forest(sources, targets, weights, n, waiting)


class ForestFilter:
    """What the lightest edges of a forest connect; the forest has *n* vertices, and one edge at least.

    An edge is in no minimum spanning forest if lighter edges connect its ends; for a maximum one, heavier edges rule
    out lighter ones. The test is the filter step of [1]_, with components in place of the recursion, so that edges may
    come in any order.

    References
    ----------
    .. [1] V. Osipov, P. Sanders, J. Singler. "The filter-Kruskal minimum spanning tree algorithm." ALENEX 2009.
    """

    def __init__(self, session: Session, n: int, edges: Segment, *, maximum: bool) -> None:
        sources, targets, weights = edges
        assert weights is not None
        in_order = np.argsort(weights)[:: -1 if maximum else 1]
        sources, targets, weights = sources[in_order], targets[in_order], weights[in_order]
        ends = sorted({-int(-share * weights.size // 1) for share in _SHARES})
        self._maximum, self._limits = maximum, weights[[end - 1 for end in ends]]
        self._labels = np.empty((len(ends), n), np.int32)
        forest, start = EdgeComponents(session, n), 0
        for level, end in enumerate(ends):
            forest.link(sources[start:end], targets[start:end])
            self._labels[level], start = forest.parents(), end

    def rest(self, segment: Segment) -> Segment:
        """Return the edges of *segment* that may be in a forest; they have weights."""
        sources, targets, weights = segment
        assert weights is not None
        if self._maximum:
            levels = self._limits.size - 1 - np.searchsorted(self._limits[::-1], weights, "right")
        else:
            levels = np.searchsorted(self._limits, weights, "left") - 1
        tested = np.flatnonzero((levels >= 0) & (np.maximum(sources, targets) < self._labels.shape[1]))
        levels = levels[tested]
        ruled_out = self._labels[levels, sources[tested]] == self._labels[levels, targets[tested]]
        kept = np.ones(sources.size, bool)
        kept[tested[ruled_out]] = False
        return sources[kept], targets[kept], weights[kept]
