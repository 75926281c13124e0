"""The plan of strongly connected components on one device, and its steps that the host drives."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan
from clgraph.errors import DeviceMemoryError
from clgraph.model.recipe import Phase
from clgraph.primitives.fill import Fill
from clgraph.primitives.scan import Scan
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch

_FILES = "strongly_connected_components"
SEARCH, COLLECT, PROPAGATE, NUMBER = (f"{_FILES}/{name}.cl" for name in ("search", "collect", "propagate", "number"))
DEPTH_FIRST = f"{_FILES}/depth_first.cl"
MAX_EDGES = 2**32 - 2**16  # Numbers of edges in a list are uint32.
# Rounds or steps that the host enqueues before it reads whether more are needed, if the device has no grid barrier.
_BATCH = 8


class StrongPlan(Plan):
    """A plan of strongly connected components on one device."""

    @cached_property
    def _numbering(self) -> tuple[Launch, Launch, Scan, Launch, DeviceArray]:
        """The launches that number the components by their smallest vertices, and the array of the numbers."""
        n, program = self.setting.values["n"], self.program(NUMBER)
        numbers, rank = self.session.empty(n + 1, np.int32), self.session.empty(n + 1, np.int32)
        groups = {"max_groups": 16 * self.session.facts.compute_units}
        find = program.bind("find_least", n, self.scope, **groups)
        mark = program.bind("mark_least", n, self.scope, is_first=numbers, **groups)
        look_up = program.bind("number_components", n, self.scope, rank=rank, numbers=numbers, **groups)
        return find, mark, Scan(self.session, numbers, rank), look_up, numbers

    def _number_components(self) -> tuple[Scan, DeviceArray]:
        find, mark, scan, look_up, numbers = self._numbering
        find()
        mark()
        scan.run()
        look_up()
        return scan, numbers

    def result(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of components, and the number of each vertex's component, after ``run()``."""
        if not self.arrays:  # The graph has no vertices.
            return 0, np.zeros(0, np.int32)
        scan, numbers = self._number_components()
        found, *status = self.read((numbers, 0, numbers.size), *scan.statuses())
        scan.check(status)
        return int(found[-1]), found[:-1]

    def on_device(self) -> tuple[int, DeviceArray]:
        """Return the same as :meth:`result`, with the numbers in an array on the device."""
        if not self.arrays:
            return 0, self.session.empty(0, np.int32)
        scan, numbers = self._number_components()
        n = numbers.size - 1
        count, *status = self.read((numbers, n, n + 1), *scan.statuses())
        scan.check(status)
        return int(count[0]), numbers.view(0, n)


class DepthFirstPlan(Plan):
    """A plan of the search in one work-item, which numbers the components itself."""

    def result(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of components, and the number of each vertex's component, after ``run()``."""
        if not self.arrays:  # The graph has no vertices.
            return 0, np.zeros(0, np.int32)
        count, labels = self.read((self.arrays["count"], 0, 1), (self.arrays["labels"], 0, self.setting.values["n"]))
        return int(count[0]), labels

    def on_device(self) -> tuple[int, DeviceArray]:
        """Return the same as :meth:`result`, with the numbers in an array on the device."""
        if not self.arrays:
            return 0, self.session.empty(0, np.int32)
        (count,) = self.read((self.arrays["count"], 0, 1))
        return int(count[0]), self.arrays["labels"].view(0, self.setting.values["n"])


class Rounds:
    """The step that launches a kernel whose rounds go on until it says that no more are needed.

    On a device with a grid barrier, one launch makes all rounds. On others, each launch makes one round, and the host
    reads a word after some of them.

    Parameters
    ----------
    plan : Plan
    phase : Phase
        The launch; the kernel has the parameters ``first`` and ``last``.
    most : int
        Greatest number of rounds.
    """

    def __init__(self, plan: Plan, phase: Phase, most: int) -> None:
        self._plan, self._most = plan, most
        self._launch = plan.bound(phase)
        self._is_one_launch = plan.session.facts.dialect.has_grid_barrier

    def lend(self, arrays: dict[str, DeviceArray]) -> None:
        self._launch.lend(arrays)

    def run(self) -> None:
        if self._is_one_launch:
            self._launch.set(first=1, last=self._most)
            self._launch()
            return
        for first in range(1, self._most + 1, _BATCH):
            last = min(first + _BATCH - 1, self._most)
            for number in range(first, last + 1):
                self._launch.set(first=number, last=number)
                self._launch()
            if self._is_done(last):
                return

    def _is_done(self, last: int) -> bool:
        raise NotImplementedError


class Search(Rounds):
    """The forward and backward search, cut off after *most* rounds."""

    def __init__(self, plan: Plan, most: int, groups: int) -> None:
        values = {"first": 1, "last": 1}
        super().__init__(plan, Phase(f"{SEARCH}:search", 0, values, groups=groups, status=_status("SEARCH")), most)
        self._found = plan.program(SEARCH).constant("SEARCH_FOUND")

    def _is_done(self, last: int) -> bool:
        return bool(self._plan.arrays["control"].item(self._found) < last)


class Propagation(Rounds):
    """The step that lists the live edges, and finds the components among them.

    The list has room for the edges that the search has left, or for all edges if there was no search.
    """

    def __init__(self, plan: Plan, *, searched: bool, groups: int, collect_groups: int) -> None:
        self._room, self._searched = 0, searched
        plan.scope |= {name: plan.session.empty(2, np.int32) for name in ("edges", "other_edges")}
        plan.scope["chunks"] = plan.session.empty(1, np.uint32)
        self._collect = plan.bound(Phase(f"{COLLECT}:collect", 0, groups=collect_groups))
        constant = plan.program(PROPAGATE).constant
        phase = Phase(f"{PROPAGATE}:propagate", 0, {"first": 1, "last": 1}, groups=groups, status=_status("PROPAGATE"))
        super().__init__(plan, phase, constant("MAX_STEPS"))
        self._state, self._done, self._mask = constant("STEP_STATE"), constant("DONE"), constant("PHASE_MASK")
        self._bound, self._block_edges = constant("BOUND_LOW"), constant("BLOCK_EDGES")
        self._slots = constant("SUB_GROUPS_PER_GROUP * SLOTS")  # slots for the chunks of a block of edges

    def run(self) -> None:
        bound = self._plan.problem.graph.n_edges
        if self._searched:
            low, high = self._plan.arrays["control"].get(self._bound, self._bound + 2).tolist()
            bound = low + (high << 16)
        if not bound:
            return
        self._reserve(bound)
        self._collect()
        super().run()

    def _reserve(self, bound: int) -> None:
        if bound <= self._room:
            return
        if bound > MAX_EDGES:
            raise DeviceMemoryError(f"{bound:,} edges are left to be listed; a list has room for {MAX_EDGES:,}")
        session, n_slots = self._plan.session, self._slots * -(-bound // self._block_edges)
        session.check_memory({"edges": 8 * bound, "other edges": 8 * bound, "chunks": 4 * n_slots})
        arrays = {name: session.empty(2 * bound, np.int32) for name in ("edges", "other_edges")}
        arrays["chunks"] = session.empty(n_slots, np.uint32)
        self._collect.lend(arrays)
        self.lend(arrays)
        self._room = bound

    def _is_done(self, last: int) -> bool:
        return bool(self._plan.arrays["control"].item(self._state + (last & 1)) & self._mask == self._done)


def _status(grid: str) -> str:
    return f"control[{grid}_GRID + GRID_STATUS]"


def clear_control(plan: Plan) -> Fill:
    """Return the step that clears the array ``control``."""
    return Fill(plan.session, plan.arrays["control"], 0)
