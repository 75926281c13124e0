"""Components on a CPU of a matrix that nobody has checked, for one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.components.problem import ComponentsProblem
from clgraph.engine.unchecked import UncheckedPlan
from clgraph.runtime.session import Session

_SOURCE = "components/matrix.cl"
_BLOCKS = 2  # for each compute unit, so that blocks may have unequal rows


class MatrixComponents(UncheckedPlan):
    """Unites what lies within blocks of vertices, then what leads from one to another, and numbers the trees."""

    def __init__(self, session: Session, problem: ComponentsProblem) -> None:
        n, m = problem.graph.n_vertices, problem.graph.n_edges
        program = session.program(_SOURCE, {"OFFSET_T": "int"}, work_group_size=1)
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
        """Return how many components there are, and the numbers of the vertices' components, after ``run()``.

        Raises
        ------
        GraphError
            The matrix is damaged.
        DeviceTimeoutError
            A wait on the device ran out.
        """
        words, labels = self.finish()
        if words[self._is_wrong]:
            self.refuse()
        return int(words[self._first_block :].sum()), labels
