"""The strategies of PageRank, each a function that returns its recipe; its relatives have the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.pagerank import host, prices
from clgraph.algorithms.pagerank.plan import (
    START,
    Blocks,
    Inputs,
    PowerIteration,
    PowerPlan,
    cut_rows,
    name_in_pull,
)
from clgraph.algorithms.pagerank.problem import PowerProblem
from clgraph.data.graphs.graph import Graph
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import sequential
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.model.strategy import Strategy
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_ROWS, _BLOCKS, _LANES = "pagerank/rows.cl", "pagerank/row_blocks.cl", "pagerank/lanes.cl"
_CPU_GROUPS_PER_UNIT, _GPU_GROUPS_PER_UNIT = 16, 64
# Entries and rows of a block, entries of a piece of a long row, and work-group size on GPUs. Measured on an H200.
_BLOCK, _PIECE, _GROUP = 640, 2048, 128
# In a batch on GPUs: ranks of a vertex that a work-item has (16 bytes of float32), and entries and rows of a block.
_LANES_PER_ITEM, _TEAM_BLOCK = 4, 256
# The parameters of each kernel that differ between the pulls of an iteration.
_OF_PULL = {
    "start": ("scale", "ranks"),
    "pull_rows": ("row_offsets", "column_indices", "weights", "blocks", "n_blocks", "scale", "ranks"),
    "add_pieces": ("row_offsets", "column_indices", "weights", "pieces", "n_pieces", "piece_sums"),
}
_OF_PULL["pull_blocks"] = _OF_PULL["pull_lanes"] = (*_OF_PULL["pull_rows"], "piece_sums")
_OF_PULL["add_lane_pieces"] = _OF_PULL["add_pieces"]

_Pulls = tuple[tuple[Phase, ...], ...]
_Input = Callable[[Session], DeviceArray]
_Made = Mapping[str, Callable[[Blocks], NDArray[np.int32]]]
_PIECES: _Made = {
    "blocks": lambda blocks: np.stack((blocks.first_rows, blocks.first_pieces), axis=1).ravel(),
    "pieces": lambda blocks: blocks.pieces.ravel() if blocks.pieces.size else np.zeros(2, np.int32),
}


def rows(problem: PowerProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which a work-item of a CPU adds up the rows of its blocks one after the other."""
    graph = problem.graph
    if not graph.n_vertices:
        return Recipe(())
    groups = _CPU_GROUPS_PER_UNIT * facts.compute_units
    size = max(1, -(-(graph.n_edges + graph.n_vertices) // groups))
    blocks = [cut_rows(rows.row_offsets, size, size) for rows in problem.pulls]
    pulls = tuple((_phase(_ROWS, "pull_rows", groups, pull, round=0),) for pull in range(len(blocks)))
    return _recipe(problem, facts, blocks, pulls, groups, {"blocks": lambda blocks: blocks.first_rows}, 1, {})


def row_blocks(problem: PowerProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which a work-group adds up the rows of a block in local memory."""
    if not problem.graph.n_vertices:
        return Recipe(())
    blocks = [cut_rows(rows.row_offsets, _BLOCK, _PIECE) for rows in problem.pulls]
    groups = _GPU_GROUPS_PER_UNIT * facts.compute_units
    pulls = _with_pieces(_BLOCKS, ("add_pieces", "pull_blocks"), groups, blocks)
    defines = {"BLOCK": _BLOCK, "PIECE": _PIECE}
    return _recipe(problem, facts, blocks, pulls, groups, _PIECES, facts.group_size(_GROUP), defines)


def lanes(problem: PowerProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which teams of work-items add up rows for a batch; on CPUs a team is one work-item."""
    if not problem.graph.n_vertices:
        return Recipe(())
    n_lanes, is_cpu = problem.n_lanes, facts.is_cpu
    team = 1 if is_cpu else max(1, n_lanes // _LANES_PER_ITEM)
    groups = (_CPU_GROUPS_PER_UNIT if is_cpu else _GPU_GROUPS_PER_UNIT) * facts.compute_units
    size = max(_PIECE, -(-problem.graph.n_edges // groups)) if is_cpu else _TEAM_BLOCK
    blocks = [cut_rows(rows.row_offsets, size, _PIECE) for rows in problem.pulls]
    pulls = _with_pieces(_LANES, ("add_lane_pieces", "pull_lanes"), groups, blocks)
    defines = {"LANES": n_lanes // team, "TEAM": team, "PIECE": _PIECE}
    made = _recipe(problem, facts, blocks, pulls, groups, _PIECES, 1 if is_cpu else _GROUP, defines)
    inputs, *others = made.steps
    before, after = (
        Phase(f"{_LANES}:{kernel}", 0, {"given": "shares"}, groups=groups) for kernel in ("interleave", "separate")
    )
    return Recipe((inputs, before, *others, after), made.setting)


def _with_pieces(file: str, kernels: tuple[str, str], groups: int, blocks: list[Blocks]) -> _Pulls:
    """Return the launches of each pull: of the first kernel if it has long rows, and of the second one."""
    pulls = []
    for pull, each in enumerate(blocks):
        phases = [_phase(file, kernels[1], groups, pull, round=0)]
        if each.pieces.size:
            phases.insert(0, _phase(file, kernels[0], min(len(each.pieces), groups), pull, round=0))
        pulls.append(tuple(phases))
    return tuple(pulls)


def _phase(file: str, kernel: str, groups: int, pull: int, **values: Any) -> Phase:
    own = {name: name_in_pull(name, pull) for name in _OF_PULL[kernel]} if pull else {}
    return Phase(f"{file}:{kernel}", 0, {**values, **own}, groups=groups)


def _recipe(
    problem: PowerProblem,
    facts: DeviceFacts,
    blocks: list[Blocks],
    pulls: _Pulls,
    groups: int,
    made: _Made,
    work_group_size: int,
    defines: Mapping[str, int | str],
) -> Recipe:
    """Return the recipe that repeats *pulls* until values converge; *made* makes inputs of kernels from *blocks*."""
    n, numbers, lanes = problem.graph.n_vertices, range(len(blocks)), problem.n_lanes
    start = _phase(START, "start", groups, len(blocks) - 1)  # the values that the first pull reads
    sums = np.float64 if facts.has_fp64 else np.float32
    given = {"home": problem.home, "refuge": problem.refuge, "initial": problem.initial}
    inputs: dict[str, _Input] = {"out_offsets": partial(_offsets, graph=problem.graph)}
    for pull, graph in enumerate(problem.pulls):
        own: dict[str, _Input] = {
            **{name: partial(_uploaded, make=make, blocks=blocks[pull]) for name, make in made.items()},
            "weights": partial(_weights, problem=problem, graph=graph),
            "scale": partial(_scale, problem=problem, pull=pull),
        }
        if pull:
            own["row_offsets"] = partial(_offsets, graph=graph)
            own["column_indices"] = partial(_columns, graph=graph)
        inputs |= {name_in_pull(name, pull): make for name, make in own.items()}
    return Recipe((Use(Inputs), start, Use(partial(PowerIteration, pulls=pulls))), lambda: Setting(
        arrays={
            **{name_in_pull("ranks", pull): Array(n * lanes, problem.dtype, zeroed=True) for pull in numbers},
            "shares": Array(2 * n * lanes, problem.dtype),
            **{name: Array(_size(array, n, lanes), problem.dtype) for name, array in given.items()},
            "settings": Array("SETTINGS", sums), "partials": Array(2 * lanes * groups, sums),
            "totals": Array(2 * lanes, sums),
            "control": Array("CONTROL_WORDS", np.uint32),
            **{name_in_pull("piece_sums", k): Array(max(1, lanes * len(blocks[k].pieces)), sums) for k in numbers},
        },
        values={
            "n": n,
            **{name_in_pull("n_blocks", pull): blocks[pull].first_rows.size - 1 for pull in numbers},
            **{name_in_pull("n_pieces", pull): len(blocks[pull].pieces) for pull in numbers},
        },
        inputs=inputs,
        defines={
            "RANK_T": "double" if problem.dtype == np.float64 else "float", "WEIGHTED": int(problem.is_weighted),
            "EPILOGUE": problem.epilogue, "PERSONAL": int(problem.home is not None),
            "REFUGE": int(problem.refuge is not None), "INITIAL": int(problem.initial is not None), **defines,
        },
        work_group_size=work_group_size,
    ))  # fmt: skip


def _uploaded(session: Session, make: Callable[[Blocks], NDArray[np.int32]], blocks: Blocks) -> DeviceArray:
    return session.upload(make(blocks))


def _size(array: NDArray[Any] | None, n: int, lanes: int) -> int:
    """Return the size of the device's copy of a distribution, or 1 if there is none."""
    return 1 if array is None else n * lanes if array.ndim == 2 else n


def _weights(session: Session, problem: PowerProblem, graph: Graph) -> DeviceArray:
    """Return the weights of the entries of *graph* on the device, in the type of the values."""
    weights = graph.edge_weights if problem.is_weighted else None
    return session.upload(np.zeros(1, problem.dtype) if weights is None else weights.astype(problem.dtype, copy=False))


def _scale(session: Session, problem: PowerProblem, pull: int) -> DeviceArray:
    """Return the factors of vertices for a pull on the device, or room for those that a kernel makes."""
    found = problem.scale_of(pull)
    if found is None:
        return session.empty(problem.graph.n_vertices, problem.dtype)
    return session.upload(found.astype(problem.dtype))


def _offsets(session: Session, graph: Graph) -> DeviceArray:
    """Return the row offsets of the *graph* itself, not of the reversed graph, on the device."""
    return session.upload(graph.row_offsets) if graph.directed else device_graph(session, graph).row_offsets


def _columns(session: Session, graph: Graph) -> DeviceArray:
    return device_graph(session, graph).column_indices


def on_cpus(facts: DeviceFacts) -> str | None:
    return None if facts.is_cpu else "a work-item adds up whole blocks of rows, which suits CPUs only"


def _single(problem: PowerProblem) -> str | None:
    return "several personalizations are given, which lanes ranks together" if problem.n_lanes > 1 else None


def _batch(problem: PowerProblem) -> str | None:
    return None if problem.n_lanes > 1 else "one personalization is given, or none"


STRATEGIES: dict[str, Strategy] = {
    "row_blocks": planned("offline", row_blocks, PowerPlan, prices.row_blocks, unfit=_single),
    "rows": planned("offline", rows, PowerPlan, prices.rows, unsupported=on_cpus, unfit=_single),
    "lanes": planned("offline", lanes, PowerPlan, prices.lanes, unfit=_batch),
    "host": sequential(host.solve, host.work),
}


def contenders(problem: PowerProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """Return the strategy of the device and ``host``, or only ``host`` if the device lacks the type of the ranks."""
    if problem.dtype == np.float64 and not facts.has_fp64:
        return ("host",)
    if problem.n_lanes > 1:
        return "lanes", "host"
    return "rows" if facts.is_cpu else "row_blocks", "host"
