"""Plans that find and number the connected components on one device."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.connected_components.problem import ComponentsProblem
from clgraph.engine.plan import Plan
from clgraph.engine.unchecked import UncheckedPlan
from clgraph.primitives.scan import Scan
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch
from clgraph.runtime.session import Session

# The answer is read in four pieces. While one piece is read, kernels number the components of the next piece.
_PIECES = 4
# Each compute unit gets two blocks of rows, which spread rows of unequal lengths more evenly than one block.
_BLOCKS = 2
_WORD = 32  # A word of the bitmap of roots has one bit for each of 32 vertices.

_Pieces: TypeAlias = "list[tuple[Launch, int, int]]"


class Numbering:
    """The launches that number the components of a range of vertices, after a plan has found the forest.

    Components are numbered in the order of their smallest vertices.

    Attributes
    ----------
    count : tuple
        The item that ``Session.read`` must read for the number of roots in the range, after :meth:`run`.
    scope : dict
        The arguments of kernels.
    """

    def __init__(self, plan: ComponentsPlan, first: int, last: int) -> None:
        session, self._program = plan.session, plan.program("connected_components/phases.cl")
        n_words = -(-(last - first) // _WORD)
        roots, sizes = session.empty(n_words, np.uint32), session.empty(n_words, np.int32)
        ranks = session.empty(n_words + 1, np.int32)
        self.scope = {
            **plan.scope, "first": first, "last": last, "n_words": n_words, "roots": roots, "sizes": sizes,
            "rank": ranks, "labels": plan.numbers, "base": 0,
        }  # fmt: skip
        self._mark = self._program.bind("mark_roots", n_words, self.scope) if n_words else None
        self.scan, self.count = Scan(session, sizes, ranks), (ranks, n_words, n_words + 1)
        self._alignment, self._pieces = session.alignment // 4, dict[tuple[int, int], _Pieces]()

    def run(self) -> None:
        """Enqueue the launches that mark the roots in the range, and count the roots before each word."""
        if self._mark is not None:
            self._mark()
        self.scan.run()

    @cached_property
    def number_all(self) -> Launch:
        """The launch that gives all vertices of the graph the numbers of their components."""
        return self._numbers(0, self.scope["n"])

    def _numbers(self, start: int, stop: int) -> Launch:
        """Return the launch that gives each of the vertices *start* … *stop* − 1 the number of its component."""
        return self._program.bind("number_components", stop - start, self.scope, start=start, stop=stop)

    def pieces(self, start: int, stop: int) -> _Pieces:
        """Return the launches that number the components of vertices *start* … *stop* − 1, each with its range.

        The launches are kept for the next call.
        """
        if (start, stop) not in self._pieces:
            step = max(-(-(stop - start) // (_PIECES * self._alignment)) * self._alignment, self._alignment)
            cuts = [(first, min(first + step, stop)) for first in range(start, stop, step)]
            self._pieces[start, stop] = [(self._numbers(*cut), *cut) for cut in cuts]
        return self._pieces[start, stop]


class ComponentsPlan(Plan):
    """A plan of connected components on one device.

    It labels every vertex with the smallest vertex of its component.
    """

    @property
    def labels(self) -> DeviceArray:
        """Device array with the smallest vertex of each vertex's component after ``run()``:
        int32, for all vertices below ``n``.
        """
        return self.arrays["parent"]

    @cached_property
    def numbers(self) -> DeviceArray:
        """Device array for the number of each vertex's component, followed by the number of components."""
        return self.session.empty(self.setting.values["n"] + 1, np.int32)

    @cached_property
    def _numberings(self) -> dict[tuple[int, int], Numbering]:
        return {}

    def numbering(self, first: int, last: int) -> Numbering:
        """Return the launches that number the components of vertices *first* … *last* − 1.

        *first* is a multiple of 32. The launches are kept for the next call.
        """
        if (first, last) not in self._numberings:
            self._numberings[first, last] = Numbering(self, first, last)
        return self._numberings[first, last]

    def result(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of connected components and, for each vertex, the number of its component.

        Components are numbered in the order of their smallest vertices.
        """
        n = self.setting.values["n"]
        if not n:
            return 0, np.zeros(0, np.int32)
        scan = self._number_all()
        numbers, *status = self.session.read((self.numbers, 0, n + 1), *scan.statuses())
        scan.check(status)
        return int(numbers[n]), numbers[:n]

    def on_device(self) -> tuple[int, DeviceArray]:
        n = self.setting.values["n"]
        if not n:
            return 0, self.session.empty(0, np.int32)
        scan = self._number_all()
        count, *status = self.session.read((self.numbers, n, n + 1), *scan.statuses())
        scan.check(status)
        return int(count[0]), self.numbers.view(0, n)

    def _number_all(self) -> Scan:
        """Enqueue the launches that number all components, and return their scan."""
        numbering = self.numbering(0, self.setting.values["n"])
        numbering.run()
        numbering.number_all()
        return numbering.scan

    def part(
        self, numbering: Numbering, start: int, stop: int, read: Callable[[DeviceArray, int, int], object],
        base: int = 0,
    ) -> int:  # fmt: skip
        """Number the components of vertices *start* … *stop* − 1. The first root of *numbering* gets the number *base*.

        Return the number of roots of *numbering*. The forest need not be flat.

        ``read(numbers, first, last)`` begins to read a piece of the numbers while kernels compute the next piece.
        """
        numbering.run()
        for launch, first, last in numbering.pieces(start, stop):
            launch.set(base=base)
            launch()
            read(self.numbers, first, last)
        (count,), *status = self.session.read(numbering.count, *numbering.scan.statuses())
        numbering.scan.check(status)
        return int(count)


class MatrixComponents(UncheckedPlan):
    """A one-time run on a CPU that validates a matrix while it finds the connected components of the matrix.

    First it unites the ends of the edges within each block of vertices. Then it unites the ends of the edges between
    blocks, and numbers the trees.
    """

    def __init__(self, session: Session, problem: ComponentsProblem) -> None:
        n, m = problem.graph.n_vertices, problem.graph.n_edges
        program = session.program("connected_components/matrix.cl", {"OFFSET_T": "int"}, work_group_size=1)
        rows = program.constant("CROSSING_ROWS")
        block_size = -(-n // (rows * _BLOCKS * session.facts.compute_units)) * rows
        n_blocks = -(-n // block_size)
        self._is_wrong, self._first_block = program.constant("MATRIX_WRONG"), program.constant("MATRIX_BLOCKS")
        super().__init__(session, problem, self._first_block + n_blocks, ("labels",))
        scope = {
            **self.lent, "n": n, "m": m, "block_size": block_size, "parent": session.empty(n, np.int32),
            "crossing": session.empty(-(-n // rows), np.uint32),
        }  # fmt: skip
        kernels = "unite_blocks", "unite_crossing", "flatten_blocks", "number_roots", "number_others"
        self.launches += [program.bind(kernel, n_blocks, scope) for kernel in kernels]

    def result(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of components and each vertex's component, or raise
        a :class:`GraphError` for an invalid matrix.
        """
        words, labels = self.finish()
        if words[self._is_wrong]:
            self.refuse()
        return int(words[self._first_block :].sum()), labels
