"""Orders in which greedy colourings take the vertices.

``natural``
    By number.
``random``
    By a hash of number and seed.
``interleaved``
    By number, but parts of the range in turn, and in them each second vertex: as GPUs process them, so that most
    neighbours that go before a vertex have a colour when its turn comes. ``cl/coloring/orders.h`` tells exactly.
``largest_first``
    By falling degree: few colours, for little work [1]_. Those below four are equal, since such vertices need no more
    than four colours anyway, and where most are below four and none is of 30 or more, the others are, too: roads. Equal
    ones are interleaved.
``smallest_last``
    The vertex of smallest degree goes last, then that of smallest degree in what is left, and so on: fewer colours,
    for more work [2]_. Vertices are removed in batches [3]_.

References
----------
.. [1] D. J. A. Welsh, M. B. Powell. "An upper bound for the chromatic number of a graph and its application to
   timetabling problems." The Computer Journal 10, 1967.
.. [2] D. W. Matula, L. L. Beck. "Smallest-last ordering and clustering and graph coloring algorithms." J. ACM 30, 1983.
.. [3] W. Hasenplaugh, T. Kaler, T. B. Schardl, C. E. Leiserson. "Ordering heuristics for parallel graph coloring."
   SPAA 2014.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graph import Graph
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.program import Program
from clgraph.runtime.session import Session

ORDERS = ("natural", "random", "interleaved", "largest_first", "smallest_last")
SHORT_ROW = 128  # the longest row that a work-item looks at in orders that are not by degree
PHASE_SIZE = 32  # places that a block has in a turn, as cl/coloring/orders.h
_N_BLOCKS = 4096  # the least number; the same on every device, so that results are
_MANY_ENTRIES, _ALIKE = 30, 4  # of a row, on the average; the longest is less than so many times that
_FEW_COLORS, _MOST, _N_SAMPLES = 4, 0.75, 1 << 16  # FEW_COLORS of cl/coloring/orders.h; share of all; vertices
_MANY_FIRST = "ORDER_MANY_FIRST"
_MOST_MARKED = 29  # MARKED words of cl/coloring/possible.h are of no more colours than 30
_GOLDEN = 0x9E3779B9  # of the golden ratio, as cl/coloring/orders.h
_SOURCE = "coloring/orders.cl"
_NO_DEGREE = 0xFFFFFFFF


def suitable_order(graph: Graph) -> str:
    """Return ``"interleaved"`` where degrees differ so little that their order saves few colours."""
    highest, mean = int(graph.degrees.max(initial=0)), graph.n_edges / max(1, graph.n_vertices)
    alike = mean >= _MANY_ENTRIES and highest < _ALIKE * mean and highest <= SHORT_ROW
    return "interleaved" if alike or _are_most(graph, highest, highest) else "largest_first"


def most_need_few(graph: Graph) -> bool:
    """Return whether ``largest_first`` tells only vertices of few neighbours from others: on roads."""
    return int(graph.degrees.max(initial=0)) <= _MOST_MARKED and _are_most(graph, 0, _FEW_COLORS - 1)


def _are_most(graph: Graph, least: int, most: int) -> bool:
    """Return whether most degrees are in a range; by a sample of large graphs, in no step with rows of a grid."""
    degrees = graph.degrees
    if degrees.size > _N_SAMPLES:
        fractions = np.arange(_N_SAMPLES, dtype=np.uint64) * np.uint64(_GOLDEN) & np.uint64(0xFFFFFFFF)
        degrees = degrees[fractions * np.uint64(degrees.size) >> np.uint64(32)]
    return bool(np.count_nonzero((degrees >= least) & (degrees <= most)) > _MOST * degrees.size)


class OrderArguments(NamedTuple):
    """``ORDER_ARGS`` of ``cl/coloring/orders.h``; *number* is the name of a constant there."""

    number: str
    shift: int
    phase_bits: int
    tile_bits: int
    block_bits: int
    key: int

    def scope(self, program: Program) -> dict[str, int]:
        """Return them under the names that parameters of kernels have."""
        values = {**self._asdict(), "number": program.constant(self.number)}
        return {f"order_{name}": value for name, value in values.items()}

    @property
    def tells_only_many(self) -> bool:
        """Whether this is ``largest_first`` where it tells only vertices of few neighbours from others."""
        return self.number == _MANY_FIRST

    @property
    def n_turns(self) -> int:
        """How many turns places make."""
        return 1 << self.tile_bits + self.phase_bits

    @property
    def n_places(self) -> int:
        """How many places there are; at some there is no vertex."""
        return self.n_turns * PHASE_SIZE << self.block_bits

    def arrivals(self, n: int) -> NDArray[np.uint32]:
        """Return when each block of *n* vertices comes in a turn; it takes 32 places of it."""
        bits = self.block_bits
        blocks = np.arange(-(-n // (PHASE_SIZE * self.n_turns)), dtype=np.uint32)
        return (blocks * np.uint32(_GOLDEN >> (32 - bits) | 1) + np.uint32(self.key)) & np.uint32((1 << bits) - 1)


def order_arguments(graph: Graph, order: str, seed: int) -> OrderArguments:
    """Return what kernels have to know of *order*, which is one of :data:`ORDERS`."""
    n, shift = graph.n_vertices, 32 - max(1, int(graph.degrees.max(initial=0)).bit_length())
    number = f"ORDER_{order.upper()}"
    if order == "largest_first" and most_need_few(graph):
        number = _MANY_FIRST
    phase_bits = 2 if number == _MANY_FIRST else 1
    tile = PHASE_SIZE << phase_bits
    tile_bits = max(1, n // (tile * _N_BLOCKS)).bit_length() - 1
    n_blocks = -(-n // (tile << tile_bits))
    block_bits = max(0, n_blocks - 1).bit_length()
    return OrderArguments(number, shift, phase_bits, tile_bits, block_bits, _hash_key(seed))


def _hash_key(seed: int) -> int:
    """Return the 32 bits that *seed* mixes into orders; 9 because with that seed 0 takes few colours on meshes."""
    return (seed + 9) * _GOLDEN & 0xFFFFFFFF


def ranks(
    session: Session, graph: Graph, order: str, seed: int, target: DeviceArray | None = None
) -> DeviceArray:
    """Return a priority, uint32, of each vertex; higher goes first, of equals the vertex of the lower number.

    Parameters
    ----------
    graph : Graph
        Symmetric.
    order : str
        One of :data:`ORDERS`.
    seed : int
        0 … 2**32 - 1.
    target : DeviceArray, optional
        Where to put them; the default is a new array.
    """
    n = graph.n_vertices
    found = session.empty(n, np.uint32) if target is None else target
    if not n:
        return found
    on_device = device_graph(session, graph)
    program, scope = session.program(_SOURCE, on_device.defines()), {**on_device.scope, "n": n, "ranks": found}
    if order == "smallest_last":
        _smallest_last(session, program, {**scope, "key": _hash_key(seed)}, int(graph.degrees.min()))
    else:
        program.bind("rank_vertices", n, {**scope, **order_arguments(graph, order, seed).scope(program)})()
    return found


def _smallest_last(session: Session, program: Program, scope: dict[str, Any], threshold: int) -> None:
    """Remove the vertices wave after wave, those of at most *threshold* entries first."""
    n_words, listed, least = map(program.constant, ("STATE_WORDS", "STATE_LISTED", "STATE_LEAST"))
    n: int = scope["n"]
    state, lists = session.empty(n_words, np.uint32), [session.empty(n, np.int32) for _ in range(2)]
    scope = {**scope, "degrees": session.empty(n, np.uint32), "state": state, "wave": 0, "threshold": 0}
    program.bind("start_degrees", n, scope)()
    start = program.bind("remove_small", n, scope, list=lists[0])
    spread = [
        program.bind("remove_neighbors", 1, scope, size=0, list=source, next=target)
        for source, target in (lists, lists[::-1])
    ]
    most_groups = 32 * session.facts.compute_units
    per_group = program.work_group_size // session.facts.sub_group_size
    nothing = np.zeros(n_words, np.uint32)
    nothing[least] = _NO_DEGREE
    wave, n_left = 1, n
    while n_left:
        state.set(nothing)
        start.set(wave=wave, threshold=threshold)
        start()
        found = state.get().tolist()
        if not found[listed]:
            threshold = found[least]
            continue
        n_listed, turn = found[listed], 0
        while n_listed:
            n_left -= n_listed
            wave += 1
            launch = spread[turn % 2]
            launch.set(size=n_listed, wave=wave, threshold=threshold)
            state.fill(0, listed, listed + 1)
            launch(min(most_groups, -(-n_listed // per_group)))
            n_listed, turn = state.item(listed), turn + 1
        threshold += 1 + threshold // 8
