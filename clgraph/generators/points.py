"""Graph generators that draw random points in the unit square."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.arguments import Seed
from clgraph.data.graphs.geometric import SIDE, Ids, RandomGeometric
from clgraph.data.graphs.graph import Graph
from clgraph.generators.device import bits_of, check_keys, find_rows, graph_of_keys, launch, new_keys, without_edges
from clgraph.primitives.scan import exclusive_sum
from clgraph.primitives.sort import sort
from clgraph.runtime.session import Session, SessionLike, as_session


def random_geometric(
    n: int, degree: float = 14, seed: Seed = 0, *, ids: Ids = "spatial", session: SessionLike = None
) -> Graph:
    """Return the random geometric graph of *n* points in the unit square: points within a radius are joined.

    The radius is chosen so that a point far from the border has *degree* neighbours on average. *ids* numbers the
    points cell by cell along a space-filling curve ("spatial"), or at random ("random").
    """
    drawn = RandomGeometric(n, degree, seed, ids)
    return drawn.graph() if session is None else _random_geometric(as_session(session), drawn)


def _random_geometric(session: Session, drawn: RandomGeometric) -> Graph:
    n = drawn.n
    if n < 2:
        return without_edges(session, n)
    check_keys(session, int(n * min(n, drawn.degree)))
    points, ordered = (session.empty(n, np.uint64) for _ in range(2))
    cells, numbers = (session.empty(n, np.uint32) for _ in range(2))
    scope: dict[str, Any] = {"n": n, "cell": drawn.cell, "points": points}
    launch(session, "points", "draw_points", -(-n // 2), key=drawn.key, cells=cells, ids=numbers, **scope)
    in_order, ids = sort(session, cells, numbers, end_bit=2 * drawn.cell_bits)
    launch(session, "points", "order_points", n, n=n, ids=ids, points=points, ordered=ordered)
    cell_begin = session.empty((1 << 2 * drawn.cell_bits) + 1, np.int32)
    find_rows(session, in_order, cell_begin)
    defines = {"SPATIAL": int(drawn.ids == "spatial")}
    scope |= {"n_cells": -(-SIDE // drawn.cell), "limit": drawn.limit}
    scope |= {"points": ordered, "cell_begin": cell_begin, "ids": ids}
    degrees, begin = session.empty(n, np.uint32), session.empty(n + 1, np.int64)
    launch(session, "points", "count_near", n, defines, degrees=degrees, **scope)
    exclusive_sum(session, degrees, begin)
    if not (m := begin.item(n)):
        return without_edges(session, n)
    keys = new_keys(session, m)
    launch(session, "points", "list_near", n, defines, bits=bits_of(n), begin=begin, keys=keys, **scope)
    return graph_of_keys(session, n, keys, merged=False)
