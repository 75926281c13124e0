"""Plans that find and number the connected components on one device."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

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
    def _numbering(self) -> tuple[Launch, Scan, Launch, DeviceArray, DeviceArray]:
        """The launches that number the components, and two arrays:
        component numbers, and the number of roots before each vertex.

        They mark the roots, count the roots before each vertex, and give each vertex the count of its own root.
        """
        n, program = self.setting.values["n"], self.program("connected_components/phases.cl")
        labels, ranks = self.session.empty(n + 1, np.int32), self.session.empty(n + 1, np.int32)
        mark = program.bind("mark_roots", n, self.scope, is_root=labels)
        look_up = program.bind("number_components", n, self.scope, rank=ranks, labels=labels)
        return mark, Scan(self.session, labels, ranks), look_up, labels, ranks

    def result(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of connected components and, for each vertex, the number of its component.

        Components are numbered in the order of their smallest vertices.
        """
        n = self.setting.values["n"]
        if not n:
            return 0, np.zeros(0, np.int32)
        mark, scan, look_up, labels, _ = self._numbering
        mark()
        scan.run()
        look_up()
        numbers, *status = self.session.read((labels, 0, n + 1), *scan.statuses())
        scan.check(status)
        return int(numbers[n]), numbers[:n]

    def on_device(self) -> tuple[int, DeviceArray]:
        n = self.setting.values["n"]
        if not n:
            return 0, self.session.empty(0, np.int32)
        mark, scan, look_up, labels, _ = self._numbering
        mark()
        scan.run()
        look_up()
        count, *status = self.session.read((labels, n, n + 1), *scan.statuses())
        scan.check(status)
        return int(count[0]), labels.view(0, n)

    def part(self, start: int, stop: int, read: Callable[[DeviceArray, int, int], object]) -> int:
        """Number the components of vertices *start* … *stop* − 1.

        Return the number of components of the whole graph.

        ``read(numbers, first, last)`` begins to read a piece of the numbers while kernels compute the next piece.
        """
        n, alignment = self.setting.values["n"], self.session.alignment // 4
        mark, scan, _, labels, ranks = self._numbering
        mark()
        scan.run()
        program, parent = self.program("connected_components/phases.cl"), self.arrays["parent"]
        step = -(-(stop - start) // (_PIECES * alignment)) * alignment
        for first in range(start // alignment * alignment, stop, max(step, alignment)):
            last = min(first + step, stop)
            piece = {"n": last - first, "parent": parent.view(first, last), "rank": ranks}
            program.bind("number_components", last - first, piece, labels=labels.view(first, last + 1))()
            read(labels, max(first, start), last)
        (count,), *status = self.session.read((ranks, n, n + 1), *scan.statuses())
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
