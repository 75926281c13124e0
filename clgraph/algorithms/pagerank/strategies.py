"""The strategies of PageRank, each a function that returns its recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.pagerank import host, prices
from clgraph.algorithms.pagerank.plan import ROWS, Blocks, Inputs, PageRankPlan, PowerIteration, cut_rows
from clgraph.algorithms.pagerank.problem import PageRankProblem
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import sequential
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.model.strategy import Strategy
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_BLOCKS = "pagerank/row_blocks.cl"
_CPU_GROUPS_PER_UNIT, _GPU_GROUPS_PER_UNIT = 16, 64
# Entries and rows of a block, entries of a piece of a long row, and work-group size on GPUs. Measured on an H200.
_BLOCK, _PIECE, _GROUP = 640, 2048, 128


def rows(problem: PageRankProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which a work-item of a CPU adds up the rows of its blocks one after the other."""
    graph = problem.graph
    groups = _CPU_GROUPS_PER_UNIT * facts.compute_units
    size = max(1, -(-(graph.n_edges + graph.n_vertices) // groups))
    blocks = cut_rows(graph.reverse.row_offsets, size, size) if graph.n_vertices else None
    pull = Phase(f"{ROWS}:pull_rows", 0, {"round": 0}, groups=groups)
    return _recipe(problem, facts, blocks, (pull,), groups, {"blocks": lambda blocks: blocks.first_rows}, 1, {})


def row_blocks(problem: PageRankProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which a work-group adds up the rows of a block in local memory."""
    graph = problem.graph
    blocks = cut_rows(graph.reverse.row_offsets, _BLOCK, _PIECE) if graph.n_vertices else None
    groups = _GPU_GROUPS_PER_UNIT * facts.compute_units
    phases = [Phase(f"{_BLOCKS}:pull_blocks", 0, {"round": 0}, groups=groups)]
    if blocks is not None and blocks.pieces.size:
        pieces = min(len(blocks.pieces), groups)
        phases.insert(0, Phase(f"{_BLOCKS}:add_pieces", 0, {"round": 0}, groups=pieces))
    made = {
        "blocks": lambda blocks: np.stack((blocks.first_rows, blocks.first_pieces), axis=1).ravel(),
        "pieces": lambda blocks: blocks.pieces.ravel() if blocks.pieces.size else np.zeros(2, np.int32),
    }
    defines = {"BLOCK": _BLOCK, "PIECE": _PIECE}
    return _recipe(problem, facts, blocks, tuple(phases), groups, made, facts.group_size(_GROUP), defines)


def _recipe(
    problem: PageRankProblem,
    facts: DeviceFacts,
    blocks: Blocks | None,
    rounds: tuple[Phase, ...],
    groups: int,
    made: Mapping[str, Callable[[Blocks], NDArray[np.int32]]],
    work_group_size: int,
    defines: Mapping[str, int | str],
) -> Recipe:
    """Return the recipe that repeats *rounds* until ranks converge; *made* makes inputs of kernels from *blocks*."""
    if blocks is None:
        return Recipe(())
    n = problem.graph.n_vertices
    start = Phase(f"{ROWS}:start", 0, groups=groups)
    sums = np.float64 if facts.has_fp64 else np.float32
    given = {"home": problem.home, "refuge": problem.refuge, "initial": problem.initial}
    inputs = {name: _uploaded(make, blocks) for name, make in made.items()}
    return Recipe((Use(Inputs), start, Use(partial(PowerIteration, rounds=rounds))), lambda: Setting(
        arrays={
            "ranks": Array(n, problem.dtype), "shares": Array(2 * n, problem.dtype),
            **({} if problem.is_weighted else {"scale": Array(n, problem.dtype)}),
            **{name: Array(1 if array is None else n, problem.dtype) for name, array in given.items()},
            "settings": Array("SETTINGS", sums), "partials": Array(2 * groups, sums), "totals": Array(2, sums),
            "control": Array("CONTROL_WORDS", np.uint32), "piece_sums": Array(max(1, len(blocks.pieces)), sums),
        },
        values={"n": n, "n_blocks": blocks.first_rows.size - 1, "n_pieces": len(blocks.pieces)},
        inputs={
            **inputs,
            "weights": partial(_upload_weights, problem=problem), "out_offsets": partial(_offsets, problem=problem),
            **({"scale": lambda session: session.upload(problem.scale)} if problem.is_weighted else {}),
        },
        defines={
            "RANK_T": "double" if problem.dtype == np.float64 else "float", "WEIGHTED": int(problem.is_weighted),
            "PERSONAL": int(problem.home is not None), "REFUGE": int(problem.refuge is not None),
            "INITIAL": int(problem.initial is not None), **defines,
        },
        work_group_size=work_group_size,
    ))  # fmt: skip


def _uploaded(make: Callable[[Blocks], NDArray[np.int32]], blocks: Blocks) -> Callable[[Session], DeviceArray]:
    return lambda session: session.upload(make(blocks))


def _upload_weights(session: Session, problem: PageRankProblem) -> DeviceArray:
    """Return the weights of the reversed graph's entries on the device, in the type of the ranks."""
    weights = problem.graph.reverse.edge_weights if problem.is_weighted else None
    return session.upload(np.zeros(1, problem.dtype) if weights is None else weights.astype(problem.dtype, copy=False))


def _offsets(session: Session, problem: PageRankProblem) -> DeviceArray:
    """Return the row offsets of the graph itself, not of the reversed graph, on the device."""
    graph = problem.graph
    return session.upload(graph.row_offsets) if graph.directed else device_graph(session, graph).row_offsets


def _on_cpus(facts: DeviceFacts) -> str | None:
    return None if facts.is_cpu else "a work-item adds up whole blocks of rows, which suits CPUs only"


STRATEGIES: dict[str, Strategy] = {
    "row_blocks": planned("offline", row_blocks, PageRankPlan, prices.row_blocks),
    "rows": planned("offline", rows, PageRankPlan, prices.rows, unsupported=_on_cpus),
    "host": sequential(host.solve, host.work),
}


def contenders(problem: PageRankProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """Return the strategy of the device and ``host``, or only ``host`` if the device lacks the type of the ranks."""
    if problem.dtype == np.float64 and not facts.has_fp64:
        return ("host",)
    return "rows" if facts.is_cpu else "row_blocks", "host"
