"""Colour, find conflicts, colour the losers again: ``cl/coloring/speculative.cl`` tells how."""
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.coloring.orders import order_arguments, ranks
from clgraph.algorithms.coloring.problem import ColoringProblem
from clgraph.device.facts import DeviceFacts
from clgraph.primitives.compact import Compact
from clgraph.primitives.sort import Sort
from clgraph.primitives.types import tuned
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.failure import check_status
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

SOURCE = "coloring/speculative.cl"
_TUNED = {"WG_SIZE": 256, "SMALL_DEGREE": 64, "HUB_DEGREE": 4096, "GROUPS_PER_UNIT": 4, "LINGER": 100}
_CPU_GROUP = 64
_GOLDEN = 0.6180339887498949


def tile_stride(facts: DeviceFacts, n: int) -> int:
    """Return a step through the tiles of *n* vertices that meets every one, on GPUs none near those just before."""
    n_tiles = -(-n // facts.sub_group_size)
    step = 1 if facts.is_cpu else max(1, round(n_tiles * _GOLDEN))
    while math.gcd(step, n_tiles) > 1:
        step += 1
    return step


class Rounds(ABC):
    """A compiled and allocated run on one problem; ``run()`` may be called again.

    Attributes
    ----------
    colors : DeviceArray
        int32, after ``run()``.
    """

    two_buffers = False  # deterministic in any case

    def __init__(self, session: Session, problem: ColoringProblem) -> None:
        graph, facts = problem.graph, session.facts
        self.session, self.problem, self.n = session, problem, graph.n_vertices
        self.colors = session.empty(self.n, np.int32)
        self.details: dict[str, Any] = {}
        self.checked: list[Compact | Sort] = []
        self.launches: list[Any] = []
        if not self.n:
            return
        on_device = device_graph(session, graph)
        cpu = {"WG_SIZE": max(_CPU_GROUP, facts.sub_group_size)} if facts.is_cpu else None
        sizes = tuned(session, SOURCE, _TUNED, cpu)
        group, per_unit = sizes.pop("WG_SIZE"), sizes.pop("GROUPS_PER_UNIT")
        self.defines: dict[str, int | str] = {**on_device.defines(), **sizes}
        self.program = session.program(SOURCE, self.defines, work_group_size=group)
        self.order = problem.order or self.default_order()
        order = self.order or "largest_first"
        self._ranks = session.empty(self.n if order == "smallest_last" else 1, np.uint32)
        self.lists = [session.empty(self.n, np.int32) for _ in range(2)]
        n_words, self.sizes_at = map(self.program.constant, ("STATE_WORDS", "STATE_SIZES"))
        self.state = session.empty(n_words, np.uint32)
        self.tentative = session.empty(self.n, np.int32) if problem.deterministic or self.two_buffers else self.colors
        self.scope: dict[str, Any] = {
            **on_device.scope, **order_arguments(graph, order, problem.seed).scope(self.program),
            "n": self.n, "ranks": self._ranks, "tentative": self.tentative, "colors": self.colors, "state": self.state,
        }  # fmt: skip
        self.launches.append(self.program.bind("start", max(self.n, n_words), self.scope))
        hubs = self._find_hubs(sizes["HUB_DEGREE"])
        self.launches += self.first_colors(hubs)
        self.launches += self.first_check(hubs)
        if facts.dialect.has_grid_barrier:
            self.launches.append(self.program.bind(
                "rounds", self.n, self.scope, one_list=self.lists[0], other_list=self.lists[1],
                max_groups=per_unit * facts.compute_units,
            ))
            self._turns = []
        else:
            self._turns = [
                (self.assign(a), self._check(a, b)) for a, b in (self.lists, self.lists[::-1])
            ]

    def default_order(self) -> str | None:
        """Return the order of first colours; if ``None``, they are taken by number, and conflicts by degree."""
        return None

    @abstractmethod
    def first_colors(self, hubs: DeviceArray | None) -> list[Any]:
        """Return the launches that give every vertex its first colour."""

    def first_check(self, hubs: DeviceArray | None) -> list[Any]:
        """Return the launches that list those that must try again."""
        check = self._check(self.lists[1], self.lists[0], all_vertices=True)
        return [check] if hubs is None else [self._on_hubs("check", hubs, next=self.lists[0]), check]

    def _find_hubs(self, degree: int) -> DeviceArray | None:
        """Return a list of the vertices of more than this degree, found before anything else is launched."""
        n_hubs = int(np.count_nonzero(self.problem.graph.degrees > degree))
        if not n_hubs:
            return None
        hubs = self.session.empty(n_hubs, np.int32)
        compact = Compact(
            self.session, self.n, hubs, predicate=f"row_offsets[i + 1] - row_offsets[i] > {degree}",
            arrays={"row_offsets": self.scope["row_offsets"]},
        )
        self.checked.append(compact)
        self.launches.append(compact.run)
        return hubs

    def _on_hubs(self, kernel: str, hubs: DeviceArray, **arguments: Any) -> Launch:
        group = min(256, self.session.facts.max_work_group_size)
        program = self.session.program(SOURCE, {**self.defines, "GROUP_TEAM": 1}, work_group_size=group)
        return program.bind(kernel, hubs.size * group, self.scope, size=hubs.size, list=hubs, **arguments)

    def assign_hubs(self, hubs: DeviceArray) -> Launch:
        return self._on_hubs("assign", hubs)

    def assign(self, listed: DeviceArray, *, all_vertices: bool = False) -> Launch:
        """Bind the assignment of colours to the vertices of a list, or to all but hubs."""
        stride = tile_stride(self.session.facts, self.n) if all_vertices else 1
        return self.program.bind(
            "assign", self.n, self.scope, size=self.n, all=all_vertices, stride=stride, list=listed
        )

    def _check(self, listed: DeviceArray, losers: DeviceArray, *, all_vertices: bool = False) -> Launch:
        return self.program.bind(
            "check", self.n, self.scope, size=self.n, all=all_vertices, at=0, list=listed, next=losers
        )

    def run(self) -> None:
        """Colour the vertices; where the device has no barrier, the host asks after each round who is left."""
        if not self.n:
            return
        if self._ranks.size > 1:
            ranks(self.session, self.problem.graph, "smallest_last", self.problem.seed, self._ranks)
        for launch in self.launches:
            launch()
        if self._turns:
            self._run_turns()

    def _run_turns(self) -> None:
        size, turn, n_sizes = self.state.item(self.sizes_at), 0, self.program.constant("N_SIZES")
        self.details["conflicts"] = size
        while size:
            following = (turn + 1) % n_sizes
            at = self.sizes_at + following
            assign, check = self._turns[turn % 2]
            n_groups = -(-size // self.program.work_group_size)
            self.state.fill(0, at, at + 1)
            assign.set(size=size)
            check.set(size=size, at=following)
            assign(n_groups)
            check(n_groups)
            size, turn = self.state.item(at), turn + 1
        self.details["rounds"] = turn

    def result(self) -> NDArray[np.int32]:
        """Return the colours, after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        for plan in self.checked:
            plan.check()
        if self.n and not self._turns:
            state = self.state.get().tolist()
            status, conflicts, rounds = (
                state[self.program.constant(f"STATE_{word}")] for word in ("STATUS", "CONFLICTS", "ROUNDS")
            )
            check_status(status, "colouring")
            self.details |= {"conflicts": conflicts, "rounds": rounds}
        return self.colors.get()
