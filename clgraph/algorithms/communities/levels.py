"""Levels of a communities search, and launches of kernels on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch

MOVE, REFINE, CONTRACT = (f"communities/{name}.cl" for name in ("move", "refine", "contract"))
_GROUPS_A_UNIT = 8  # work-groups per compute unit; on CPUs each has a hash table of its own
# kernels in which the lanes of a sub-group share a vertex
_TEAM_KERNELS = frozenset(
    ("measure_rows", "decide", "measure_moves", "choose_group", "insert_members", "write_rows", "link_inside")
)
# On GPUs a work-group processes a row of more entries than this, and a sub-group a shorter one.
_LONG_ROW = 256
_ANY_LENGTH = 2**32 - 1
_BY_GROUPS = {"GROUP_TEAM": 1}


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
        self._divides_rows = not plan.session.facts.is_cpu
        for source in (MOVE, REFINE, CONTRACT):  # Compile the kernels now, so that no run waits for the compiler.
            plan.program(source)
            if self._divides_rows:
                plan.program(source, _BY_GROUPS)
        self._constant: Callable[[str], int] = plan.program(MOVE).constant
        self._words, self._max_rounds = self._constant("ROUND_WORDS"), self._constant("MAX_ROUNDS")
        self._nothing = self._session.empty(1, np.int64)
        self._state = self._session.empty(self._words * self._max_rounds, np.int64)
        facts = self._session.facts
        program = plan.program(MOVE)
        self._teams_a_group = program.work_group_size // facts.sub_group_size if program.work_group_size > 1 else 1
        n, m = plan.problem.graph.n_vertices, self._integers.column_indices.size
        names = "row_offsets", "column_indices", "out_strengths", "in_strengths"
        arrays = {name: plan.scope[name] for name in names}
        if not self._integers.directed:
            arrays["in_strengths"] = arrays["out_strengths"]
        weights = self._integers.weights
        arrays["entry_weights"] = self._nothing if weights is None else self._session.upload(weights)
        longest = int(np.diff(self._integers.row_offsets).max(initial=0))
        self._zero = Level(n, m, longest, arrays)
        self._slots: dict[str, DeviceArray] = {}
        room = m // _LONG_ROW + 1 if self._divides_rows else 1
        self._long = {
            "long_rows": self._session.empty(room, np.int32),
            "n_long_rows": self._session.zeros(1, np.uint32),
        }
        self._n_long_rows = 0
        out_sums = {f"in{name}": plan.arrays[f"out{name}"] for name in ("_sums", "_group_sums")}
        self._same = {} if self._integers.directed else out_sums
        self._on: Level | None = None

    def _launch_on_rows(self, source: str, kernel: str, items: int, **values: Any) -> None:
        """Launch *kernel*, which has rows of very different lengths: on GPUs first on short rows, then on long ones."""
        self._launch(source, kernel, items, **values)
        if self._n_long_rows:
            self._launch(source, kernel, items, by_groups=True, **values)

    def _list_long_rows(self, n: int, offsets: DeviceArray) -> None:
        """List those of *n* rows that work-groups are to process. The rows begin at *offsets*."""
        if self._divides_rows:
            self._long["n_long_rows"].fill(0)
            self._launch(MOVE, "list_long_rows", n, n=n, row_offsets=offsets)
            self._n_long_rows = int(self._long["n_long_rows"].item(0))

    def _launch(self, source: str, kernel: str, items: int, *, by_groups: bool = False, **values: Any) -> None:
        """Launch *kernel* on the current level. Arrays in *values* replace arrays of the level and of the plan.

        With *by_groups*, a work-group processes a row, and only long rows are processed.
        """
        key = f"{kernel} by groups" if by_groups else kernel
        launch, level = self._launches.get(key), self._on
        assert level is not None
        arrays = {**level.arrays, **self._slots, **self._same, **self._long, "state": self._state}
        numbers = {
            "n": level.n, "is_unit": int(level.arrays["entry_weights"] is self._nothing),
            "long_row": _LONG_ROW if self._divides_rows else _ANY_LENGTH,
        }  # fmt: skip
        for name, value in values.items():
            (arrays if isinstance(value, DeviceArray) else numbers)[name] = value
        if launch is None:
            program = self.plan.program(source, _BY_GROUPS if by_groups else {})
            scope = {**self.plan.scope, **arrays, **numbers}
            launch = self._launches[key] = program.bind(kernel, 1, scope)
        else:
            launch.lend(arrays)
            launch.set(**{name: value for name, value in numbers.items() if launch.takes(name)})
        n_groups = self._groups(items, kernel in _TEAM_KERNELS)
        launch(min(self._n_long_rows, self._most_groups()) if by_groups else n_groups)

    def _groups(self, items: int, by_teams: bool) -> int:
        facts, size = self._session.facts, self.plan.program(MOVE).work_group_size
        each = self._teams_a_group * self._constant("BLOCK") if by_teams else max(size, 2048 if facts.is_cpu else size)
        return max(1, min(self._most_groups(), -(-items // each)))

    def _most_groups(self) -> int:
        facts, level = self._session.facts, self._on
        most: int = _GROUPS_A_UNIT * facts.compute_units
        if facts.is_cpu and level is not None:
            # Long rows need large tables. Then fewer work-groups run, so that the tables fit.
            most = max(facts.compute_units, min(most, (1 << 24) // max(1, 2 * level.longest)))
        return most

    def _enter(self, level: Level) -> None:
        """Make *level* the current level, and reserve the slots of its tables."""
        self._on = level
        slots = level.m
        if self._session.facts.is_cpu:
            slots = max(slots, 2 * level.longest * self._most_groups() * self._teams_a_group)
        if not self._slots or self._slots["keys"].size < slots:
            self._session.check_memory({"tables": 12 * slots})
            self._slots = {
                "keys": self._session.empty(max(1, slots), np.int32),
                "weights": self._session.empty(max(1, slots), np.int64),
            }
        self._list_long_rows(level.n, level.arrays["row_offsets"])
