"""Runs that find core numbers on one device, and the steps of peeling that the host launches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.cores.problem import refuse_loops, refuse_repeats
from clgraph.engine.plan import Plan
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status

CHECK, PEEL = "cores/check.cl", "cores/peel.cl"
_GROUPS_PER_UNIT = 16
_BATCH = 16  # steps that the host enqueues before it reads whether all vertices are removed


class CoresPlan(Plan):
    """A plan of core numbers, which are in the array ``degrees`` after ``run()``."""

    def result(self) -> NDArray[np.int32]:
        """Return the core number of each vertex, after ``run()``."""
        if not self.arrays:  # The graph has no vertices.
            return np.zeros(0, np.int32)
        degrees = self.arrays["degrees"]
        cores: NDArray[np.int32] = self.read((degrees, 0, degrees.size))[0]
        return cores


def check_simple(plan: Plan) -> Mapping[str, Any]:
    """Raise a :class:`GraphError` if the graph of *plan* has self-loops or parallel edges.

    Its rows are sorted.
    """
    program, graph = plan.program(CHECK), plan.problem.graph
    found = plan.session.zeros(program.constant("FOUND_WORDS"), np.uint32)
    scope = {**plan.scope, "found": found}
    program.bind("find_loops", graph.n_vertices, scope)()
    groups = _GROUPS_PER_UNIT * plan.session.facts.compute_units
    program.bind("find_repeats", graph.n_edges, scope, max_groups=groups)()
    words = found.get()
    if loop := int(words[program.constant("LOOPS")]):
        refuse_loops(loop - 1, graph)
    if repeat := int(words[program.constant("REPEATS")]):
        refuse_repeats(repeat - 1, graph)
    return {}


class Steps:
    """The step of a recipe that peels by a launch for each scan and wave, for devices without a grid barrier."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._n = plan, plan.scope["n"]
        program = plan.program(PEEL)
        self._is_done = program.constant("STATE_AT + 8")
        items = _GROUPS_PER_UNIT * plan.session.facts.compute_units * program.work_group_size
        self._step = program.bind("peel_step", items, plan.scope)

    def run(self) -> None:
        """Launch steps until all vertices are removed."""
        state = self._plan.arrays["state"]
        for _ in range(0, 4 * self._n + 9, _BATCH):  # as the kernel peel, which bounds its steps in the same way
            for _ in range(_BATCH):
                self._step()
            if state.item(self._is_done):
                return
        check_status(STATUS_STUCK, PEEL)
