"""Make the classes of a colouring more equal in size; ``cl/color/balance.cl`` explains the algorithm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.primitives.fill import Iota
from clgraph.primitives.sort import Sort
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.session import Session

# A launch of a single sub-group processes at most this number of vertices, which bounds the time of the launch.
_ALONE_VERTICES = 1 << 14
_GROUPS_PER_UNIT = 32  # Greatest number of work-groups per compute unit in the kernels that balance classes of colours.


def balance_classes(
    session: Session, graph: Graph, colors: NDArray[np.int32], *, distance: int, deterministic: bool
) -> NDArray[np.int32]:
    """Return a proper colouring of *graph* with the same number of colours and more equal class sizes.

    Vertices of classes above the mean size move to smaller classes, as far as their neighbours allow.

    Parameters
    ----------
    colors : int32 array, shape (n_vertices,)
        A proper colouring at *distance*.
    deterministic : bool
        Move the vertices one after the other, by a single sub-group.
    """
    n, class_sizes = graph.n_vertices, np.bincount(colors).astype(np.uint32)
    n_colors = class_sizes.size
    if n_colors < 2:
        return colors
    cap = -(-n // n_colors)
    on_device = device_graph(session, graph)
    width = session.facts.sub_group_size
    defines, group = {**on_device.defines(), "DISTANCE": distance}, width if deterministic else None
    program = session.program("color/balance.cl", defines, work_group_size=group)
    sizes = session.empty(n_colors, np.uint32)
    keys, keys_in_order, vertices, order = (session.empty(n, np.int32) for _ in range(4))
    keys.set(colors)
    sizes.set(class_sizes)
    Iota(session, vertices).run()
    Sort(session, keys, keys_in_order, vertices, order).run_checked()
    scope = {
        **on_device.scope, "first": 0, "last": 0, "giver": 0, "cap": cap, "n_colors": n_colors,
        "list": order, "sizes": sizes, "colors": keys,
    }  # fmt: skip
    move = program.bind("move_class", 1, scope)
    per_group = program.work_group_size // width
    ends = np.cumsum(class_sizes, dtype=np.int64)
    for c in np.flatnonzero(class_sizes > cap).tolist():
        first, last = int(ends[c] - class_sizes[c]), int(ends[c])
        for start in range(first, last, _ALONE_VERTICES if deterministic else n):
            stop = min(last, start + _ALONE_VERTICES) if deterministic else last
            move.set(first=start, last=stop, giver=c)
            groups = min(_GROUPS_PER_UNIT * session.facts.compute_units, -(-(stop - start) // per_group))
            move(1 if deterministic else groups)
    return keys.get()
