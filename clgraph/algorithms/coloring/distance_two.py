"""Colourings at distance 2, and of a matrix's columns: no net has two members of one colour; cl/coloring/nets.h.

A net has bits for the colours of its members, a window of colours at a time. Vertices take colours that are free in all
their nets, so that a pass looks at as many entries as there are, not at two-hop neighbours [1]_ [2]_.

References
----------
.. [1] S. Rajamanickam and others. "Kokkos Kernels: performance portable sparse/dense linear algebra and graph kernels."
   2021; its distance-2 colouring NB_BIT.
.. [2] M. K. Taş, K. Kaya, E. Saule. "Greed is good: parallel algorithms for bipartite-graph partial coloring on
   multicore architectures." ICPP 2017.
"""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.coloring.distance_two_passes import SOURCE, Rounds, Windows
from clgraph.algorithms.coloring.hash_start import MOST_BITS, hash_start, least_bits
from clgraph.algorithms.coloring.orders import ranks
from clgraph.arguments import check_choice, checked_count
from clgraph.data.graph import Graph
from clgraph.data.vertex_hashes import HASHES
from clgraph.primitives.fill import Iota
from clgraph.primitives.sort import Sort
from clgraph.primitives.types import power_of_two_at_most, tuned
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

_MAX_DEGREE = 2**31 - 1
_MOST_WORDS = 32
_USED_BYTES = 1 << 28  # of the words of all nets, if that leaves them one


class DistanceTwo:
    """A compiled and allocated run on one graph; ``run()`` may be called again.

    Parameters
    ----------
    graph : Graph
        Symmetric, unless *bipartite*.
    order : str or None
        In which vertices are taken; ``None`` is ``"natural"``. Those of many entries go first.
    seed : int
    deterministic : bool
    start : {"first_fit", "hash"}
        Whether vertices try the colour of a hash first.
    bipartite : bool
        Colour columns so that no row has two of one colour.
    hash, bits
        With ``start="hash"``: the hash, by default that with the fewest collisions in a sample of the rows, and its
        bits, 1 … 10.
    long_row : int, optional
        Vertices of more entries are taken by a work-group each.
    """

    def __init__(
        self, session: Session, graph: Graph, *, order: str | None = None, seed: int = 0, deterministic: bool = False,
        start: str = "first_fit", bipartite: bool = False, hash: str | None = None, bits: int | None = None,
        long_row: int | None = None,
    ) -> None:
        check_choice("start", start, ("first_fit", "hash"))
        if not graph.has_sorted_rows:
            graph = Graph.from_scipy(graph.to_scipy(), directed=graph.directed)
        self.session, self.n = session, graph.n_vertices
        self.details: dict[str, Any] = {}
        self.rows = graph.reverse if bipartite else graph  # rows[v]: the nets of v
        self.closed, self.order = not bipartite, order or "natural"
        if not self.n:
            return
        members = self.members = int(graph.degrees.max()) + self.closed
        self.prefers = start == "hash"
        if self.prefers:
            bits = least_bits(members) if bits is None else checked_count("bits", bits, MOST_BITS)
            name = hash_start(graph, closed=self.closed, bits=bits).hash if hash is None else hash
            preferences = self._preferences(name, bits)
        else:
            bits, preferences = 0, session.empty(1, np.int32)
        # Words for all preferences, and for thrice the colours that the longest row needs.
        least, room = 1 << max(0, bits - 5), max(1, _USED_BYTES // (4 * self.n))
        self.words = max(least, power_of_two_at_most(min(3 * members // 16 + 1, _MOST_WORDS, room)))
        self.colors, self.used = session.empty(self.n, np.int32), session.empty(self.n * self.words, np.uint32)
        on_device = device_graph(session, self.rows)
        self.defines: dict[str, int | str] = {**on_device.defines(), "CLOSED": int(self.closed)}
        cpu, width = session.facts.is_cpu, session.facts.sub_group_size
        # A lane for a batch of places; words of one number side by side where rows have neighbouring columns.
        batches = -(-(graph.n_edges + self.closed * self.n) // (4 * self.n))
        sizes = tuned(session, SOURCE, {
            "WG_SIZE": width if cpu else 256, "TEAM": 1 << (max(1, batches) - 1).bit_length(), "BATCH": 1 if cpu else 4,
            "PLANES": int(graph.stats.far_neighbor_share < 0.5), "CHUNK": int(self.order != "natural"),
            "ITEMS_PER_TEAM": 4, "GROUPS_PER_UNIT": 16 if cpu else 2, "LONG_ROW": _MAX_DEGREE if cpu else 2048,
        }, None)
        self.team = sizes["TEAM"] = min(width, sizes["TEAM"])
        chunk, self.items = sizes.pop("CHUNK"), sizes.pop("ITEMS_PER_TEAM")
        self.max_groups = sizes.pop("GROUPS_PER_UNIT") * session.facts.compute_units
        net_stride, word_stride = (1, self.n) if sizes.pop("PLANES") else (self.words, 1)
        self.scope: dict[str, Any] = {  # what all passes share
            **on_device.scope, "nets_of": on_device.column_indices, "seed": seed, "chunk": chunk, "words": self.words,
            "net_stride": net_stride, "word_stride": word_stride, "preferences": preferences, "used": self.used,
            "colors": self.colors,
        }  # fmt: skip
        limit = sizes.pop("LONG_ROW")
        if long_row is not None:
            limit = checked_count("long_row", long_row, _MAX_DEGREE, least=0)
        self.sizes = sizes
        self.program = session.program(SOURCE, {**self.defines, **sizes})
        self.no_color, self.n_lists = map(self.program.constant, ("NO_COLOR", "N_LISTS"))
        self.vertices = self._in_order(seed)
        self._method = Rounds(self) if deterministic else Windows(self, limit)

    def _preferences(self, name: str, bits: int) -> DeviceArray:
        """Return the vertices' hash colours."""
        check_choice("hash", name, HASHES)
        self.details |= {"hash": name, "bits": bits}
        colors = self.session.empty(self.n, np.int32)
        self.session.program("coloring/hash_colors.cl", {"N_HASHES": 1, "HASH_LIST(X)": f"X(0, {name})"}).bind(
            "hash_vertices", self.n, n=self.n, mask=(1 << bits) - 1, colors=colors
        )()
        return colors

    def _in_order(self, seed: int) -> DeviceArray:
        """Return the vertices in their order."""
        session, n = self.session, self.n
        vertices = session.empty(n, np.int32)
        Iota(session, vertices).run()
        if self.order == "natural":
            return vertices
        keys = ranks(session, self.rows, self.order, seed)
        self.program.bind("invert_ranks", n, n=n, ranks=keys)()
        in_order, moved = session.empty(n, np.uint32), session.empty(n, np.int32)
        Sort(session, keys, in_order, vertices, moved).run_checked()
        return moved

    def run(self) -> None:
        """Colour the vertices; the host waits a few times to see whether any are left."""
        if not self.n:
            return
        self.colors.fill(self.no_color)
        self.details |= self._method.run()

    def result(self) -> NDArray[np.int32]:
        """Return the colours after ``run()``; some numbers may be left out."""
        return self.colors.get() if self.n else np.empty(0, np.int32)
