"""The strategies of communities, each a function that returns its recipe."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.communities import prices
from clgraph.algorithms.communities.levels import GIANT, GROUP_SLOTS, long_row
from clgraph.algorithms.communities.multilevel import Multilevel
from clgraph.algorithms.communities.plan import CommunitiesPlan
from clgraph.algorithms.communities.problem import CommunitiesProblem
from clgraph.device.facts import DeviceFacts
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Recipe, Setting, Use
from clgraph.model.strategy import Strategy
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.session import Session

_NONE = np.zeros(1, np.int64)


def half_rounds(problem: CommunitiesProblem, facts: DeviceFacts) -> Recipe:
    """Rounds in which half of the active vertices move to their best communities; levels by contraction."""
    n = problem.graph.n_vertices
    return Recipe((Use(Multilevel),) if n else (), lambda: _setting(problem, facts))


def _setting(problem: CommunitiesProblem, facts: DeviceFacts) -> Setting:
    n, integers = problem.graph.n_vertices, problem.integers
    ints, longs = Array(n, np.int32), Array(n, np.int64)
    width = facts.sub_group_size
    most = 256 if width > 1 else 128  # Sub-groups of one lane need more local memory for a work-group.
    group = (1 if width == 1 else 2 * width) if facts.is_cpu else min(most, facts.max_work_group_size)
    rows = {} if facts.is_cpu else {"GROUP_SLOTS": GROUP_SLOTS, "GIANT": GIANT, "LONG_ROW": long_row(group // width)}
    in_sums = Array(n if integers.directed else 1, np.int64)
    arrays = {
        **dict.fromkeys(("final_labels", "targets", "previous", "active", "sizes", "groups", "group_sizes"), ints),
        **dict.fromkeys(("used", "members", "members_of", "entries_of", "counts"), ints),
        **dict.fromkeys(("numbers", "member_begins", "slot_begins"), Array(n + 1, np.int32)),
        **dict.fromkeys(("out_sums", "out_group_sums"), longs),
        **dict.fromkeys(("in_sums", "in_group_sums"), in_sums),
    }
    return Setting(
        arrays=arrays if n else {},
        values={"factor": integers.factor, "resolution": integers.resolution},
        defines={"WG_SIZE": group, "DIRECTED": int(integers.directed), "LOOP_FACTOR": integers.loop_factor, **rows},
        inputs={
            "row_offsets": lambda session: session.upload(integers.row_offsets),
            "column_indices": lambda session: _columns(session, problem),
            "out_strengths": lambda session: session.upload(integers.out_strengths),
            "in_strengths": lambda session: session.upload(integers.in_strengths if integers.directed else _NONE),
        },
    )


def _columns(session: Session, problem: CommunitiesProblem) -> Any:
    """Return the columns of level 0, which are the graph's own if it is undirected."""
    if problem.graph.directed:
        return session.upload(problem.integers.column_indices)
    return device_graph(session, problem.graph).column_indices


def _unsupported(facts: DeviceFacts) -> str | None:
    return None if facts.has_int64_atomics else "needs 64-bit atomics"


STRATEGIES: dict[str, Strategy] = {
    "half_rounds": planned("online", half_rounds, CommunitiesPlan, prices.half_rounds, _unsupported),
}


def contenders(_problem: CommunitiesProblem, _facts: DeviceFacts) -> tuple[str, ...]:
    """The strategies that auto weighs, by name."""
    return ("half_rounds",)
