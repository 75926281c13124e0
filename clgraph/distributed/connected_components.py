"""Connected components of a graph in chunks of edges.

Each worker builds a forest, and pairs of workers merge forests.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.connected_components.edge_lists import EdgeComponents, numbered
from clgraph.arguments import checked_count
from clgraph.data.graphs.csr import MAX_VERTICES
from clgraph.distributed.chunks import Chunk, all_segments, checked_chunks
from clgraph.distributed.fold import DistributedInfo, Part, folded
from clgraph.distributed.workers import as_client, on_device, own_address, worker_session

Parents = Part[NDArray[np.int32]]


class _Components(NamedTuple):
    n_components: int
    labels: NDArray[np.int32]


class DistributedComponents(_Components):
    """Result of :func:`connected_components`; unpacks as ``n_components, labels``.

    Attributes
    ----------
    n_components : int
    labels : int32 array, shape (n_vertices,)
        The number of each vertex's component; components are numbered by their smallest vertex.
    info : DistributedInfo
        The workers that took part, and the amount of data that they sent.
    """

    info: DistributedInfo


def connected_components(
    chunks: Iterable[Chunk], *, n_vertices: int | None = None, base: int = 0, client: Any = None
) -> DistributedComponents:
    """Find the connected components of the graph of all edges in *chunks*.

    Each worker links the edges of one chunk after the other into a forest on its device. Then pairs of workers merge
    their forests, in ``log2(workers)`` rounds. A message holds a 4-byte parent for each vertex.

    Parameters
    ----------
    chunks : sequence
        Chunks of edges, each of one of these forms. Weights are ignored.

        * ``(sources, targets)`` or ``(sources, targets, weights)``, or an array of shape (m, 2). Arrays go through the
          scheduler, which keeps them until the end.
        * The path of an ``.npz`` archive with arrays of these names, of a parquet file with these columns, or of a text
          file with one edge per line. It must exist on all workers.
        * A function that returns one of these on the worker, or a Dask future of one.
    n_vertices : int, optional
        By default, one more than the largest id.
    base : {0, 1}
        The id of the first vertex.
    client : distributed.Client, optional
        By default, the client that was created last.

    Returns
    -------
    DistributedComponents
        ``n_components`` and ``labels`` as in :func:`clgraph.connected_components`, and ``info``.

    Raises
    ------
    GraphError
        A chunk has another form, or an id is out of range; the message begins with the chunk's position.
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

    Notes
    -----
    The forest is built by the incremental union-find algorithm of [1]_.

    References
    ----------
    .. [1] L. Dhulipala, C. Hong, J. Shun. "ConnectIt: a framework for static and incremental parallel graph
       connectivity algorithms." VLDB 2020.
    """
    found, n, base = checked_arguments(chunks, n_vertices, base)
    last, info = folded(as_client(client), found, partial(absorb, n=n, base=base), merge, "connected components")
    result = DistributedComponents(*numbered(last.value))
    result.info = info
    return result


_NO_EDGES = (np.zeros(0, np.int32), np.zeros(0, np.int32))


def checked_arguments(chunks: Any, n_vertices: Any, base: Any) -> tuple[list[Chunk], int | None, int]:
    """Check the arguments that :func:`connected_components` and ``minimum_spanning_forest`` share, and return them."""
    n = None if n_vertices is None else checked_count("n_vertices", n_vertices, MAX_VERTICES, least=0)
    return checked_chunks(chunks) or [_NO_EDGES], n, checked_count("base", base, 1, least=0)


def absorb(known: Parents | None, places: list[int], *chunks: Chunk, n: int | None, base: int) -> Parents:
    """Return the union-find forest *known* with the edges of *chunks* added.

    *places* are the positions of these chunks.
    """
    known = known or Part(np.zeros(0, np.int32), 0, own_address(), 0)
    known, n_edges = known.received(), 0
    with on_device():
        session, size = worker_session(), known.value.size if n is None else n
        forest = EdgeComponents(session, size, known.value)
        for sources, targets, _ in all_segments(places, chunks, n=n, base=base):
            n_edges += sources.size
            if (most := 1 + int(max(sources.max(), targets.max()))) > size:
                size = most
                if size > forest.n_vertices:  # The allocated size at least doubles, so the forest is seldom copied.
                    room = min(MAX_VERTICES, max(size, 2 * forest.n_vertices))
                    forest = EdgeComponents(session, room, forest.parents())
            forest.link(sources, targets)
        parents = forest.parents()[:size]
    return known.grown(parents, parents.nbytes, n_edges)


def merge(one: Parents, other: Parents) -> Parents:
    """Merge two union-find forests: return the forest that connects the edges of both."""
    other = other.received()
    large, small = sorted((one.value, other.value), key=len, reverse=True)
    with on_device():
        forest = EdgeComponents(worker_session(), large.size, large)
        forest.link_forest(small)
        parents = forest.parents()
    return one.received().grown(parents, parents.nbytes, 0, other)
