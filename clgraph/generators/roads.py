"""Graphs like road networks."""

from __future__ import annotations

import numpy as np

from clgraph.arguments import Seed
from clgraph.data.generators import RoadLike
from clgraph.data.graph import Graph
from clgraph.generators.device import born, empty_rows, launch, without_edges
from clgraph.primitives.scan import exclusive_sum
from clgraph.primitives.sort import sort
from clgraph.primitives.types import c_type
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session, SessionLike, as_session


def road_like(n: int, seed: Seed = 0, *, session: SessionLike = None) -> Graph:
    """Return a connected graph shaped like a road network: mean degree 2.4, diameter near ``2 sqrt(n)``.

    Crossings form a grid in which each is joined to its left or its upper neighbour at random (a
    spanning tree) and in three cases of ten to the other as well; the rest of the *n* vertices
    subdivide random roads. Ids run row by row, so that neighbours are near, as in road files.
    """
    drawn = RoadLike(n, seed)
    return drawn.graph() if session is None else _road_like(as_session(session), drawn)


def _road_like(session: Session, drawn: RoadLike) -> Graph:
    n, n_crossings, width = drawn.n, drawn.n_crossings, drawn.width
    if n < 2:
        return without_edges(session, n)
    n_bends, (key0, key1) = n - n_crossings, drawn.key
    key = {"key0": key0, "key1": key1}
    n_roads, roads = session.empty(n_crossings, np.uint32), session.empty(n_crossings, np.uint8)
    first_road = session.empty(n_crossings + 1, np.uint32)
    scope = {"n_crossings": n_crossings, "width": width, "roads": roads}
    launch(
        session,
        "roads",
        "choose_roads",
        -(-n_crossings // 16),
        left=drawn.left,
        upper=drawn.upper,
        n_roads=n_roads,
        **key,
        **scope,
    )
    exclusive_sum(session, n_roads, first_road)
    total = first_road.item(n_crossings)
    scope |= {"first_road": first_road, "bends_before": _bends_before(session, n_bends, total, key)}
    rows = empty_rows(session, n, 2 * (total + n_bends))
    degrees = session.empty(n, np.uint32)
    launch(session, "roads", "count_neighbors", n_crossings, degrees=degrees, **scope)
    exclusive_sum(session, degrees, rows["row_offsets"])
    defines = {"OFFSET_T": c_type(rows["row_offsets"].dtype)}
    launch(session, "roads", "write_neighbors", n_crossings, defines, **scope, **rows)
    return born(session, **rows)


def _bends_before(session: Session, n_bends: int, n_roads: int, key: dict[str, int]) -> DeviceArray:
    """Return how many bends there are on the roads before each."""
    drawn = session.empty(n_bends, np.uint32)
    launch(session, "roads", "draw_bends", -(-n_bends // 4), n_bends=n_bends, n_roads=n_roads, bends=drawn, **key)
    in_order, _ = sort(session, drawn, end_bit=n_roads.bit_length())
    before = session.empty(n_roads + 1, np.int32)
    launch(
        session,
        "rows",
        "find_rows",
        n_roads + 1,
        {"KEY_T": "uint"},
        n_rows=n_roads,
        count=n_bends,
        shift=0,
        keys=in_order,
        row_offsets=before,
    )
    return before
