"""The strategies of connected components, each a function that returns its recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.connected_components import prices
from clgraph.algorithms.connected_components.plan import ComponentsPlan, MatrixComponents
from clgraph.algorithms.connected_components.problem import ComponentsProblem
from clgraph.arguments import checked_count, checked_flag, shown
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import pattern, sequential, too_many_entries
from clgraph.engine.plan import Plan
from clgraph.engine.planned import planned
from clgraph.errors import InputError
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Step, Use
from clgraph.model.strategy import Strategy, Unchecked
from clgraph.primitives.fill import Fill

_MAX_STRIDES = 1 << 8
_PHASES = "connected_components/phases.cl"


def _recipe(
    problem: ComponentsProblem,
    *steps: Step,
    hook_first: bool,
    arrays: Callable[[], Mapping[str, Array]] = dict,
    **defines: int,
) -> Recipe:
    """Return the recipe of a components strategy: launches that initialise the union-find forest, and then *steps*.

    With *hook_first* each vertex starts hooked to its first neighbour, else as its own root.
    """
    graph = problem.graph
    n, hook_first = graph.n_vertices, hook_first and graph.n_edges > 0
    start = Phase(f"{_PHASES}:initialize", -(-n // 4))
    return Recipe((start, *steps) if n else (), lambda: Setting(
        arrays={
            "parent": Array(4 * -(-n // 4), np.int32),
            "second": Array(4 * -(-n // 4) if defines.get("KEEP_SECOND") else 1, np.int32), **arrays(),
        },
        values={"n": n, "m": graph.n_edges},
        defines={
            "SYMMETRIC": int(not graph.directed), "SORTED_ROWS": int(graph.has_sorted_rows),
            "HOOK_FIRST": int(hook_first), "FIRST_IS_LINKED": int(hook_first and not graph.directed),
            **defines,
        },
    ))  # fmt: skip


def _compress(problem: ComponentsProblem, kernel: str = "compress", max_groups: int | None = None) -> Phase:
    """Return the launch that flattens the union-find forest: it points every vertex at the root of its tree."""
    return Phase(f"{_PHASES}:{kernel}", -(-problem.graph.n_vertices // 4), max_groups=max_groups)


def hook_compress(problem: ComponentsProblem, _facts: DeviceFacts, *, hook_rounds: int = 1) -> Recipe:
    """Return the recipe of union-find with *hook_rounds* rounds without atomics, and one with.

    Each flattens the trees.
    """
    hook_rounds = checked_count("hook_rounds", hook_rounds, 2, least=0)
    n = problem.graph.n_vertices
    steps = [_compress(problem)] if hook_rounds else []
    for _ in range(1, hook_rounds):
        steps += [Phase("connected_components/hook_compress.cl:hook", n), _compress(problem)]
    steps += [Phase("connected_components/hook_compress.cl:hook_atomic", n), _compress(problem)]
    return _recipe(problem, *steps, hook_first=hook_rounds > 0)


def rem(problem: ComponentsProblem, facts: DeviceFacts, *, hook_rounds: int | None = None) -> Recipe:
    """Return the recipe of Rem's union-find algorithm, after *hook_rounds* (0 or 1) rounds of hooking without atomics.

    By default the number of rounds depends on the device and the graph.
    """
    if hook_rounds is None:
        hook_rounds = int(prices.rem_hooks_first(problem.stats, facts))
    hook_first = checked_count("hook_rounds", hook_rounds, 1, least=0) > 0
    unite = Phase("connected_components/rem.cl:unite", problem.graph.n_vertices)
    first = [_compress(problem)] if hook_first else []
    return _recipe(problem, *first, unite, _compress(problem), hook_first=hook_first)


def afforest(
    problem: ComponentsProblem,
    facts: DeviceFacts,
    *,
    strides: Sequence[int] | None = None,
    hook_steps: int | None = None,
    skip_giant: bool = True,
) -> Recipe:
    """Return the recipe of the Afforest algorithm.

    Its round k hooks every *strides*[k]-th vertex to its second neighbour.

    First hooks follow first neighbours for *hook_steps* steps. The defaults depend on the graph and the device. Rows of
    the giant component are read only if *skip_giant* is false.
    """
    stats, n, file = problem.stats, problem.stats.n_vertices, "connected_components/afforest.cl"
    if strides is None:
        strides = prices.sample_strides(stats)
    elif not isinstance(strides, Sequence) or isinstance(strides, (str, bytes)) or len(strides) > _MAX_STRIDES:
        raise InputError(f"strides = {shown(strides)}; allowed: a sequence of at most {_MAX_STRIDES} integers")
    else:
        strides = [checked_count("strides", stride, 2**20) for stride in strides]
    if hook_steps is None:
        hook_steps = 2 if prices.starts_as_one_tree(stats) and not facts.is_cpu else 1
    keeps_second = 1 in strides and stats.n_edges > 0

    def sample(stride: int) -> Phase:
        if stride == 1 and keeps_second:
            return Phase(f"{file}:hook_second", -(-n // 4))
        return Phase(f"{file}:hook_sample", -(-n // stride), values={"stride": stride})

    return _recipe(
        problem,
        *(step for stride in strides for step in (_compress(problem), sample(stride))),
        _compress(problem, "compress_and_find_giant"),
        Phase(f"{file}:link_rest", -(-n // 4)),
        _compress(problem, "compress_if_linked", max_groups=16 * facts.compute_units),
        hook_first=True,
        arrays=lambda: {"state": Array("STATE_WORDS", np.int32, zeroed=True)},
        HOOK_STEPS=checked_count("hook_steps", hook_steps, 64),
        KEEP_SECOND=int(keeps_second),
        **({} if checked_flag("skip_giant", skip_giant) else {"SKIP_SHARE": 101}),
    )


def degree_classes(problem: ComponentsProblem, facts: DeviceFacts, *, hook_rounds: int = 1) -> Recipe:
    """Return the recipe of components with a kernel for each class of degrees, after 0 or 1 rounds without atomics."""
    hook_first = checked_count("hook_rounds", hook_rounds, 1, least=0) > 0
    file, groups = "connected_components/degree_classes.cl", 8 * facts.compute_units

    def clear(plan: Plan) -> Fill:
        return Fill(plan.session, plan.arrays["size"], 0)

    return _recipe(
        problem,
        *([_compress(problem)] if hook_first else []),
        Use(clear),
        Phase(f"{file}:link_short", problem.graph.n_vertices),
        Phase(f"{file}:link_medium", 0, groups=groups),
        Phase(f"{file}:link_long", 0, groups=groups),
        _compress(problem),
        hook_first=hook_first,
        arrays=lambda: {"rows": Array(problem.graph.n_vertices, np.int32), "size": Array(2, np.uint32)},
    )


def _solve_on_host(problem: ComponentsProblem) -> tuple[int, NDArray[np.int32]]:
    # scipy's csgraph is imported inside the function, because the import takes 0.07 s.
    from scipy.sparse.csgraph import connected_components

    found: tuple[int, NDArray[np.int32]] = connected_components(pattern(problem.graph), directed=False)
    return found


STRATEGIES: dict[str, Strategy] = {
    "afforest": planned("online", afforest, ComponentsPlan, prices.afforest),
    "rem": planned(
        "online", rem, ComponentsPlan, prices.rem, unchecked=Unchecked(MatrixComponents, prices.matrix_rows)
    ),
    "hook_compress": planned("online", hook_compress, ComponentsPlan, prices.hook_compress),
    "degree_classes": planned("online", degree_classes, ComponentsPlan, prices.degree_classes),
    "host": sequential(_solve_on_host, prices.host, too_many_entries),
}


def contenders(_problem: ComponentsProblem, _facts: DeviceFacts) -> tuple[str, ...]:
    """Return the names of the components strategies that ``"auto"`` compares.

    The others run only if named, for studies.
    """
    return "afforest", "rem", "host"
