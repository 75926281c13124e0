"""Colouring at distance 1 that begins with a hash of the vertex and repairs the collisions."""
from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.coloring.problem import ColoringProblem
from clgraph.algorithms.coloring.rounds import Rounds
from clgraph.arguments import check_choice, checked_count
from clgraph.data.graph import Graph
from clgraph.data.vertex_hashes import HASHES
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session

_CANDIDATES = ("murmur3", "fibonacci", "xorshift", "identity", "gray")
_N_SAMPLES = 1 << 14
_MAX_BITS = 16


class HashRepair(Rounds):
    """The first colours are the low bits of a hash: of few, that with the fewest collisions in a sample of entries."""

    def __init__(
        self, session: Session, problem: ColoringProblem, *, hash: str | None = None, bits: int | None = None
    ) -> None:
        graph = problem.graph
        self._bits = default_bits(graph) if bits is None else checked_count("bits", bits, _MAX_BITS)
        self._hash = best_hash(graph, self._bits) if hash is None else hash
        check_choice("hash", self._hash, HASHES)
        super().__init__(session, problem)
        self.details |= {"hash": self._hash, "bits": self._bits}

    def first_colors(self, hubs: DeviceArray | None) -> list[Any]:
        one: dict[str, int | str] = {"N_HASHES": 1, "HASH_LIST(X)": f"X(0, {self._hash})"}
        program = self.session.program("coloring/hash_colors.cl", one)
        mask = (1 << self._bits) - 1
        return [program.bind("hash_vertices", self.n, n=self.n, mask=mask, colors=self.tentative)]


def default_bits(graph: Graph) -> int:
    """Return the width for at most 2/5 as many colours as vertices have neighbours: greedy ones take them, too."""
    mean_degree = graph.n_edges / max(1, graph.n_vertices)
    return min(_MAX_BITS, max(min(1, graph.n_edges), int(np.log2(1.0 + 0.4 * mean_degree))))


def best_hash(graph: Graph, bits: int) -> str:
    """Return the hash with the fewest collisions at this many bits, in a sample of the entries."""
    m = graph.n_edges
    entries = np.random.default_rng(0).integers(m, size=_N_SAMPLES) if m > _N_SAMPLES else np.arange(m)
    rows = np.searchsorted(graph.row_offsets, entries, "right") - 1
    ends = rows.astype(np.uint32), graph.column_indices[entries].astype(np.uint32)
    mask = np.uint32((1 << bits) - 1)

    def collisions(name: str) -> int:
        a, b = (HASHES[name](vertices) & mask for vertices in ends)
        return int(np.count_nonzero(a == b))

    return min(_CANDIDATES, key=collisions)
