"""Rounds over vertices of which those with many edges are split into several; cl/traversal/node_splitting.cl."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.algorithms.traversal.rounds import FixedPoint
from clgraph.algorithms.traversal.work import model_mda
from clgraph.arguments import checked_count, shown
from clgraph.errors import InputError
from clgraph.primitives.scan import Scan
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

_SOURCE = "traversal/node_splitting.cl"
_MAX_PARTS = 2**31 - 2**12
_BUCKETS = 10


def histogram_mda(degrees: NDArray[Any]) -> int:
    """Return the largest degree that falls in the fullest of ten buckets of equal width over 0 … the largest degree."""
    most = int(degrees.max(initial=0))
    counts, edges = np.histogram(degrees, _BUCKETS, (0, max(1, most)))
    fullest = int(counts.argmax())
    inside = degrees[(degrees >= edges[fullest]) & ((degrees < edges[fullest + 1]) | (fullest == _BUCKETS - 1))]
    return max(1, int(inside.max(initial=0)))


class NodeSplitting(FixedPoint):
    """Shortest paths by rounds over all vertices, the large ones split.

    Parameters
    ----------
    mda : int, "histogram" or "model"
        Edges that a vertex may keep: a number, :func:`histogram_mda`, or the cost model's choice.

    Attributes
    ----------
    mda : int
        What was taken.
    n_extra : int
        Children that the vertices split were given.
    parts : dict of str to DeviceArray
        After ``run()``: where the entries of each vertex and child begin and end, and whose they are.
    """

    def __init__(
        self, session: Session, problem: SearchProblem, *, mda: int | Literal["histogram", "model"] = "model",
        atomic: bool = False, balance: bool = False,
    ) -> None:
        self._wanted = mda
        super().__init__(session, problem, atomic=atomic, balance=balance)

    def _choose(self) -> None:
        degrees = self.graph.degrees
        if not isinstance(self._wanted, str):
            self.mda = checked_count("mda", self._wanted, 2**31 - 1)
        elif self._wanted == "histogram":
            self.mda = histogram_mda(degrees)
        elif self._wanted == "model":
            self.mda = model_mda(self.graph.stats, self.session.facts, self.session.profile.rates)
        else:
            raise InputError(f"mda = {shown(self._wanted)}; allowed: a number, 'histogram', 'model'")
        large = degrees[degrees > self.mda].astype(np.int64)
        self.n_extra = int(((large - 1) // self.mda).sum())
        n_parts = self.n + self.n_extra
        if n_parts > _MAX_PARTS:
            raise InputError(f"mda={self.mda} makes {n_parts} vertices; at most {_MAX_PARTS} are possible")
        self._n_parts, self.n_words = n_parts, self.n if self._atomic else n_parts

    def _bind_round(self, defines: dict[str, int | str], scope: dict[str, Any]) -> Sequence[Launch]:
        session, n_parts, offset_t = self.session, self._n_parts, scope["row_offsets"].dtype
        program = session.program(_SOURCE, defines)
        counts, first_child = session.empty(self.n, np.int32), session.empty(self.n + 1, np.int32)
        types = {"part_begin": offset_t, "part_end": offset_t, "part_parent": np.int32}
        self.parts = {name: session.empty(n_parts, dtype) for name, dtype in types.items()}
        scope = {**scope, **self.parts, "n_parts": n_parts}
        self._count_children = program.bind("count_children", self.n, scope, mda=self.mda, counts=counts)
        self._scan = Scan(session, counts, first_child)
        self._fill = program.bind("fill_parts", n_parts, scope, first_child=first_child)
        work = self._counters(-(-n_parts // program.work_group_size))
        relax = program.bind("relax_parts", n_parts, scope, work=work)
        if self._atomic or not self.n_extra:
            return [relax]
        return [program.bind("child_update", n_parts, scope), relax]

    def _run(self) -> None:
        self._count_children()
        self._scan.run()
        self._fill()
        super()._run()

    @property
    def details(self) -> dict[str, Any]:
        return {**super().details, "mda": self.mda, "n_extra": self.n_extra}

    def result(self) -> Any:
        """Return the distances after ``run()``, and for breadth-first searches predecessors."""
        if self.n:
            self._scan.check()
        return super().result()
