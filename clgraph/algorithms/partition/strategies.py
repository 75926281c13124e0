"""The strategies of graph partitioning.

Each is a function that returns a recipe: the steps of the strategy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from clgraph.algorithms.partition import host, prices, variants
from clgraph.algorithms.partition import pairwise_fm as pairs
from clgraph.algorithms.partition.hybrid import HOSTS, Hybrid
from clgraph.algorithms.partition.multilevel import GROWING, HASHED, REFINING, Multilevel, PartitionPlan
from clgraph.algorithms.partition.problem import CONTRACTIONS, MATCHINGS, REFINEMENTS, PartitionProblem
from clgraph.arguments import check_choice, checked_count, checked_flag
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import sequential
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.model.strategy import Strategy
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.session import Session

_COARSEST = 8  # vertices per part on the coarsest level
# vertices per part on the coarsest level if the refinement is not label propagation. The number is larger because other
# refinements improve the bisections of the coarsest level less.
_COARSEST_OF_OTHERS = 16
_COARSEST_OF_CLUSTERS = 10  # vertices per part on the coarsest level of pairwise_fm
_MIN_COARSEST = 128  # least number of vertices of the coarsest level
# greatest size of a work-group that makes or refines a whole partition without other work-groups. It is large because
# such a work-group mostly waits for memory.
_ALONE = 1024
_FEW_COUNTERS = 2  # counters of a sub-group that bisects a block: one for each side of the bisection
# candidate partitions ("individuals") of the coarsest level for a deterministic partition. The number is the same for
# all devices, so that all devices find the same partition.
_SAME_EVERYWHERE = 8


def gpu(
    problem: PartitionProblem,
    facts: DeviceFacts,
    *,
    coarsest: int | None = None,
    individuals: int | None = None,
    top_k: int = 11,
    drop_light_edges: bool = False,
) -> Recipe:
    """Return the recipe of a multilevel partition on one device.

    Coarsening ends at *coarsest* vertices per part. The best of *individuals* partitions of the coarsest level is kept.
    The refinement ``permutations`` tries all subsets of the best *top_k* moves to each part. With *drop_light_edges*,
    coarse levels keep at most twice the graph's mean degree.
    """
    if coarsest is None:
        coarsest = _COARSEST if problem.refinement == "label_propagation" else _COARSEST_OF_OTHERS
    coarsest = max(_MIN_COARSEST, checked_count("coarsest", coarsest, 1000) * problem.n_parts)
    if individuals is None:
        individuals = _SAME_EVERYWHERE if problem.deterministic else facts.compute_units * (2 if facts.is_cpu else 1)
        individuals = max(32, individuals) if problem.effort == "max" else individuals
    individuals = checked_count("individuals", individuals, 1024)
    drops = checked_flag("drop_light_edges", drop_light_edges)
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    begin = Phase(f"{REFINING}:begin", 1, values={"n": n, "m": m})
    steps = (begin, Use(Multilevel)) if n and problem.n_parts > 1 else ()
    top_k = checked_count("top_k", top_k, 16)
    return Recipe(steps, lambda: _setting(problem, facts, coarsest, individuals, top_k, drops))


def _setting(
    problem: PartitionProblem, facts: DeviceFacts, coarsest: int, individuals: int, top_k: int, drops: bool
) -> Setting:
    n, m, k = problem.graph.n_vertices, problem.graph.n_edges, problem.n_parts
    room = variants.padded(n)
    parts_room = 1 << max(6, (k - 1).bit_length())
    words = Array(n, np.int32)
    arrays = {
        "levels": Array("MAX_LEVELS * LEVEL_WORDS", np.int64), "state": Array("REFINE_WORDS", np.uint32),
        "arena": Array(n + 2 * (3 * n + 2 * m) + 64, np.int32),
        **dict.fromkeys(("mates", "choices", "leaders", "slot_begins", "counts"), words),
        "sums": Array(8 * facts.compute_units, np.uint64), "keys": Array(m, np.int32), "weights": Array(m, np.int32),
        "work": Array(f"VERTEX_ARRAYS * {room}", np.int32), "histogram": Array(f"BUCKETS * {k}", np.int32),
        "blocks": Array(k * individuals, np.int32), "scores": Array(individuals, np.uint64),
        **dict.fromkeys(("grown", "population", "parents", "shared_all"), Array(1, np.int32)),
        "parent_scores": Array(individuals, np.uint64), **variants.arrays_of(problem, drops),
    }  # fmt: skip
    return Setting(
        arrays=arrays if n and k > 1 else {},
        values={
            "n_parts": k, "room": room, "seed": problem.seed, "coarsest": coarsest, "individuals": individuals,
            "drop_light_edges": int(drops),
        },
        defines={"UNIT_EDGES": int(problem.graph.weight_dtype is None),
                 "UNIT_VERTICES": int(problem.vertex_weights is None),
                 "WG_SIZE": _group(facts, parts_room)},
        file_defines={
            GROWING: {"WG_SIZE": _group(facts, _FEW_COUNTERS, _ALONE)},
            variants.POPULATION: {
                "PARTS_ROOM": parts_room, "WG_SIZE": _group(facts, parts_room, _ALONE), "RECOUNTS": int(drops),
                **variants.individual_defines(problem, facts),
            },
            HASHED: {"TEAM": 1} if problem.deterministic else {},
            variants.SEGMENTED: {"SPLIT_CLAIMS": int(not facts.has_int64_atomics)},
            **variants.defines_of(problem, facts, parts_room, top_k, drops),
        },
        inputs=_graph_inputs(problem),
        prepare=_prepare,
    )  # fmt: skip


def hybrid(
    problem: PartitionProblem,
    facts: DeviceFacts,
    *,
    coarsest: int | None = None,
    top_k: int = 11,
    drop_light_edges: bool = False,
    move_at: int | None = None,
    host: str | None = None,
) -> Recipe:
    """Return the recipe of a multilevel partition in which the CPU divides a coarse level.

    It is the recipe of ``gpu``, except that the CPU divides the first level of at most *move_at* vertices. The default
    of *move_at* depends on the kind of device. *host* is ``"metis"``, which needs pymetis, or ``"cpu"``, the best
    OpenCL runtime of the CPU. The default of *host* is METIS if pymetis is installed.
    """
    if move_at is not None:
        checked_count("move_at", move_at, 2**31 - 1)
    if host is not None:
        check_choice("host", host, HOSTS)
    whole = gpu(problem, facts, coarsest=coarsest, individuals=1, top_k=top_k, drop_light_edges=drop_light_edges)
    if not whole.steps:
        return whole
    make = partial(Hybrid, recipe=gpu, move_at=move_at, host=host)
    return replace(whole, steps=(whole.steps[0], Use(make)))


def pairwise_fm(
    problem: PartitionProblem, facts: DeviceFacts, *, coarsest: int | None = None, individuals: int | None = None
) -> Recipe:
    """Return the recipe of a multilevel partition by one work-item for each core of a CPU.

    Coarsening ends at *coarsest* vertices per part. The best of *individuals* partitions of the coarsest level is kept.
    """
    coarsest = _COARSEST_OF_CLUSTERS if coarsest is None else coarsest
    coarsest = max(_MIN_COARSEST, checked_count("coarsest", coarsest, 1000) * problem.n_parts)
    individuals = pairs.EFFORTS[problem.effort].individuals if individuals is None else individuals
    individuals = checked_count("individuals", individuals, 1024)
    n, k, workers = problem.graph.n_vertices, problem.n_parts, min(facts.compute_units, pairs.MAX_WORKERS)
    if not n or k == 1:
        return Recipe((), Setting)
    words, of_parts, of_pairs = Array(n, np.int32), Array(k, np.int32), Array(k * k, np.int32)
    arrays = {
        "levels": Array("MAX_LEVELS * LEVEL_WORDS", np.int64), "arena": Array(2 * n, np.int32),
        **dict.fromkeys(("clusters", "cluster_weights", "waiting", "heads", "next", "first_members"), words),
        **dict.fromkeys(("marks", "next_border"), words), "tables": Array(1, np.int32), "own": Array(1, np.int32),
        "counts": Array(workers, np.int32), "counters": Array(pairs.N_COUNTERS, np.int32),
        "cut": Array(1, np.int32), "scores": Array(workers, np.uint64), "locks": Array(k, np.uint32),
        "searches": Array(f"{workers} * (SEARCH_WORDS * {n} + SIDE_WORDS)", np.int32, zeroed=True),
        **dict.fromkeys(("part_weights", "part_heads", "active", "changed"), of_parts),
        **dict.fromkeys(("adjacent", "taken"), of_pairs),
    }  # fmt: skip
    values = {
        "n": n, "n_parts": k, "total": problem.total_weight, "workers": workers, "coarsest": coarsest,
        "individuals": individuals, "patience": 0, "n_counters": pairs.N_COUNTERS,
    }  # fmt: skip

    def setting() -> Setting:
        return Setting(
            arrays=arrays, values=values, work_group_size=1,
            defines={"UNIT_EDGES": int(problem.graph.weight_dtype is None),
                     "UNIT_VERTICES": int(problem.vertex_weights is None)},
            inputs=_graph_inputs(problem) | {
                "shares": lambda session: session.upload(problem.shares.astype(np.int32)),
                "limits": lambda session: session.upload(problem.limits.astype(np.int32)),
            },
        )  # fmt: skip

    return Recipe((Phase(f"{pairs.PAIRS}:begin", 1), Use(pairs.PairwiseFM)), setting)


def _graph_inputs(problem: PartitionProblem) -> dict[str, Callable[[Session], Any]]:
    return {
        "row_offsets": lambda session: _row_offsets(session, problem),
        "edge_weights": lambda session: _edge_weights(session, problem),
        "vertex_weights": lambda session: _vertex_weights(session, problem),
    }


def _group(facts: DeviceFacts, parts_room: int, most: int = 256) -> int:
    """Return the work-group size of kernels in which each sub-group has *parts_room* counters in local memory."""
    width = facts.sub_group_size
    if facts.is_cpu:
        return 1 if width == 1 else 2 * width
    sub_groups = facts.local_mem_bytes * 3 // 4 // (4 * parts_room)
    return max(width, min(most, facts.max_work_group_size, sub_groups * width))


def _prepare(plan: Any) -> dict[str, Any]:
    """Return the array ``parts_work``, which holds several values per part.

    Limits and shares are filled in.
    """
    problem, session = plan.problem, plan.session
    if not plan.recipe.steps:
        return {}
    constant, k = plan.program(REFINING).constant, problem.n_parts
    values = np.zeros((constant("PART_ARRAYS"), k), np.int32)
    values[constant("FINAL_LIMITS")] = problem.limits
    values[constant("SHARES")] = problem.shares
    made = session.empty(values.size, np.int32)
    made.set(values.ravel())
    return {"parts_work": made}


def _row_offsets(session: Session, problem: PartitionProblem) -> Any:
    offsets = device_graph(session, problem.graph).row_offsets
    return offsets if offsets.dtype == np.int32 else session.upload(problem.graph.row_offsets.astype(np.int32))


def _edge_weights(session: Session, problem: PartitionProblem) -> Any:
    graph = problem.graph
    if graph.weight_dtype is None:
        return session.empty(1, np.int32)
    if graph.weight_dtype == np.int32:
        return device_graph(session, graph, weights=True).edge_weights
    assert graph.edge_weights is not None
    return session.upload(graph.edge_weights.astype(np.int32))


def _vertex_weights(session: Session, problem: PartitionProblem) -> Any:
    return session.empty(1, np.int32) if problem.vertex_weights is None else session.upload(problem.vertex_weights)


def _suits_cpus(facts: DeviceFacts) -> str | None:
    return None if facts.is_cpu else "few work-items do all, which suits CPUs only"


def _has_other_ways(problem: PartitionProblem) -> str | None:
    usual = problem.matching, problem.contraction, problem.refinement
    if usual != (MATCHINGS[0], CONTRACTIONS[0], REFINEMENTS[0]):
        return "it has a matching, contraction and refinement of its own"
    return "its partition depends on the order of its workers" if problem.deterministic else None


STRATEGIES: dict[str, Strategy] = {
    "gpu": planned("online", gpu, PartitionPlan, prices.gpu),
    "pairwise_fm": planned(
        "online", pairwise_fm, pairs.PairwisePlan, prices.pairwise_fm, unsupported=_suits_cpus, unfit=_has_other_ways
    ),
    "hybrid": planned("online", hybrid, PartitionPlan, prices.hybrid),
    "host": sequential(host.solve, prices.host, host.unfit),
}


def contenders(problem: PartitionProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """Return the names of the partition strategies that ``"auto"`` compares.

    On CPUs it is ``pairwise_fm`` if that can solve the problem, since it takes a third of the time of ``gpu``. With
    maximal effort the smaller cut of ``gpu`` has priority.
    """
    is_pairwise = facts.is_cpu and problem.effort != "max" and _has_other_ways(problem) is None
    return ("pairwise_fm",) if is_pairwise else ("gpu",)
