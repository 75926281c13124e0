"""A generator of graphs that resemble road networks."""

from __future__ import annotations

import numpy as np

from clgraph.arguments import Seed, checked_count, checked_seed
from clgraph.data.graphs.csr import MAX_VERTICES
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.pairs import BYTES_PER_VERTEX
from clgraph.data.graphs.philox import below, key_of, random_shorts, random_words
from clgraph.generators.device import born, empty_rows, find_rows, launch, without_edges
from clgraph.host_memory import check_host_memory
from clgraph.primitives.scan import exclusive_sum
from clgraph.primitives.sort import sort
from clgraph.primitives.types import c_type
from clgraph.progress import begin
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session, SessionLike, as_session


def road_like(n: int, seed: Seed = 0, *, session: SessionLike = None) -> Graph:
    """Return a connected graph shaped like a road network: mean degree 2.4, diameter near ``2 sqrt(n)``.

    Two thirds of the vertices are crossings on a grid. Each crossing is joined to its left or its upper neighbour
    at random, which gives a spanning tree, and with probability 0.3 to the other one as well. The remaining vertices
    subdivide random roads. Vertices are numbered row by row, so neighbours have near numbers, as in road files.
    """
    drawn = _RoadLike(n, seed)
    return drawn.on_host() if session is None else drawn.on_device(as_session(session))


class _RoadLike:
    """The random choices of a road-like graph, whose crossings are on a grid of *width* columns.

    Stream 0 has a random number of 16 bits for each crossing. The crossing has a road to the left if the number is
    below *left*, and a road upward if it is at least *upper*. A crossing in the first column or row has only one of
    these neighbours, and always a road to it. Roads are numbered by crossing, the left one first. Stream 1 has a word
    for each of the other vertices, which chooses the road that the vertex subdivides. Such a vertex is called a bend.
    """

    left, upper = round(0.65 * 2**16), round(0.35 * 2**16)

    def __init__(self, n: int, seed: Seed) -> None:
        self.n = checked_count("n", n, MAX_VERTICES, least=0)
        self.key = key_of(checked_seed(seed))
        self.n_crossings = self.n if self.n < 8 else round(self.n / 1.5)
        self.width = max(1, round(self.n_crossings**0.5))

    def on_host(self) -> Graph:
        check_host_memory(f"n = {self.n}", BYTES_PER_VERTEX * self.n)
        tell = begin("generating roads", self.n, "vertices")
        crossing = np.arange(self.n_crossings, dtype=np.int32)
        draw = random_shorts(self.key, 0, 0, self.n_crossings)
        has_left, has_upper = crossing % self.width > 0, crossing >= self.width
        left = has_left & (~has_upper | (draw < self.left))
        upper = has_upper & (~has_left | (draw >= self.upper))
        near = np.repeat(crossing, left.astype(np.int8) + upper)
        first_road = np.searchsorted(near, crossing)
        leads_left = np.zeros(near.size, bool)
        leads_left[first_road[left]] = True
        far = near - np.where(leads_left, 1, self.width).astype(np.int32)
        at = below(random_words(self.key, 1, 0, self.n - self.n_crossings), near.size)
        bends = np.bincount(at.astype(np.int64), minlength=near.size)
        before = np.append(0, np.cumsum(bends))  # Item k is the number of bends of all roads before road k.
        tell(self.n_crossings)
        # The bends on a crossing's roads get the vertex numbers directly after the crossing's number.
        number = crossing + before[first_road]
        first, bent = near + 1 + before[:-1], bends > 0
        last = (first + bends - 1)[bent]
        inner = np.ones(self.n, bool)  # True for each vertex whose successor along the road has the next number.
        inner[number] = inner[last] = False
        along = np.flatnonzero(inner)
        src = np.concatenate([number[far], last, along])
        dst = np.concatenate([np.where(bent, first, number[near]), number[near][bent], along + 1])
        tell(self.n)
        return Graph.from_edges(src, dst, n=self.n)

    def on_device(self, session: Session) -> Graph:
        n, n_crossings = self.n, self.n_crossings
        if n < 2:
            return without_edges(session, n)
        n_bends = n - n_crossings
        n_roads, roads = session.empty(n_crossings, np.uint32), session.empty(n_crossings, np.uint8)
        first_road = session.empty(n_crossings + 1, np.uint32)
        scope = {"n_crossings": n_crossings, "width": self.width, "roads": roads}
        limits = {"left": self.left, "upper": self.upper}
        n_items = -(-n_crossings // 16)
        launch(session, "roads", "choose_roads", n_items, key=self.key, n_roads=n_roads, **limits, **scope)
        exclusive_sum(session, n_roads, first_road)
        total = first_road.item(n_crossings)
        scope |= {"first_road": first_road, "bends_before": self._bends_before(session, n_bends, total)}
        rows = empty_rows(session, n, 2 * (total + n_bends))
        degrees = session.empty(n, np.uint32)
        launch(session, "roads", "count_neighbors", n_crossings, degrees=degrees, **scope)
        exclusive_sum(session, degrees, rows["row_offsets"])
        defines = {"OFFSET_T": c_type(rows["row_offsets"].dtype)}
        launch(session, "roads", "write_neighbors", n_crossings, defines, **scope, **rows)
        return born(session, **rows)

    def _bends_before(self, session: Session, n_bends: int, n_roads: int) -> DeviceArray:
        """Return, for each road, the number of bends on the roads before it, as a device array."""
        bends = session.empty(n_bends, np.uint32)
        scope = {"n_bends": n_bends, "n_roads": n_roads, "bends": bends}
        launch(session, "roads", "draw_bends", -(-n_bends // 4), key=self.key, **scope)
        in_order, _ = sort(session, bends, end_bit=n_roads.bit_length())
        before = session.empty(n_roads + 1, np.int32)
        find_rows(session, in_order, before)
        return before
