"""Levels of a communities search, and launches of kernels on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from clgraph.device.facts import DeviceFacts
from clgraph.primitives.scan import Scan
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch

MOVE, REFINE, CONTRACT, CLIMB = (f"communities/{name}.cl" for name in ("move", "refine", "contract", "climb"))
_GROUPS_A_UNIT = 8  # work-groups per compute unit; on CPUs each of their sub-groups has a hash table of its own
_CLIMBING_GROUPS_A_UNIT = 4  # the same for the kernel "climb", so that all its work-groups run at once
# A level with more entries, or more vertices, takes several launches for each round. More work-groups run then, and
# rounds of R-MAT 22 take 0.75 of the time on an H200.
MAX_CLIMBED = 1 << 22
# On CPUs one work-group climbs. Up to this many entries it takes less time than launches for all cores: on two cores of
# an EPYC 0.5 of the time for a mesh of 2^15 vertices, and 0.14 for a grid of 40 x 40.
MAX_CPU_CLIMBED = 1 << 16
_MIN_CPU_SHARE = 512  # Vertices of a work-group on a CPU. With fewer, starting it takes longer than its work.
GIANT = 4096  # On GPUs all work-groups share a group of vertices with more entries than this.
GROUP_SLOTS = 2048  # slots of hash tables in the local memory of a work-group


def max_climbed(facts: DeviceFacts) -> int:
    """Return the greatest number of vertices, and of entries, of a level from which one launch climbs.

    Without a grid barrier, a GPU does not climb, and the number is −1.
    """
    if facts.is_cpu:
        return MAX_CPU_CLIMBED
    return MAX_CLIMBED if facts.dialect.has_grid_barrier else -1


def long_row(sub_groups: int) -> int:
    """Return the number of entries above which a work-group of *sub_groups* shares a row, on GPUs."""
    return max(8, GROUP_SLOTS // sub_groups // 2)  # as in communities/rows.h


@dataclass
class Level:
    """A graph whose vertices are groups of the vertices of the level before."""

    n: int
    m: int
    longest: int  # greatest number of entries of a row; used on CPUs only
    arrays: dict[str, DeviceArray]  # keys: names of kernel parameters
    groups: DeviceArray | None = None  # the vertex of the next level to which each vertex belongs
    found: dict[str, Any] = field(default_factory=dict)


class Launches:
    """Launches of kernels on the current level, with the level's arrays as arguments."""

    def __init__(self, plan: Any) -> None:
        self.plan, self._session = plan, plan.session
        self._integers = plan.problem.integers
        self._launches: dict[str, Launch] = {}
        self._scans: dict[tuple[str, str], Scan] = {}
        facts = self._session.facts
        self._divides_rows = not facts.is_cpu
        self._max_climbed = max_climbed(facts)
        for source in (MOVE, REFINE, CONTRACT, *((CLIMB,) if self._max_climbed >= 0 else ())):
            plan.program(source)  # Compile the kernels now, so that no run waits for the compiler.
        program = plan.program(MOVE)
        self._constant: Callable[[str], int] = program.constant
        self._words, self._max_rounds = self._constant("ROUND_WORDS"), self._constant("MAX_ROUNDS")
        self._nothing = self._session.empty(1, np.int64)
        self._state = self._session.empty(self._words * self._max_rounds, np.int64)
        self._search = self._session.empty(self._constant("SEARCH_WORDS"), np.int64)
        self._sub_groups = program.work_group_size // facts.sub_group_size if program.work_group_size > 1 else 1
        self._zero = self._finest(plan)
        self._slots: dict[str, DeviceArray] = {}
        self._long = self._lists(self._zero.m if self._divides_rows else 0)
        out_sums = {f"in{name}": plan.arrays[f"out{name}"] for name in ("_sums", "_group_sums")}
        self._same = {} if self._integers.directed else out_sums
        self._on: Level | None = None

    def _finest(self, plan: Any) -> Level:
        """Return the level whose vertices are the user's."""
        names = "row_offsets", "column_indices", "out_strengths", "in_strengths"
        arrays = {name: plan.scope[name] for name in names}
        if not self._integers.directed:
            arrays["in_strengths"] = arrays["out_strengths"]
        weights = self._integers.weights
        arrays["entry_weights"] = self._nothing if weights is None else self._session.upload(weights)
        longest = int(np.diff(self._integers.row_offsets).max(initial=0))
        return Level(plan.problem.graph.n_vertices, self._integers.column_indices.size, longest, arrays)

    def _lists(self, m: int) -> dict[str, DeviceArray]:
        """Return the lists of rows that are processed by work-groups, in a level of *m* entries at most."""
        rows, hubs = m // long_row(self._sub_groups) + 1, m // GROUP_SLOTS + 1
        pieces = 2 * m // GROUP_SLOTS + hubs
        sizes = {
            **dict.fromkeys(("long_rows", "long_groups", "giants"), (rows, np.int32)), "long_begins": (rows, np.uint32),
            "n_long_rows": (4, np.uint32), "n_long_groups": (2, np.uint32), "hubs": (hubs, np.int32),
            **dict.fromkeys(("hub_begins", "hub_pieces"), (hubs, np.uint32)), "hub_own": (hubs, np.int64),
            "piece_hubs": (pieces, np.uint32), "piece_best": (3 * pieces, np.int64),
        }  # fmt: skip
        return {name: self._session.zeros(size, dtype) for name, (size, dtype) in sizes.items()}

    def _scan(self, source: str, target: str, n: int) -> None:
        """Write the sums of all earlier items of *source*, an array of the plan, to the first n + 1 items of *target*.

        On GPUs making a scan takes longer than scanning, so one scan of the whole array is kept. Further items do not
        change the sums of the first ones. Kept scans of parts of an array crash NVIDIA's driver 580.
        """
        arrays = self.plan.arrays
        if self._session.facts.is_cpu:
            Scan(self._session, arrays[source].view(0, n), arrays[target].view(0, n + 1)).run_checked()
            return
        if (source, target) not in self._scans:
            self._scans[source, target] = Scan(self._session, arrays[source], arrays[target])
        self._scans[source, target].run_checked()

    def _launch(self, source: str, kernel: str, items: int, **values: Any) -> None:
        """Launch *kernel* on the current level.

        Arrays in *values* replace arrays of the level and of the plan.
        """
        self._bound(source, kernel, items, **values)()

    def _bound(self, source: str, kernel: str, items: int, **values: Any) -> Callable[[], object]:
        """Return a function that launches *kernel* with these arguments, until the kernel is bound again."""
        launch, level = self._launches.get(kernel), self._on
        assert level is not None
        arrays = {
            **level.arrays, **self._slots, **self._same, **self._long, "state": self._state, "search": self._search,
        }  # fmt: skip
        numbers = {
            "n": level.n, "is_unit": int(level.arrays.get("entry_weights") is self._nothing),
            "row_room": 3 * level.longest,
        }  # fmt: skip
        for name, value in values.items():
            (arrays if isinstance(value, DeviceArray) else numbers)[name] = value
        if launch is None:
            program = self.plan.program(source)
            scope = {**self.plan.scope, **arrays, **numbers}
            launch = self._launches[kernel] = program.bind(kernel, 1, scope)
        else:
            launch.lend(arrays)
            launch.set(**{name: value for name, value in numbers.items() if launch.takes(name)})
        return partial(launch, self._groups(items, source == CLIMB))

    def _groups(self, items: int, climbs: bool = False) -> int:
        """Return the number of work-groups for *items*, of which each has the level's mean number of entries."""
        facts, level = self._session.facts, self._on
        program = self.plan.program(MOVE)
        size: int = program.work_group_size
        if facts.is_cpu and climbs:
            return 1  # CPUs have no barrier of the grid.
        most = _CLIMBING_GROUPS_A_UNIT * int(facts.compute_units) if climbs else self._most_groups()
        if facts.is_cpu:
            return max(1, min(most, -(-items // max(size, _MIN_CPU_SHARE))))
        lanes = max(items, level.m // program.constant("ENTRIES_A_LANE") if level is not None and items > 1 else 1)
        return max(1, min(most, -(-lanes // size)))

    def _most_groups(self) -> int:
        facts, level = self._session.facts, self._on
        most: int = _GROUPS_A_UNIT * facts.compute_units
        if facts.is_cpu and level is not None:
            # Long rows need large tables. Then fewer work-groups run, so that the tables fit.
            most = max(facts.compute_units, min(most, (1 << 24) // max(1, 3 * level.longest)))
        return most

    def _enter(self, level: Level) -> None:
        """Make *level* the current level, and reserve the slots of its tables, which are empty between rounds."""
        self._on = level
        slots = level.m
        if self._divides_rows:
            self._long["n_long_rows"].fill(0)
            self._launch(MOVE, "list_long_rows", level.n)
            if level is self._zero or level.n > GROUP_SLOTS:  # Only level 0 may have parallel entries.
                slots = max(slots, int(self._long["n_long_rows"].item(1)))
        else:
            slots = max(slots, 3 * level.longest * self._most_groups() * self._sub_groups)
        self._reserve(slots)

    def _reserve(self, slots: int) -> None:
        if not self._slots or self._slots["keys"].size < slots:
            self._session.check_memory({"tables": 12 * slots})
            self._slots = {
                "keys": self._session.empty(max(1, slots), np.int32),
                "weights": self._session.empty(max(1, slots), np.int64),
            }
            self._slots["keys"].fill(-1)
            self._slots["weights"].fill(0)
