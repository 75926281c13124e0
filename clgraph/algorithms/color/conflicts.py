"""Count the conflicts of a colouring, which are pairs of equal colours (``cl/color/conflicts.cl``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clgraph.algorithms.color.problem import columns_graph
from clgraph.arguments import checked_array, checked_count, checked_flag
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.primitives.types import power_of_two_at_most, tuned
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.session import Session, SessionLike, as_session

_SOURCE = "color/conflicts.cl"
_MAX_COLORS = 1 << 22  # If a colour has this number or a larger one, all colours are first renumbered without gaps.


def count_conflicts(
    graph: Any, colors: ArrayLike, *, distance: int = 1, bipartite: bool = False, session: SessionLike = None
) -> int:
    """Return the number of conflicts of a colouring, which is 0 if and only if the colouring is proper.

    At distance 1 the conflicts are the edges whose ends have the same colour. Every parallel edge counts, self-loops do
    not. At distance 2 conflicts are counted row by row. The closed row of a vertex is the *set* of the vertex and its
    neighbours. Its conflicts are its size minus its number of distinct colours: the number of members that would have
    to change. A pair of vertices with several common neighbours counts in each of their rows. :func:`hash_collisions`
    counts its totals in the same way, except that at distance 1 it counts both directions of an edge.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Undirected, or directed with the reverse of each entry. With *bipartite*, any matrix or graph.
    colors : array_like of any integer type, shape (n_vertices,)
        Colours may be any nonnegative numbers, not only 0 … n_colors - 1.
    distance : {1, 2}
    bipartite : bool
        Take *graph* as a matrix of any shape (m, n), and *colors*, shape (n,), as colours of its columns, as in
        :func:`color_columns`. A row's members are the columns in which it has entries. *distance* must be 2.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.

    Returns
    -------
    int
        The sum over all edges (distance 1) or rows (distance 2).

    Raises
    ------
    InputError
        *graph* is not a graph or not symmetric, or *colors* has a wrong length or type, or negative values.
    GraphError
        A scipy sparse array is invalid.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> star = cg.generators.star(4)
    >>> cg.count_conflicts(star, [0, 1, 1, 1]), cg.count_conflicts(star, [0, 1, 1, 1], distance=2)
    (0, 2)
    """
    distance, bipartite = checked_count("distance", distance, 2), checked_flag("bipartite", bipartite)
    if bipartite and distance == 1:
        raise InputError("distance=1 with bipartite=True; members of a matrix's rows are counted at distance 2")
    data, n = columns_graph(graph) if bipartite else (as_graph(graph), None)
    n, on = data.n_vertices if n is None else n, as_session(session, data)
    given = checked_array("colors", colors)
    if given.shape != (n,) or (given.size and given.dtype.kind not in "iu"):
        raise InputError(f"colors are {given.dtype} {given.shape}; needed: integers, ({n},)")
    if given.size and given.min() < 0:
        raise InputError(f"colors[{int(given.argmin())}] = {given.min()}; colours are at least 0")
    if not bipartite:
        data.require_reverses()
    if not data.n_edges:
        return 0
    if given.max() >= _MAX_COLORS:
        given = np.unique(given, return_inverse=True)[1]
    padded = np.zeros(data.n_vertices, np.int32)
    padded[:n] = given
    if distance == 2 and not data.has_sorted_rows:
        data = data.sorted_pattern()
    return _count(on, data, padded, distance, closed=not bipartite)


def _count(session: Session, graph: Graph, colors: NDArray[np.int32], distance: int, closed: bool) -> int:
    facts, n = session.facts, graph.n_vertices
    cpu, width = facts.is_cpu, facts.sub_group_size
    defaults = {
        "WG_SIZE": width if cpu else 256,
        "LONG_NET": 16 if cpu else 128,
        "GROUPS_PER_UNIT": 8,
        "TEAM": min(width, power_of_two_at_most(max(1, int(graph.stats.mean_degree)))),
    }
    sizes = tuned(session, _SOURCE, defaults)
    most_groups = sizes.pop("GROUPS_PER_UNIT") * facts.compute_units
    if not cpu:  # On a GPU, the local memory must hold two work-groups, so that both run at the same time.
        sizes["LONG_NET"] = min(sizes["LONG_NET"], facts.local_mem_bytes * sizes["TEAM"] // (8 * sizes["WG_SIZE"]))
    on_device = device_graph(session, graph)
    defines = {**on_device.defines(), "CLOSED": int(closed), "BITMAP_WORDS": min(8192, facts.local_mem_bytes // 8)}
    program = session.program(_SOURCE, {**sizes, **defines})
    total = session.zeros(2, np.uint32)
    scope = {**on_device.scope, "n": n, "colors": session.upload(colors), "total": total}
    kernel = "count_entries" if distance == 1 else "count_short_nets"
    program.bind(kernel, n * sizes["TEAM"], scope, max_groups=most_groups)()
    long_nets = np.flatnonzero(graph.degrees + closed > sizes["LONG_NET"]).astype(np.int32)
    if distance == 2 and long_nets.size:
        scope |= {"n_long": long_nets.size, "n_colors": int(colors.max()) + 1, "long_nets": session.upload(long_nets)}
        items = long_nets.size * program.work_group_size
        program.bind("count_long_nets", items, scope, max_groups=most_groups)()
    low, high = total.get().tolist()
    return int(low) + (int(high) << 32)
