"""Plans that find and number the connected components on one device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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


@dataclass(frozen=True)
class _Numbering:
    """What numbers components: the launch that marks roots, a scan of their numbers, and the arguments of kernels."""

    mark: Launch
    scan: Scan
    scope: dict[str, Any]

    def run(self) -> tuple[Scan, DeviceArray]:
        """Enqueue the launches, and return the scan and the array for the component numbers."""
        self.mark()
        self.scan.run()
        return self.scan, self.scope["labels"]


class ComponentsPlan(Plan):
    """A plan of connected components on one device.

    It labels every vertex with the smallest vertex of its component.
    """

    _pieces: tuple[int, int, list[tuple[Launch, int, int]]] | None = None

    @property
    def labels(self) -> DeviceArray:
        """Device array with the smallest vertex of each vertex's component after ``run()``:
        int32, for all vertices below ``n``.
        """
        return self.arrays["parent"]

    @cached_property
    def _numbering(self) -> _Numbering:
        """The launches that mark the roots of the forest, and count the roots before each word of 32 vertices."""
        n, program = self.setting.values["n"], self.program("connected_components/phases.cl")
        n_words = -(-n // _WORD)
        roots, sizes = self.session.empty(n_words, np.uint32), self.session.empty(n_words, np.int32)
        ranks, labels = self.session.empty(n_words + 1, np.int32), self.session.empty(n + 1, np.int32)
        scope = {**self.scope, "n_words": n_words, "roots": roots, "sizes": sizes, "rank": ranks, "labels": labels}
        return _Numbering(program.bind("mark_roots", n_words, scope), Scan(self.session, sizes, ranks), scope)

    def _numbers(self, first: int, last: int) -> Launch:
        """Return the launch that gives each of the vertices *first* … *last* − 1 the rank of its root."""
        program = self.program("connected_components/phases.cl")
        return program.bind("number_components", last - first, self._numbering.scope, first=first, last=last)

    @cached_property
    def _number_all(self) -> Launch:
        return self._numbers(0, self.setting.values["n"])

    def result(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of connected components and, for each vertex, the number of its component.

        Components are numbered in the order of their smallest vertices.
        """
        n = self.setting.values["n"]
        if not n:
            return 0, np.zeros(0, np.int32)
        scan, labels = self._numbering.run()
        self._number_all()
        numbers, *status = self.session.read((labels, 0, n + 1), *scan.statuses())
        scan.check(status)
        return int(numbers[n]), numbers[:n]

    def on_device(self) -> tuple[int, DeviceArray]:
        n = self.setting.values["n"]
        if not n:
            return 0, self.session.empty(0, np.int32)
        scan, labels = self._numbering.run()
        self._number_all()
        count, *status = self.session.read((labels, n, n + 1), *scan.statuses())
        scan.check(status)
        return int(count[0]), labels.view(0, n)

    def pieces(self, start: int, stop: int) -> list[tuple[Launch, int, int]]:
        """Return the launches that number the components of vertices *start* … *stop* − 1, each with its range.

        The launches of the last range are kept for the next call.
        """
        if self._pieces is None or self._pieces[:2] != (start, stop):
            alignment = self.session.alignment // 4
            step = max(-(-(stop - start) // (_PIECES * alignment)) * alignment, alignment)
            found = []
            for first in range(start // alignment * alignment, stop, step):
                last = min(first + step, stop)
                found.append((self._numbers(first, last), max(first, start), last))
            self._pieces = start, stop, found
        return self._pieces[2]

    def part(self, start: int, stop: int, read: Callable[[DeviceArray, int, int], object]) -> int:
        """Number the components of vertices *start* … *stop* − 1.

        Return the number of components of the whole graph. The forest need not be flat.

        ``read(numbers, first, last)`` begins to read a piece of the numbers while kernels compute the next piece.
        """
        scan, labels = self._numbering.run()
        for launch, first, last in self.pieces(start, stop):
            launch()
            read(labels, first, last)
        ranks = self._numbering.scope["rank"]
        (count,), *status = self.session.read((ranks, ranks.size - 1, ranks.size), *scan.statuses())
        scan.check(status)
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
