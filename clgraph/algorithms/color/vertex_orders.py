"""Orders in which greedy colourings take the vertices of a graph.

``natural``
    By vertex number.
``random``
    By a hash of vertex number and seed.
``interleaved``
    By vertex number, but blocks of the range take turns, and a turn takes every second vertex of a part of each block.
    GPUs process vertices in this order, so most earlier neighbours have a colour when a vertex is processed.
    ``cl/color/orders.h`` defines the order.
``largest_first``
    By descending degree, which needs few colours for little work [1]_. Degrees below four count as equal, because such
    vertices need no more than four colours anyway. If most degrees are below four and none is 30 or more, as on roads,
    the other degrees count as equal too. Vertices of equal degree are interleaved.
``smallest_last``
    The vertex of smallest degree goes last; it is removed, the vertex of smallest degree in the rest goes before it,
    and so on. This needs fewer colours, for more work [2]_. Here all vertices of degree at most k in the rest are
    removed at once, in waves, until none is left; then k rises to the smallest degree in the rest [3]_. A greedy
    colouring in this order needs at most one colour more than the degeneracy of the graph. A hash orders the vertices
    of a wave.

References
----------
.. [1] D. J. A. Welsh, M. B. Powell. "An upper bound for the chromatic number of a graph and its application to
   timetabling problems." The Computer Journal 10, 1967.
.. [2] D. W. Matula, L. L. Beck. "Smallest-last ordering and clustering and graph coloring algorithms." J. ACM 30, 1983.
.. [3] W. Hasenplaugh, T. Kaler, T. B. Schardl, C. E. Leiserson. "Ordering heuristics for parallel graph coloring."
   SPAA 2014.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.vertex_hashes import order_key
from clgraph.engine.plan import Plan
from clgraph.model.recipe import Phase, Step, Use
from clgraph.primitives.compact import Compact
from clgraph.primitives.sort import Sort
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status
from clgraph.runtime.programs.declarations import read_declarations
from clgraph.runtime.programs.source import build_input

ORDERS = ("natural", "random", "interleaved", "largest_first", "smallest_last")
# In orders of vertices that do not sort by degree, a work-item processes rows of up to this number of entries.
SHORT_ROW = 128
# Least number of blocks in a large graph. All devices use this number, so that they return the same colours.
_N_BLOCKS = 4096
# Vertex degrees are alike if their mean is at least 30 and the largest degree is below 4 times the mean.
_MANY_ENTRIES, _ALIKE = 30, 4
# More than this share of the vertices counts as "most vertices". A sample has 4096 vertices.
_MOST, _N_SAMPLES = 0.75, 1 << 12
_MANY_FIRST = "ORDER_MANY_FIRST"
_SOURCE = "color/orders.cl"
_NO_DEGREE = 0xFFFFFFFF
MAX_CPU_WAVE = 4096  # A single work-group removes a wave of fewer than 4096 vertices in less time than a launch takes.
MAX_WAVE_PER_SUB_GROUP = 16  # A GPU's sub-group removes 16 vertices in the time of a launch and a read-back.


@lru_cache
def order_constant(expression: str) -> int:
    """Return the value of *expression* in ``cl/color/orders.h`` and ``cl/color/possible.h`` (with ``MARKED``)."""
    text = build_input("color/orders.h", {}) + build_input("color/possible.h", {"MARKED": 1})
    return read_declarations(text).constant(expression)


def suitable_order(graph: Graph) -> str:
    """Return ``"interleaved"`` if the graph's degrees hardly differ, so that ordering by degree saves few colours.

    Otherwise return ``"largest_first"``.
    """
    highest, mean = graph.stats.max_degree, graph.stats.mean_degree
    alike = mean >= _MANY_ENTRIES and highest < _ALIKE * mean and highest <= SHORT_ROW
    return "interleaved" if alike or _most_have(graph, highest) else "largest_first"


def most_need_few(graph: Graph) -> bool:
    """Return whether most vertices have fewer than four neighbours and no vertex has many, as in road networks.

    Then ``largest_first`` only separates the vertices with fewer than four neighbours from the other vertices.
    """
    fit, few = graph.stats.max_degree <= order_constant("SET_COLORS - 1"), order_constant("FEW_COLORS - 1")
    return fit and sum(graph.stats.degree_vertex_counts[: 1 + few.bit_length()]) > _MOST * graph.n_vertices


def _most_have(graph: Graph, degree: int) -> bool:
    """Return whether most vertices of the graph have the given *degree*, which is the largest degree.

    If the statistics do not decide it, a sample of vertices does. The stride of the sample is irregular, so that it
    does not follow the rows of a grid.
    """
    stats, n, at = graph.stats, graph.n_vertices, degree.bit_length()
    count, entries = sum(stats.degree_vertex_counts[at : at + 1]), sum(stats.degree_edge_counts[at : at + 1])
    # Number of entries that shorter rows of the bin lack: at least one per shorter row.
    missing = degree * count - entries
    if count - missing > _MOST * n:
        return True
    if count - missing / max(1, degree - (1 << at >> 1)) <= _MOST * n:
        return False
    places = np.arange(min(n, _N_SAMPLES), dtype=np.uint64)
    if n > _N_SAMPLES:
        places = (places * np.uint64(order_constant("GOLDEN")) & np.uint64(0xFFFFFFFF)) * np.uint64(n) >> np.uint64(32)
    offsets = graph.row_offsets
    has_it = offsets[places + np.uint64(1)] - offsets[places] == degree
    return bool(np.count_nonzero(has_it) > _MOST * places.size)


class VertexOrder(NamedTuple):
    """The parameters of a vertex order, as kernels get them (``order_t`` of ``cl/color/orders.h``).

    ``cl/color/orders.h`` also explains places, turns and blocks.
    """

    number: int
    shift: int
    phase_bits: int
    tile_bits: int
    block_bits: int
    key: int

    @property
    def n_turns(self) -> int:
        """The number of turns."""
        return 1 << self.tile_bits + self.phase_bits

    @property
    def n_places(self) -> int:
        """The number of places, including places without a vertex."""
        return self.n_turns * order_constant("PHASE_SIZE") << self.block_bits

    def n_blocks(self, n: int) -> int:
        """Return the number of blocks of *n* vertices."""
        return -(-n // (order_constant("PHASE_SIZE") * self.n_turns))

    def arrivals(self, n: int) -> NDArray[np.uint32]:
        """Return the position at which a turn visits each block of *n* vertices.

        A block has 32 places in a turn.
        """
        bits = self.block_bits
        blocks = np.arange(self.n_blocks(n), dtype=np.uint32)
        step = np.uint32(order_constant("GOLDEN") >> (32 - bits) | 1)
        return (blocks * step + np.uint32(self.key)) & np.uint32((1 << bits) - 1)


def vertex_order(graph: Graph, order: str, seed: int) -> VertexOrder:
    """Return the kernels' form of the vertex order *order*, one of :data:`ORDERS`."""
    n, shift = graph.n_vertices, 32 - max(1, graph.stats.max_degree.bit_length())
    number = f"ORDER_{order.upper()}"
    if order == "largest_first" and most_need_few(graph):
        number = _MANY_FIRST
    phase_bits = 2 if number == _MANY_FIRST else 1
    tile = order_constant("PHASE_SIZE") << phase_bits
    tile_bits = max(1, n // (tile * _N_BLOCKS)).bit_length() - 1
    n_blocks = -(-n // (tile << tile_bits))
    block_bits = max(0, n_blocks - 1).bit_length()
    return VertexOrder(order_constant(number), shift, phase_bits, tile_bits, block_bits, order_key(seed))


def rank_steps(graph: Graph, order: str, seed: int) -> tuple[Step, ...]:
    """Return the steps that write each vertex's priority to the array ``ranks``, uint32.

    The graph is symmetric.

    Vertices of higher priority go first. Among equal priorities the lower vertex number goes first.
    """
    n = graph.n_vertices
    if order == "smallest_last":
        return (Use(lambda plan: SmallestLast(plan, n, seed)),)
    of_order = vertex_order(graph, order, seed)._asdict()
    return (Phase(f"{_SOURCE}:rank_vertices", n, values={"order": of_order}),)


def sorting(*arrays: str) -> Use:
    """Return the step that sorts by keys.

    Its four arrays are keys, sorted keys, values and sorted values.
    """
    return Use(lambda plan: Sort(plan.session, *(plan.arrays[name] for name in arrays)))


def listing_rows(n: int, target: str, comparison: str) -> Use:
    """Return the step that writes to *target* the vertices whose degree satisfies *comparison*, such as ``"> 9"``."""

    def compact(plan: Plan) -> Compact:
        rows = {"row_offsets": plan.scope["row_offsets"]}
        predicate = f"row_offsets[i + 1] - row_offsets[i] {comparison}"
        return Compact(plan.session, n, plan.arrays[target], predicate=predicate, arrays=rows)

    return Use(compact)


class SmallestLast:
    """A step that computes the order ``smallest_last``: it removes vertices wave by wave, low degrees first.

    The host chooses the next kernel by the size of each wave.
    """

    def __init__(self, plan: Plan, n: int, seed: int) -> None:
        program, session, facts = plan.program(_SOURCE), plan.session, plan.session.facts
        self._word = {name: program.constant(f"STATE_{name}") for name in ("LISTED", "LEAST", "WAVES", "REMOVED")}
        self._n, self._first = n, plan.problem.stats.min_degree
        self._nothing = np.zeros(program.constant("STATE_WORDS"), np.uint32)
        self._nothing[self._word["LEAST"]] = _NO_DEGREE
        self._state, lists = (
            session.empty(self._nothing.size, np.uint32),
            [session.empty(n, np.int32) for _ in range(2)],
        )
        alone = plan.program(_SOURCE, {"WG_SIZE": facts.sub_group_size} if facts.is_cpu else {})
        self._widest = (
            MAX_CPU_WAVE if facts.is_cpu else MAX_WAVE_PER_SUB_GROUP * (alone.work_group_size // facts.sub_group_size)
        )
        scope = {
            **plan.scope, "n": n, "ranks": plan.arrays["ranks"], "degrees": session.empty(n, np.uint32),
            "state": self._state, "key": order_key(seed), "wave": 0, "threshold": 0, "widest": self._widest,
        }  # fmt: skip
        self._start = program.bind("start_degrees", n, scope)
        self._finish = program.bind("finish_ranks", n, scope, shift=0)
        self._remove = program.bind("remove_small", n, scope, list=lists[0])
        self._spread, self._alone = ([
            of.bind("remove_neighbors", 1, scope, turn=turn, size=0, list=lists[1 - turn], next=lists[turn])
            for turn in range(2)
        ] for of in (program, alone))  # fmt: skip
        self._most_groups = 32 * facts.compute_units
        self._per_group = program.work_group_size // facts.sub_group_size

    def run(self) -> None:
        threshold, wave, self._left = self._first, 1, self._n
        self._start()
        while self._left:
            self._state.set(self._nothing)
            self._remove.set(wave=wave, threshold=threshold)
            self._remove()
            found = self._state.get().tolist()
            n_listed, least = found[self._word["LISTED"]], found[self._word["LEAST"]]
            if not n_listed and least > threshold:
                threshold = least
                continue
            if not n_listed:
                check_status(STATUS_STUCK, f"remove_small, with {self._left} vertices left")
            self._count(n_listed, "remove_small")
            turn = 0
            while n_listed:
                n_waves, n_listed, turn = self._wave(n_listed, 1 - turn, wave + 1, threshold)
                wave += n_waves
            wave += 1
            threshold += 1
        self._finish.set(shift=32 - wave.bit_length())
        self._finish()

    def _wave(self, n_listed: int, turn: int, wave: int, threshold: int) -> tuple[int, int, int]:
        """Remove neighbours of the listed vertices if their degree is low now, in one wave or several small waves.

        Return the number of waves, the number of vertices in the last wave, and the index of the list with that wave.
        """
        is_small = n_listed <= self._widest
        launch = (self._alone if is_small else self._spread)[turn]
        launch.set(size=n_listed, wave=wave, threshold=threshold)
        if not is_small:
            launch(min(self._most_groups, max(2, -(-n_listed // self._per_group))))
            n_listed = self._state.item(self._word["LISTED"] + turn)
            self._count(n_listed, "remove_neighbors")
            return 1, n_listed, turn
        launch(1)
        found = self._state.get().tolist()
        n_waves = found[self._word["WAVES"]]
        turn ^= (n_waves - 1) & 1
        self._count(found[self._word["REMOVED"]], "remove_neighbors")
        return n_waves, found[self._word["LISTED"] + turn], turn

    def _count(self, n_removed: int, kernel: str) -> None:
        """Subtract *n_removed* from the number of vertices left.

        If too few are left, *kernel* is faulty.
        """
        if n_removed > self._left:
            check_status(STATUS_STUCK, f"{kernel}, with {self._left} vertices left")
        self._left -= n_removed
