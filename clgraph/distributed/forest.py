"""Minimum spanning forests of a graph that is given in chunks of edges, on Dask workers.

An edge that is not in the minimum spanning forest of some of the edges is not in the forest of all edges, so each
worker can drop it.
"""

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

_BITS = 8  # Number of bits in a byte of a packed bitmap.
# Shares of a forest's lightest edges. The components that each share connects are used to rule out heavier edges.
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
        Total weight, the same as on one device.
    sources, targets : int32 array, shape (n_vertices - n_trees,)
        The lesser and the greater end of each edge, sorted.
    weights : array or None
        Weight of each edge; ``None`` for an unweighted graph.
    n_vertices : int
    info : DistributedInfo
        The workers that took part, and the amount of data that they sent.
    """

    n_vertices: int
    info: DistributedInfo

    def to_graph(self) -> Graph:
        """Return the spanning forest as an undirected graph that has all vertices."""
        return Graph.from_edges(self.sources, self.targets, self.weights, n=self.n_vertices)


def minimum_spanning_forest(
    chunks: Iterable[Chunk], *, n_vertices: int | None = None, maximum: bool = False, base: int = 0, client: Any = None
) -> DistributedForest:
    """Find the minimum spanning forest of the graph of all edges in *chunks*.

    Each worker repeatedly computes the forest of its previous forest and the next segments of chunks. Edges outside
    this forest are not in the forest of all edges [1]_. From later segments, it drops edges whose ends are connected by
    lighter edges of the forest. Then pairs of workers merge their forests, in ``log2(workers)`` rounds.

    Parameters
    ----------
    chunks : sequence
        As in :func:`connected_components`. Either all chunks have weights or none has; then every edge weighs 1.
    n_vertices : int, optional
        By default, one more than the largest id.
    maximum : bool
        Whether to find the maximum spanning forest instead.
    base : {0, 1}
        The id of the first vertex.
    client : distributed.Client, optional
        By default, the client that was created last.

    Returns
    -------
    DistributedForest
        ``weight, sources, targets, weights``, and ``info``. Among edges of equal weight, the one with the lesser ends
        is preferred. So the forest is the same as in :func:`clgraph.minimum_spanning_forest`, for any chunks.

    Raises
    ------
    GraphError
        A chunk has another form, an id is out of range, or some chunks have weights and others have none.
    GraphFileError
        A file cannot be read.
    ClusterError
        There is no client, there is no worker, or a worker has other versions of packages.
    NoDeviceError
        A worker has no device.

    Warns
    -----
    DeviceDroppedWarning
        A worker was lost before it described its device; the other workers take over its part.

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
    """Return the part *known* of the spanning forest with the edges of *chunks* added.

    *places* are the chunks' positions.

    The last edges may stay in ``waiting`` until more edges have come.
    """
    none = np.zeros(0, np.int32)
    known = known or Part(Forest(none, none, None, n or 0), 0, own_address(), 0)
    known, n_edges = known.received(), 0
    forest, sieve, waiting, size = known.value, known.aside, [*known.value.waiting], known.value.n_vertices
    with on_device():
        for segment in all_segments(places, chunks, n=n, base=base):
            size = max(size, 1 + int(max(segment[0].max(), segment[1].max())))
            # Edges are filtered only if the forest has at most half of the edges seen so far. Else few are dropped.
            rules_out = 0 < 2 * forest.sources.size <= known.n_edges + n_edges
            n_edges += segment[0].size
            if rules_out and segment[2] is not None and forest.weights is not None:
                sieve = sieve or ForestFilter(worker_session(), size, forest.edges, maximum=maximum)
                segment = sieve.rest(segment)
            waiting.append(segment)
            # Edges wait until they outnumber the edges of the forest, because each merge reads the whole forest again.
            if sum(part[0].size for part in waiting) >= max(SEGMENT_EDGES, forest.sources.size):
                forest, sieve, waiting = lightest(size, maximum, forest.edges, *waiting), None, []
    forest = forest._replace(n_vertices=size, waiting=tuple(waiting))
    return replace(known.grown(forest, forest.nbytes, n_edges), aside=sieve)


def finish(part: Part[Forest], *, maximum: bool) -> Part[Forest]:
    """Return *part* after its waiting edges were merged into its spanning forest."""
    if not part.value.waiting:
        return replace(part, aside=None)
    part = part.received()
    with on_device():
        forest = lightest(part.value.n_vertices, maximum, part.value.edges, *part.value.waiting)
    return part.grown(forest, forest.nbytes, 0)


def merge(one: Part[Forest], other: Part[Forest], *, maximum: bool) -> Part[Forest]:
    """Merge two parts of a graph: return the minimum (or maximum) spanning forest of the edges of both parts."""
    one, other = one.received(), other.received()
    size = max(one.value.n_vertices, other.value.n_vertices)
    with on_device():
        forest = lightest(size, maximum, one.value.edges, other.value.edges)
    return one.grown(forest, forest.nbytes, 0, other)


def lightest(n: int, maximum: bool, *parts: Segment) -> Forest:
    """Return the minimum spanning forest of all edges in *parts*, or the maximum one if *maximum* is true."""
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
    # The pooled arrays are freed, because the next lists of edges are longer and cannot reuse these arrays.
    session.release()
    return Forest(*found, n)


class Forest(NamedTuple):
    """The edges of a spanning forest.

    An edge's lesser end is its source, and edges are sorted by source, then target.

    In a message, the sources take a bit per edge and a bit per vertex, and each target takes only the bits that a
    vertex number needs.
    """

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: Weights
    n_vertices: int
    waiting: tuple[Segment, ...] = ()  # Edges that have not been merged into the forest yet.

    @property
    def edges(self) -> Segment:
        return self.sources, self.targets, self.weights

    @property
    def nbytes(self) -> int:
        """Size in bytes of the arrays in a message that sends this spanning forest."""
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
    """A filter for a spanning forest, which drops edges whose ends are connected by lighter edges of the forest.

    Such an edge is not in the minimum spanning forest; for a maximum one, heavier edges rule out lighter ones. The test
    is the filter step of [1]_, with components instead of the recursion, so edges may come in any order. The forest
    has *n* vertices and at least one edge.

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
        """Return the edges of *segment*, which have weights, without those
        edges that cannot be in the spanning forest.
        """
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
