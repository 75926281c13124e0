"""The strategies of connected components, each a function that returns its recipe."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from clgraph.algorithms.components import host, work
from clgraph.algorithms.components.matrix import MatrixComponents
from clgraph.algorithms.components.plan import ComponentsPlan
from clgraph.algorithms.components.problem import ComponentsProblem
from clgraph.arguments import checked_count, shown
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import sequential, too_many_entries
from clgraph.engine.plan import Plan
from clgraph.engine.planned import planned
from clgraph.engine.problem import shared
from clgraph.errors import InputError
from clgraph.model.cost import Work
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Step, Use
from clgraph.model.strategy import Strategy, Unchecked
from clgraph.primitives.fill import Fill

_MOST_STRIDES = 1 << 8
_PHASES = "components/phases.cl"


def _recipe(
    problem: ComponentsProblem, facts: DeviceFacts, *steps: Step, hook_first: bool,
    arrays: Callable[[], Mapping[str, Array]] = dict, hook_steps: int = 1, **defines: int,
) -> Recipe:
    """Return the recipe of *steps* after the start, which hooks every vertex to its first neighbour if wanted."""
    graph = problem.graph
    n, hook_first = graph.n_vertices, hook_first and graph.n_edges > 0
    start = _start(problem, facts, hook_steps if hook_first else 0)
    return Recipe((start, *steps) if n else (), lambda: Setting(
        arrays={
            "parent": Array(4 * -(-n // 4), np.int32),
            "second": Array(4 * -(-n // 4) if defines.get("KEEP_SECOND") else 1, np.int32), **arrays(),
        },
        values={"n": n, "m": graph.n_edges},
        defines={
            "SYMMETRIC": int(not graph.directed), "SORTED_ROWS": int(graph.has_sorted_rows),
            "HOOK_FIRST": int(hook_first), "FIRST_IS_LINKED": int(hook_first and not graph.directed),
            **({"HOOK_STEPS": hook_steps} if hook_steps > 1 else {}), **defines,
        },
    ))  # fmt: skip


@shared
def _start(problem: ComponentsProblem, facts: DeviceFacts, hook_steps: int) -> Phase:
    stats = problem.stats
    hooked = work.initialize(stats, facts, hook_steps) if hook_steps else Work(streamed_bytes=4.0 * stats.n_vertices)
    return Phase(f"{_PHASES}:initialize", -(-stats.n_vertices // 4), hooked)


@shared
def _compress(problem: ComponentsProblem, facts: DeviceFacts, after: str) -> Phase:
    """*after* first "hooks" trees are deep, as after some "unions"; a "sample" has hooked roots to others."""
    asked = work.compress(problem.stats, facts, first=after == "hooks", sampled=after == "sample")
    return Phase(f"{_PHASES}:compress", -(-problem.stats.n_vertices // 4), asked)


@shared
def _link(problem: ComponentsProblem, facts: DeviceFacts) -> Work:
    """Return the work of linking what first hooks have left, by walks to the roots."""
    return work.link(problem.stats, facts, work.n_trees(problem.stats), walks=4.0)


def hook_compress(problem: ComponentsProblem, facts: DeviceFacts, *, hook_rounds: int = 1) -> Recipe:
    """*hook_rounds* rounds without atomics, each followed by compressing, before the atomic one."""
    hook_rounds = checked_count("hook_rounds", hook_rounds, 2, least=0)
    n, link = problem.stats.n_vertices, _link(problem, facts)
    deep = hook_rounds > 0 and work.hooks_deeply(problem.stats)
    steps = [_compress(problem, facts, "hooks")] if hook_rounds else []
    for _ in range(1, hook_rounds):
        steps += [Phase("components/hook_compress.cl:hook", n, link), _compress(problem, facts, "unions")]
    last = _compress(problem, facts, "hooks" if deep else "unions")
    steps += [Phase("components/hook_compress.cl:hook_atomic", n, link), last]
    return _recipe(problem, facts, *steps, hook_first=hook_rounds > 0)


def rem(problem: ComponentsProblem, facts: DeviceFacts, *, hook_rounds: int | None = None) -> Recipe:
    """*hook_rounds*: 0 or 1 rounds of hooking without atomics first; the default is for the device and graph."""
    stats = problem.stats
    if hook_rounds is None:
        hook_rounds = int(work.rem_hooks_first(stats, facts))
    hook_first = checked_count("hook_rounds", hook_rounds, 1, least=0) > 0
    trees = work.n_trees(stats) if hook_first else stats.n_vertices - stats.n_isolated
    unite = Phase("components/rem.cl:unite", stats.n_vertices, work.link(stats, facts, trees))
    first = [_compress(problem, facts, "hooks")] if hook_first else []
    deep = work.hooks_deeply(stats) if hook_first else work.splices_deeply(stats)
    last = _compress(problem, facts, "hooks" if deep else "unions")
    return _recipe(problem, facts, *first, unite, last, hook_first=hook_first)


def afforest(
    problem: ComponentsProblem, facts: DeviceFacts, *, strides: Sequence[int] | None = None,
    hook_steps: int | None = None,
) -> Recipe:
    """Round k hooks every *strides*[k]-th vertex to its second neighbour; defaults from the statistics."""
    stats, n, file = problem.stats, problem.stats.n_vertices, "components/afforest.cl"
    if strides is None:
        strides = work.sample_strides(stats)
    elif not isinstance(strides, Sequence) or isinstance(strides, (str, bytes)) or len(strides) > _MOST_STRIDES:
        raise InputError(f"strides = {shown(strides)}; allowed: a sequence of at most {_MOST_STRIDES} integers")
    else:
        strides = [checked_count("strides", stride, 2**20) for stride in strides]
    if hook_steps is None:
        hook_steps = 2 if work.starts_as_one_tree(stats) and not facts.is_cpu else 1
    keeps_second, outside = 1 in strides and stats.n_edges > 0, work.outside_share(stats)

    def sample(stride: int) -> Phase:
        asked = work.sample(stats, stride, keeps_second)
        if stride == 1 and keeps_second:
            return Phase(f"{file}:hook_second", -(-n // 4), asked)
        return Phase(f"{file}:hook_sample", -(-n // stride), asked, {"stride": stride})

    def compress(k: int) -> Phase:
        phase = _compress(problem, facts, "sample" if k else "hooks")
        return phase if k < len(strides) else Phase(f"{_PHASES}:compress_and_find_giant", phase.items, phase.work)

    return _recipe(
        problem,
        facts,
        *(step for k, stride in enumerate(strides) for step in (compress(k), sample(stride))),
        compress(len(strides)),
        Phase(f"{file}:link_rest", -(-n // 4), work.link_rest(stats, facts, outside)),
        Phase(
            f"{_PHASES}:compress_if_linked", -(-n // 4),
            _compress(problem, facts, "unions").work if outside else Work(),
            max_groups=16 * facts.compute_units,
        ),
        hook_first=True,
        arrays=lambda: {"state": Array("STATE_WORDS", np.int32, zeroed=True)},
        hook_steps=checked_count("hook_steps", hook_steps, 64),
        KEEP_SECOND=int(keeps_second),
    )


def degree_classes(problem: ComponentsProblem, facts: DeviceFacts, *, hook_rounds: int = 1) -> Recipe:
    """*hook_rounds*: 0 or 1 rounds of hooking without atomics first."""
    hook_first = checked_count("hook_rounds", hook_rounds, 1, least=0) > 0
    stats, file, groups = problem.stats, "components/degree_classes.cl", 8 * facts.compute_units

    def clear(plan: Plan) -> Fill:
        return Fill(plan.session, plan.arrays["size"], 0)

    return _recipe(
        problem,
        facts,
        *([_compress(problem, facts, "hooks")] if hook_first else []),
        Use(clear, Work(launches=1.0)),
        Phase(f"{file}:link_short", stats.n_vertices, _link(problem, facts)),
        Phase(f"{file}:link_medium", 0, work.relist(stats, facts), groups=groups),
        Phase(f"{file}:link_long", 0, groups=groups),
        _compress(problem, facts, "hooks" if hook_first and work.hooks_deeply(stats) else "unions"),
        hook_first=hook_first,
        arrays=lambda: {"rows": Array(stats.n_vertices, np.int32), "size": Array(2, np.uint32)},
    )


STRATEGIES: dict[str, Strategy] = {
    "afforest": planned("online", afforest, ComponentsPlan),
    "rem": replace(planned("online", rem, ComponentsPlan), unchecked=Unchecked(MatrixComponents, work.matrix_rows)),
    "hook_compress": planned("online", hook_compress, ComponentsPlan),
    "degree_classes": planned("online", degree_classes, ComponentsPlan),
    "host": sequential(host.solve, host.work, too_many_entries),
}


def contenders(_problem: ComponentsProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """``degree_classes`` is of a study; ``hook_compress`` wins on GPUs only."""
    return ("afforest", "rem", "host") if facts.is_cpu else ("afforest", "rem", "hook_compress", "host")
