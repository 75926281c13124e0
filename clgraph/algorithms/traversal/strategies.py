"""Search strategies that work in rounds over all vertices: baselines for breadth-first search and shortest paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal import prices
from clgraph.algorithms.traversal.plan import Rounds, SearchPlan
from clgraph.algorithms.traversal.predecessors import Predecessors
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.arguments import checked_count, checked_flag, shown
from clgraph.data.graphs.graph import Graph
from clgraph.device.facts import DeviceFacts
from clgraph.engine.plan import Plan
from clgraph.engine.planned import planned
from clgraph.errors import InputError
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Step, Use
from clgraph.model.strategy import Strategy
from clgraph.primitives.scan import Scan
from clgraph.runtime.session import Session

_PLAIN, _SPLIT, _CHILD = (f"traversal/{name}.cl" for name in ("topology_driven", "node_splitting", "child_launch"))
_PIECE = 256  # Edges per piece of a long row. A sub-group relaxes the edges of one piece.
_MAX_PARTS = 2**31 - 2**12  # Kernels number the parts of split vertices with int, so there are less than 2^31 parts.
_BUCKETS = 10  # The histogram of vertex degrees has this number of buckets.


def search_recipe(problem: SearchProblem, own: Callable[[], Setting], *steps: Step) -> Recipe:
    """Return the recipe of a search: it runs *steps*, and then finds the predecessors if the problem asks for them.

    ``own()`` returns the arrays and values of the steps. The arrays and values that all searches need are added.
    """
    n = problem.graph.n_vertices
    if problem.predecessors:
        steps = *steps, Use(Predecessors)

    def setting() -> Setting:
        given, limit = own(), problem.held.limit(problem.limit)
        return replace(
            given,
            arrays={**given.arrays, **({"predecessors": Array(n, np.int32)} if problem.predecessors else {})},
            values={"n": n, "n_sources": problem.sources.size, "limit": limit, **given.values},
            defines={**problem.held.defines, **given.defines},
            inputs={"edge_weights": problem.upload_weights, "sources": problem.upload_sources},
        )

    return Recipe(steps if n else (), setting)


def _recipe(
    problem: SearchProblem,
    body: tuple[Phase, ...],
    *,
    atomic: bool,
    balance: bool,
    before: tuple[Step, ...] = (),
    n_words: int | Callable[[], int] | None = None,
    arrays: Callable[[], Mapping[str, Array]] = dict,
    defines: Mapping[str, int] | None = None,
    details: Mapping[str, Any] | None = None,
    device_threshold: int | None = None,
) -> Recipe:
    """Return the recipe of a search: the steps *before*, then rounds of the launches in *body* until no distance falls.

    The array of distances has *n_words* items, by default one for each vertex.
    """
    atomic, balance = checked_flag("atomic", atomic), checked_flag("balance", balance)
    n_words = problem.graph.n_vertices if n_words is None else n_words
    return search_recipe(
        problem,
        lambda: Setting(
            arrays={
                "state": Array("STATE_WORDS", np.uint32),
                "distances": Array(n_words, problem.held.dtype if problem.weighted else np.int32),
                **arrays(),
            },
            values={"round": 0},
            defines={"ATOMIC": int(atomic), "BALANCE": int(balance), **(defines or {})},
            details=details or {},
        ),
        *before,
        Phase(f"{_PLAIN}:initialize", n_words, values={"n_words": n_words}),
        Phase(f"{_PLAIN}:start", problem.sources.size),
        Use(partial(Rounds, body=body, counts=balance, threshold=device_threshold)),
    )


def topology_driven(
    problem: SearchProblem, _facts: DeviceFacts, *, atomic: bool = False, balance: bool = False
) -> Recipe:
    """Return the recipe of search rounds in which a work-item for each vertex relaxes all edges of the vertex.

    Distances are lowered by loads and stores, or with *atomic*, by atomic operations. With *balance*, the edges that
    each work-group reads are counted.
    """
    body = (Phase(f"{_PLAIN}:relax_vertices", problem.graph.n_vertices),)
    return _recipe(problem, body, atomic=atomic, balance=balance)


def node_splitting(
    problem: SearchProblem,
    _facts: DeviceFacts,
    *,
    mda: int | Literal["histogram", "model"] = "model",
    atomic: bool = False,
    balance: bool = False,
) -> Recipe:
    """Return the recipe of search rounds over parts of vertices, after vertices
    were split into parts of at most *mda* edges.

    ``"histogram"`` takes *mda* from :func:`histogram_mda`; ``"model"`` takes the number that is likely to be fastest.
    """
    graph, stats, n = problem.graph, problem.stats, problem.graph.n_vertices
    atomic = checked_flag("atomic", atomic)
    if isinstance(mda, str):
        if mda not in ("histogram", "model"):
            raise InputError(f"mda = {shown(mda)}; allowed: a number, 'histogram', 'model'")
        mda = histogram_mda(graph.degrees) if mda == "histogram" else prices.likely_mda(stats)
    mda = checked_count("mda", mda, 2**31 - 1)
    n_parts = cache(partial(_part_count, ref(graph), mda))
    copies = not atomic and stats.max_degree > mda

    def sum_children(plan: Plan) -> Scan:
        return Scan(plan.session, plan.arrays["counts"], plan.arrays["first_child"])

    return _recipe(
        problem,
        (
            *([Phase(f"{_SPLIT}:child_update", n_parts, values={"n_parts": n_parts})] if copies else []),
            Phase(f"{_SPLIT}:relax_parts", n_parts, values={"n_parts": n_parts}),
        ),
        before=(
            Phase(f"{_SPLIT}:count_children", n, values={"mda": mda}),
            Use(sum_children),
            Phase(f"{_SPLIT}:fill_parts", n_parts, values={"n_parts": n_parts}),
        ),
        n_words=n if atomic else n_parts, atomic=atomic, balance=balance,
        arrays=lambda: {
            "counts": Array(n, np.int32), "first_child": Array(n + 1, np.int32),
            "part_begin": Array(n_parts, graph.offset_dtype), "part_end": Array(n_parts, graph.offset_dtype),
            "part_parent": Array(n_parts, np.int32),
        },
        details={"mda": mda, "n_extra": lambda: n_parts() - n},
    )  # fmt: skip


def _part_count(graph: ref[Graph], mda: int) -> int:
    """Return the number of parts if all vertices of *graph* are split into parts of at most *mda* edges.

    Every prediction makes a recipe, but only a plan needs this number. So it is computed on demand. The reference to
    the graph is weak because a recipe may outlive its graph.
    """
    alive = graph()
    assert alive is not None
    degrees = alive.degrees
    large = degrees[degrees > mda].astype(np.int64)
    n_parts = degrees.size + int(((large - 1) // mda).sum())
    if n_parts > _MAX_PARTS:
        raise InputError(f"mda={mda} makes {n_parts} vertices; at most {_MAX_PARTS} are possible")
    return n_parts


def histogram_mda(degrees: NDArray[Any]) -> int:
    """Return the largest degree in the fullest bucket of a histogram of degrees with ten buckets of equal width."""
    most = int(degrees.max(initial=0))
    counts, edges = np.histogram(degrees, _BUCKETS, (0, max(1, most)))
    fullest = int(counts.argmax())
    inside = degrees[(degrees >= edges[fullest]) & ((degrees < edges[fullest + 1]) | (fullest == _BUCKETS - 1))]
    return max(1, int(inside.max(initial=0)))


def child_launch(
    problem: SearchProblem,
    facts: DeviceFacts,
    *,
    threshold: int | None = None,
    from_device: bool = False,
    atomic: bool = False,
    balance: bool = False,
) -> Recipe:
    """Return the recipe of search rounds in which rows longer than *threshold* are processed by an additional launch.

    The default threshold is 32 times the mean degree. With *from_device*, kernels make this launch; otherwise the host
    does.
    """
    stats, n = problem.stats, problem.graph.n_vertices
    if threshold is None:
        threshold = max(1, round(prices.CHILD_MEAN_DEGREES * stats.mean_degree))
    threshold = checked_count("threshold", threshold, 2**31 - 1)

    def n_pieces() -> int:
        degrees = problem.graph.degrees
        return int((-(-degrees[degrees > threshold].astype(np.int64) // _PIECE)).sum())

    body = [Phase(f"{_CHILD}:relax_or_launch", n, values={"threshold": threshold})]
    if stats.max_degree > threshold and not from_device:
        body.append(Phase(
            f"{_CHILD}:relax_pieces", lambda: n_pieces() * facts.sub_group_size,
            values={"first_group": f"({n} + WG_SIZE - 1) / WG_SIZE"}, max_groups=32 * facts.compute_units,
        ))  # fmt: skip
    return _recipe(
        problem,
        tuple(body),
        atomic=atomic,
        balance=balance,
        arrays=lambda: {"pieces": Array(2 if from_device else lambda: 2 * n_pieces(), np.int32)},
        defines={"FROM_DEVICE": int(from_device), "PIECE": _PIECE},
        details={"threshold": threshold, "launched_by": "device" if from_device else "host"},
        device_threshold=threshold if from_device else None,
    )


def rounds_strategies(kind: type[SearchPlan]) -> dict[str, Strategy]:
    """Return the three search strategies of this module by name.

    Their plans are of class *kind*.
    """
    plain = planned("online", topology_driven, kind, prices.topology_driven)
    split = planned("online", node_splitting, kind, prices.node_splitting)
    child = planned("online", child_launch, kind, prices.child_launch)
    return {
        "topology_driven": plain,
        "node_splitting": replace(split, plan=partial(_plan_splitting, split.plan)),
        "child_launch": replace(child, plan=partial(_plan_launches, child.plan)),
    }


def _plan_splitting(
    plan: Callable[..., Any],
    session: Session,
    problem: SearchProblem,
    *,
    mda: int | str = "model",
    atomic: bool = False,
    balance: bool = False,
) -> Any:
    """Return the plan of the search strategy ``node_splitting``.

    If *mda* is ``"model"``, the fastest number is predicted from the measured rates of the device.
    """
    if isinstance(mda, str) and mda == "model":
        mda = prices.model_mda(problem.stats, session.facts, session.profile.rates, problem.held.dtype.itemsize)
    return plan(session, problem, mda=mda, atomic=atomic, balance=balance)


def _plan_launches(
    plan: Callable[..., Any],
    session: Session,
    problem: SearchProblem,
    *,
    threshold: int | None = None,
    atomic: bool = False,
    balance: bool = False,
) -> Any:
    """Return the plan of the search strategy ``child_launch``.

    Kernels launch the grids for long rows if the device can.
    """
    from_device = session.commands.has_device_queue
    return plan(session, problem, threshold=threshold, from_device=from_device, atomic=atomic, balance=balance)
