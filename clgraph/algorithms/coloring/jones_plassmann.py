"""Greedy colouring in a given order, in parallel; ``cl/coloring/jones_plassmann.cl`` tells how."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.coloring.orders import PHASE_SIZE, SHORT_ROW, order_arguments, ranks, suitable_order
from clgraph.algorithms.coloring.problem import ColoringProblem
from clgraph.primitives.compact import Compact
from clgraph.primitives.sort import Sort
from clgraph.primitives.types import tuned
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.failure import check_status
from clgraph.runtime.session import Session

_SOURCE, _LARGE_SOURCE = "coloring/jones_plassmann.cl", "coloring/jones_plassmann_large.cl"
_TUNED = {"WG_SIZE": 256, "SMALL_DEGREE": 30, "WIDE_DEGREE": SHORT_ROW, "GROUPS_PER_UNIT": 4, "LINGER": 100}
_TUNED_LARGE = {"WG_SIZE": 256, "HUB_DEGREE": 1024, "GROUPS_PER_UNIT": 4, "LINGER": 100}
_BY_ORDER = {  # where groups run together
    "marked": {"MARKED": 1, "MOST_OPEN": 24, "BATCH": 3},
    "largest_first": {"SORTED": 1, "MOST_OPEN": 16, "GROUPS_PER_UNIT": 2, "BATCH": 8},
    "interleaved": {"RETRIES": 8},
}
_WIDE_RETRIES = 100
_PASSES = 4  # of a launch, where groups may not wait for each other


class JonesPlassmann:
    """A compiled and allocated run on one problem; ``run()`` may be called again.

    Attributes
    ----------
    colors : DeviceArray
        int32, after ``run()``.
    """

    def __init__(self, session: Session, problem: ColoringProblem) -> None:
        graph, order = problem.graph, problem.order or suitable_order(problem.graph)
        n, facts = graph.n_vertices, session.facts
        self.session, self._problem = session, problem
        self.colors = session.empty(n, np.int32)
        self.details: dict[str, Any] = {"order": order}
        self._launches: list[Any] = []
        self._plans: list[Compact | Sort] = []
        self._ranks = session.empty(n if order == "smallest_last" else 1, np.uint32)
        self._ranks_given = order == "smallest_last"
        if not n:
            return
        on_device = device_graph(session, graph)
        self._together = facts.dialect.has_grid_barrier
        largest = int(graph.degrees.max())
        self._order = order_arguments(graph, order, problem.seed)
        few = self._order.tells_only_many
        given: dict[str, Any] = {}
        defaults = {**_TUNED, **_BY_ORDER.get("marked" if few else order, {})}
        if not self._together:
            given = {"WG_SIZE": facts.sub_group_size, "PASSES": _PASSES}
            defaults = {**_TUNED, "GROUPS_PER_UNIT": 1, "WIDE_DEGREE": 40}
        sizes = tuned(session, _SOURCE, defaults, given)
        group, groups_per_unit, wide_degree = (sizes.pop(k) for k in ("WG_SIZE", "GROUPS_PER_UNIT", "WIDE_DEGREE"))
        if few:  # those of more entries would be coloured before all others, which is not the order
            sizes["SMALL_DEGREE"] = max(largest, sizes["SMALL_DEGREE"])
        least = sizes["SMALL_DEGREE"] + 1
        if order != "largest_first" and largest >= least:  # nor is it here
            least = 0
            if largest <= wide_degree:
                sizes |= {"WIDE": 1, "SMALL_DEGREE": wide_degree, "RETRIES": _WIDE_RETRIES}
                least = wide_degree + 1
        if order == "natural":  # waits from neighbour to neighbour, which only those in the right order end soon
            least = 0
        n_large = int(np.count_nonzero(graph.degrees >= least))
        is_ranked = self._ranks_given or n_large > 0 or (order == "largest_first" and "MARKED" not in sizes)
        self._program = session.program(
            _SOURCE, {**on_device.defines(), **sizes, "RANKED": int(is_ranked), "ORDER": self._order.number},
            work_group_size=group,
        )
        self._n_groups = groups_per_unit * facts.compute_units
        self._lists_first = bool(sizes.get("SORTED") or sizes.get("MARKED"))
        words = session.empty(2 * n if is_ranked else self._order.n_places, np.uint32)
        constant = self._program.constant
        self._controls = session.zeros(constant("CONTROL_WORDS"), np.uint32)
        self._scope: dict[str, Any] = {
            **on_device.scope, **self._order.scope(self._program), "n": n, "words": words, "states": words,
            "colors": self.colors, "controls": self._controls,
        }  # fmt: skip
        self._launches.append(self._program.bind(
            "prepare", max(-(-n // constant("PREPARE_STEPS")), self._controls.size), self._scope,
            are_given=self._ranks_given, given=self._ranks,
        ))
        if n_large:
            self._add_large(n_large, least)
        if n_large < n:
            self._add_small()

    def _add_large(self, n_large: int, least_degree: int) -> None:
        session, n, m = self.session, self.colors.size, self._problem.graph.n_edges
        graph, facts = self._problem.graph, session.facts
        given = {} if self._together else {"WG_SIZE": facts.sub_group_size}
        sizes = tuned(session, _LARGE_SOURCE, _TUNED_LARGE, given)
        group, groups_per_unit, hub_degree = (sizes.pop(k) for k in ("WG_SIZE", "GROUPS_PER_UNIT", "HUB_DEGREE"))
        n_hubs = int(np.count_nonzero(graph.degrees >= hub_degree)) if least_degree else 0
        defines = {**device_graph(session, graph).defines(), **sizes}
        program = session.program(_LARGE_SOURCE, defines, work_group_size=group)
        listed, order, keys, keys_in_order = (
            session.empty(n_large, kind) for kind in (np.int32, np.int32, np.uint32, np.uint32)
        )
        compact = Compact(
            session, n, listed, predicate=f"row_offsets[i + 1] - row_offsets[i] >= {least_degree}",
            arrays={"row_offsets": self._scope["row_offsets"]},
        )
        sort = Sort(session, keys, keys_in_order, listed, order)
        scope = {
            **self._scope, "n_large": n_large, "n_hubs": n_hubs, "order": order, "before": session.empty(m, np.int32),
            "n_before": session.empty(n_hubs, np.uint32), "control": self._controls,
        }  # fmt: skip
        self._plans += [compact, sort]
        self._launches += [
            compact.run,
            program.bind("sort_keys", n_large, scope, listed=listed, keys=keys),
            sort.run,
        ]
        if n_hubs:
            self._launches.append(program.bind("list_hubs", n_hubs * program.work_group_size, scope))
        n_items = n_large * facts.sub_group_size if self._together else 1
        self._launches.append(program.bind(
            "color_large", n_items, scope, bitmaps=session.empty((m >> 5) + n + 1, np.uint32),
            max_groups=groups_per_unit * facts.compute_units,
        ))

    def _add_small(self) -> None:
        session, order, width = self.session, self._order, self.session.facts.sub_group_size
        group = self._program.work_group_size
        # As many groups as leave each sub-group as many pieces of a turn, or one less.
        blocks = np.argsort(order.arrivals(self.colors.size)).astype(np.uint32)
        pieces = -(-blocks.size * PHASE_SIZE // width)
        blocks = np.pad(blocks, (0, -(-pieces * width // PHASE_SIZE) - blocks.size), constant_values=blocks.size)
        rounds = -(-pieces * width // (self._n_groups * group))
        n_items = -(-pieces // rounds) * width
        room = order.n_turns * pieces * width + (0 if self._together else self._n_groups * group)
        self._small = self._program.bind(
            "color_small", n_items, self._scope, again=0, blocks=session.upload(blocks),
            queues=session.empty(4 * room, np.uint32), lists=session.empty(room if self._lists_first else 1, np.uint32),
            sizes=session.empty(2 * self._n_groups * group // width, np.uint32), max_groups=self._n_groups,
        )
        self._launches.append(self._small if self._together else self._color_small)

    def _color_small(self) -> None:
        """Launch until no vertex is open, or a wait ran out."""
        self._small.set(again=0)
        self._small()
        self._small.set(again=1)
        ticket = self._program.constant("CONTROL_SMALL") + self._program.constant("GRID_TICKET")
        while self._checked_controls()[ticket]:
            self._controls.fill(0, ticket, ticket + 1)
            self._small()

    def run(self) -> None:
        """Colour the vertices; on GPUs only for ``smallest_last`` something is read back."""
        if self._ranks_given:
            ranks(self.session, self._problem.graph, "smallest_last", self._problem.seed, self._ranks)
        for launch in self._launches:
            launch()

    def result(self) -> NDArray[np.int32]:
        """Return the colours, after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        for plan in self._plans:
            plan.check()
        if self.colors.size:
            self._checked_controls()
        return self.colors.get()

    def _checked_controls(self) -> NDArray[np.uint32]:
        """Return what the kernels say of their ends; raise if a wait ran out."""
        controls: NDArray[np.uint32] = self._controls.get()
        constant = self._program.constant
        for control in (0, constant("CONTROL_SMALL")):
            check_status(int(controls[control + constant("GRID_STATUS")]), "colouring")
        return controls
