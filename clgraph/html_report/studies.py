"""Tables of five studies: published figures that the documentation quotes, beside rows of benchmarks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from clgraph.html_report.elements import MISSING
from clgraph.tables import milliseconds

Row: TypeAlias = Mapping[str, Any]
Cells: TypeAlias = list[list[object]]
_NOT_ATOMIC = (False, None)


class StudyTable(NamedTuple):
    """A table of one study.

    ``cells`` returns its rows, or no row if the files hold none of its benchmark.
    """

    title: str
    headers: tuple[str, ...]
    cells: Callable[[Sequence[Row]], Cells]
    note: str


class Study(NamedTuple):
    title: str
    source: str
    tables: tuple[StudyTable, ...]


# ---- node splitting, and refinement

_SAVED = (  # search, title, pattern of the strategies whose best counts, published per cent on R-MAT and on a web graph
    ("bfs", "node splitting, best mda", r"node_splitting, mda=\d", "48.8", "55.9"),
    ("bfs", "node splitting, mda of the histogram", "node_splitting, mda=histogram", "38.3", "44.8"),
    ("sssp", "node splitting, best mda", r"node_splitting, mda=\d", "37.3", "50.8"),
    ("bfs", "child launches, best threshold", "child_launch", "at most 36.2", "at most 36.2"),
    ("sssp", "child launches, best threshold", "child_launch", "at most 36.2", "at most 36.2"),
)
_SPLIT_GRAPHS = ("rmat-1M-8M", "web-NotreDame", "web-282K-2.3M")


def _saved(rows: Sequence[Row]) -> Cells:
    found = _of(rows, "bfs_splitting", "sssp_splitting")
    if not found:
        return []
    return [
        [search, title, *published, *(_best_saved(found, search, pattern, graph) for graph in _SPLIT_GRAPHS)]
        for search, title, pattern, *published in _SAVED
    ]


def _best_saved(rows: Iterable[Row], search: str, pattern: str, graph: str) -> str:
    shares = [
        float(row["improvement"])
        for row in rows
        if row["benchmark"] == f"{search}_splitting" and row["graph"] == graph
        and re.match(pattern, row["strategy"]) and row.get("atomic") in _NOT_ATOMIC
    ]  # fmt: skip
    return f"{100 * max(shares):.0f}" if shares else MISSING


_K20_SECONDS = {"three_phase": "27.7", "atomic": "14.7", "two_stage": "12.7", "two_stage_balanced": "12.1"}
_LARGE_MESH = "random points, 5600000 triangles, 30 degrees"


def _refined(rows: Sequence[Row]) -> Cells:
    found = {row["strategy"]: row for row in _of(rows, "refine_mesh") if row["graph"] == _LARGE_MESH}
    return [
        [name, seconds, milliseconds(found[name]["wall_seconds"]), f"{found[name]['n_points']:,}"]
        if name in found else [name, seconds, MISSING, MISSING]
        for name, seconds in _K20_SECONDS.items()
    ] if found else []  # fmt: skip


# ---- CPU and GPU together, partitions, forests


def _shared(rows: Sequence[Row]) -> Cells:
    loads: dict[str, dict[str, Row]] = {}
    for row in _of(rows, "hetero"):
        loads.setdefault(row["graph"], {})[row["strategy"]] = row
    return [
        [
            load, *(_ms(policies.get(name), "seconds") for name in ("hass", "static", "greedy")),
            _ms(policies["hass"], "best_seconds"), _number(policies["hass"].get("of_best")),
            _number(policies["hass"].get("efficiency")),
        ]
        for load, policies in loads.items() if "hass" in policies
    ]  # fmt: skip


_SPEED_UPS = {"road-NY": "1.4", "road-like-USA": "4.5"}


def _forests(rows: Sequence[Row]) -> Cells:
    cells: Cells = []
    found = _of(rows, "minimum_spanning_forest")
    for graph in dict.fromkeys(row["graph"] for row in found if row["graph"].startswith("road")):
        group = [row for row in found if row["graph"] == graph]
        ours = min((row["wall_seconds"] for row in group if row.get("kind")), default=None)
        serial = min((row["wall_seconds"] for row in group if row["strategy"].startswith("scipy")), default=None)
        ratio = f"{serial / ours:,.0f}" if ours and serial else MISSING
        cells.append([graph, _SPEED_UPS.get(graph, MISSING), ratio, _seconds(ours), _seconds(serial)])
    return cells


# ---- several GPUs, hash colours, factorisation


def _devices(rows: Sequence[Row]) -> Cells:
    return [
        [row["asked"], row["kind"], row["graph"].partition(",")[0], row["devices"], _number(row.get("speed_up")),
         _number(row.get("efficiency")), milliseconds(row["wall_seconds"])]
        for row in _of(rows, "multi_device") if row.get("asked") and row.get("kind") in ("strong", "weak")
    ]  # fmt: skip


def _collisions(rows: Sequence[Row]) -> Cells:
    groups: dict[str, dict[str, Row]] = {}
    for row in _of(rows, "hash_collisions"):
        groups.setdefault(row["graph"], {})[row["strategy"]] = row
    return [
        [
            graph, *(_ms(group.get(name), "wall_seconds") for name in _COUNTING),
            *next((_at_bits(row["best"], 6) for row in group.values() if row.get("best")), (MISSING, MISSING)),
        ]
        for graph, group in groups.items()
    ]  # fmt: skip


_COUNTING = ("row_per_item", "row_per_sub_group", "persistent")


def _at_bits(best: Iterable[Sequence[Any]], bits: int) -> tuple[str, str]:
    """Return the best hash with *bits* bits, and its collisions."""
    return next(((str(name), f"{total:,}") for width, name, total, _ in best if width == bits), (MISSING, MISSING))


_ONLINE, _MATCHINGS = ("edge_locked", "node_locked", "hybrid_locked"), ("matching_edge", "matching_node")
_DIAGONALS = ("diagonal", "block_diagonal")


def _schedules(rows: Sequence[Row]) -> Cells:
    groups: dict[str, dict[str, float]] = {}
    for row in _of(rows, "factorization"):
        groups.setdefault(row["graph"], {})[row["strategy"]] = float(row["wall_seconds"])
    return [
        [graph, *(_fastest(sweeps, names) for names in (_ONLINE, _MATCHINGS, _DIAGONALS))]
        for graph, sweeps in groups.items() if any(name in sweeps for name in _ONLINE)
    ]  # fmt: skip


def _fastest(sweeps: Mapping[str, float], names: Iterable[str]) -> str:
    known = {name: sweeps[name] for name in names if name in sweeps}
    best = min(known, key=known.__getitem__, default=None)
    return MISSING if best is None else f"{milliseconds(known[best])} ({best})"


def _of(rows: Iterable[Row], *benchmarks: str) -> list[Row]:
    return [row for row in rows if row["benchmark"] in benchmarks and row.get("wall_seconds") is not None]


def _ms(row: Row | None, key: str) -> str:
    return MISSING if row is None else _seconds(row.get(key))


def _seconds(value: float | None) -> str:
    return MISSING if value is None else milliseconds(value)


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}"


STUDIES = (
    Study(
        "Node splitting for searches, and Delaunay refinement",
        "Published: time saved against plain rounds; seconds on a Tesla K20 for a mesh of 5.6 million triangles.",
        (
            StudyTable(
                "Kernel time saved against plain rounds without atomics, in %",
                ("search", "strategy", "published, R-MAT", "published, web", *_SPLIT_GRAPHS), _saved,
                "Only node splitting and child launches without atomics count. The third graph has the size of the "
                "published web graph; its edges are generated.",
            ),
            StudyTable(
                "Refining a mesh of 5.6 million triangles to 30 degrees",
                ("strategy", "published, s", "measured, ms", "points in the result"), _refined,
                "Measured: wall time of a run on a mesh in host memory, without the copy of the answer.",
            ),
        ),
    ),
    Study(
        "CPU and GPU together, multilevel partitions, Borůvka",
        "Published: speed-up of a transactional forest over serial code, 1.4 (New York) to 4.5 (USA). For the "
        "scheduler and for partitions the documentation quotes no published figure.",
        (
            StudyTable(
                "A round of one load on a GPU and a CPU, in ms",
                ("load", "hass", "static", "greedy", "best split", "hass / best", "efficiency"), _shared,
                "Efficiency is the speed of hass over the sum of the speeds of the single devices.",
            ),
            StudyTable(
                "Minimum spanning forests of road graphs",
                ("graph", "published speed-up", "measured speed-up", "clgraph, ms", "scipy, ms"), _forests,
                "The published speed-up is over serial code on the study's machine, the measured one over scipy.",
            ),
        ),
    ),
    Study(
        "Connected components on several GPUs",
        "Published: five GPUs are 2.6 times as fast as one, on the study's best graph.",
        (
            StudyTable(
                "Speed-up and efficiency",
                ("strategy", "scaling", "graph", "devices", "speed-up", "efficiency", "call, ms"), _devices,
                "Strong: one graph on more devices. Weak: the graph grows with the number of devices.",
            ),
        ),
    ),
    Study(
        "Hash colouring by counts of collisions",
        "The documentation quotes no published figure of this study.",
        (
            StudyTable(
                "Counting the collisions of all hashes, in ms",
                ("graph", *_COUNTING, "best hash, 6 bits", "its collisions"), _collisions,
                "Wall time (median). The best hash has the fewest collisions with colours of 6 bits.",
            ),
        ),
    ),
    Study(
        "Matrix factorisation under seven schedules",
        "R. Kaleem et al., IPDPS 2016. Published: on a Tesla K40 the schedules with locks are fastest, the hybrid "
        "before edge and node locks; on a Radeon R9-290X the schedules by maximal matchings win by about 2.",
        (
            StudyTable(
                "A sweep over all ratings in ms, and the fastest schedule of each kind",
                ("ratings", "with locks", "by matchings", "by diagonals"), _schedules,
                "Wall time (median), without the preparation.",
            ),
        ),
    ),
)  # fmt: skip
