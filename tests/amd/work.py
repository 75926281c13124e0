"""Runs one workload on executed AMD code, under several seeds: ``work.py NAME TARGET --seeds 100 [--caches]``.

A workload runs every strategy of an algorithm on small graphs, and checks each answer by the definition. The last line
of the output is JSON: launches and instructions by kernel, and seeds. The exit status is 1 after the first seed with a
wrong answer, an access out of bounds or a livelock.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import grind  # noqa: E402
import numpy as np  # noqa: E402

import clgraph as cg  # noqa: E402
from amd.machine import Schedule  # noqa: E402
from amd.session import AmdSession  # noqa: E402
from clgraph.algorithms.table import find_algorithm, find_function  # noqa: E402
from clgraph.data.graphs.graph import Graph  # noqa: E402
from clgraph.runtime.session import Session  # noqa: E402

MAX_STEPS = 300_000_000  # instructions of one launch, after which it counts as a livelock


GROUP = 64  # Work-items of a group unless a strategy wants another size: a wave on gfx90a, two on gfx1100.


def _graph(seed: int, n: int = 600, n_edges: int = 800, **how: Any) -> Graph:
    """Return a random graph with small integer weights, and a vertex with a row of n / 3 entries."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(n, size=(2, n_edges))
    src, dst = np.append(src, np.zeros(n // 3, np.int64)), np.append(dst, np.arange(n // 3))
    return Graph.from_edges(src, dst, rng.integers(1, 9, size=src.size).astype(np.int32), n=n, **how)


def _tree(seed: int, n: int = 1500, **how: Any) -> Graph:
    """Return a random tree of which each edge is stored once, so that no other edge makes up for a lost one."""
    rng = np.random.default_rng(seed)
    names, child = rng.permutation(n), np.arange(1, n)
    return Graph.from_edges(names[child], names[rng.integers(child)], n=n, **{**how, "directed": True})


def vocabulary(session: Session) -> None:
    """Run the kernels of the vocabulary tests."""
    grind.WG_SIZE, grind.N = GROUP, 8 * GROUP
    grind.vocabulary(session)


def primitives(session: Session) -> None:
    """Run the primitives by each of their strategies, over more than one tile, and compare with numpy."""
    import test_primitives as checks

    numbers = np.random.default_rng(2).integers(-100, 100, 3001).astype(np.int32)
    tiles, values = {"WG_SIZE": GROUP, "ITEMS_PER_ITEM": 4}, np.arange(3001, dtype=np.uint32)
    for strategy in ("chunks", "look_back"):
        checks._check_scan(session, numbers, np.int64, "with total", strategy=strategy, tuning=tiles)
        checks._check_compact(session, numbers.astype(np.int64), numbers > 9, strategy=strategy, tuning=tiles)
    for operation in checks.UFUNCS:
        checks._check_reduce(session, numbers, operation, {"WG_SIZE": GROUP, "UNROLL": 2})
    for strategy, tuning in (("chunks", None), ("tiles", tiles), ("onesweep", tiles)):
        checks._check_sort(session, numbers, values, strategy=strategy, tuning=tuning)


def _every_strategy(
    algorithm: str, *arguments: Any, directions: tuple[bool, ...] = (False,), **given: Any
) -> Callable[[Session], None]:
    """Return a workload that solves a random graph by every strategy of *algorithm* that takes the device."""

    def run(session: Session) -> None:
        graphs = [_graph(4, directed=directed) for directed in directions]
        for graph in graphs + ([_tree(5)] if True in directions else []):
            for name, strategy in find_algorithm(algorithm).strategies.items():
                if strategy.unsupported(session.facts) is None and name != "host":
                    how = {"strategy": name, "session": session, "verify": True}
                    find_function(algorithm)(graph, *arguments, **how, **given)

    run.__doc__ = f"Run every strategy of {algorithm}."
    return run


def meshes(session: Session) -> None:
    """Refine a small mesh by each strategy."""
    from test_refine_mesh import star

    from clgraph.algorithms.refine_mesh import STRATEGIES, refine_mesh

    mesh = star(20, 3).triangulate(convex_hull=True)
    for strategy in STRATEGIES:
        refine_mesh(mesh, strategy=strategy, session=session, verify=True)


def distance_two(session: Session) -> None:
    """Colour a graph at distance 2 by each strategy that can, and count conflicts."""
    from clgraph.algorithms.color import color
    from clgraph.algorithms.color.conflicts import count_conflicts

    graph = _graph(5, 200, 300)
    for strategy in ("speculative", "hash_repair"):
        color(graph, distance=2, strategy=strategy, session=session, verify=True)
    for distance in (1, 2):
        count_conflicts(graph, np.arange(200) % 7, distance=distance, session=session)


def partitions(session: Session) -> None:
    """Partition a graph into three parts by each strategy."""
    from clgraph.algorithms.partition import STRATEGIES, partition

    warnings.simplefilter("ignore", RuntimeWarning)
    graph = _graph(6, 300, 600)
    for strategy in STRATEGIES:
        if STRATEGIES[strategy].unsupported(session.facts) is None:
            partition(graph, 3, strategy=strategy, session=session, verify=True)


def triangles(session: Session) -> None:
    """Count triangles with tables so small that rows are cut in pieces."""
    from clgraph.algorithms.triangles import triangles as counted

    for name in ("orient", "count"):
        session.profile.tuning[f"triangles/{name}.cl"] = {"WG_SIZE": GROUP, "TEAM_SLOTS": 16, "LONG_SLOTS": 32}
    for short_row in (1, 12):
        counted(_graph(7, 120, 1200), strategy="tables", session=session, verify=True, short_row=short_row)


def core_numbers(session: Session) -> None:
    """Peel a graph with a long row, and a grid, which takes many waves."""
    from clgraph.algorithms.cores import core_numbers as found

    src, dst, _ = _graph(8).edge_list()
    simple = Graph.from_edges(src, dst, n=600, duplicates="first", self_loops="drop")
    for graph in (simple, cg.generators.grid(6, 9)):
        found(graph, strategy="peel", session=session, verify=True)


def online(session: Session) -> None:
    """Sweep over a small matrix with a popular item and a busy user, by each strategy that runs online."""
    from factorization_checks import check_sweeps, cross
    from test_factorization_locks import ONLINE

    for strategy in ONLINE:
        check_sweeps(session, strategy, cross(40), 5, biases=True)


def offline(session: Session) -> None:
    """Run matchings, and sweeps in supersteps and over blocks, and replay them on the host."""
    import test_factorization_supersteps as supersteps
    from factorization_checks import check_replay, cross, random_ratings

    ratings = random_ratings(60, 12, 30, skew=1.0)
    for strategy in (*supersteps.BY_RATING, *supersteps.BY_ITEM):
        check_replay(session, strategy, ratings)
    check_replay(session, "block_grid", cross(30), biases=True, n_groups=3)
    check_replay(session, "block_diagonal", cross(30), biases=True, shape=(4, 7))


WORKLOADS: dict[str, Callable[[Session], None]] = {
    "vocabulary": vocabulary,
    "primitives": primitives,
    "connected_components": _every_strategy("connected_components", directions=(False, True)),
    "minimum_spanning_forest": _every_strategy("minimum_spanning_forest"),
    "bfs": _every_strategy("bfs", 0),
    "sssp": _every_strategy("sssp", 0),
    "color": _every_strategy("color"),
    "distance_two": distance_two,
    "hash_collisions": _every_strategy("hash_collisions", hashes=2, bit_widths=[1, 6]),
    "core_numbers": core_numbers,
    "triangles": triangles,
    "partition": partitions,
    "refine_mesh": meshes,
    "factorization_online": online,
    "factorization_offline": offline,
    "generators": grind.generators,
}


def use_kernels(root: Path) -> None:
    """Let all programs be made of the kernel sources below *root*."""
    from clgraph.runtime.programs import source

    source.kernel_root = lambda: root  # type: ignore[assignment]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("name", choices=WORKLOADS)
    parser.add_argument("target")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no further seed after this time")
    parser.add_argument("--caches", action="store_true", help="give each group a cache that is not coherent")
    parser.add_argument("--kernels", type=Path, help="the folder of the kernel sources")
    options = parser.parse_args()
    if options.kernels:
        use_kernels(options.kernels)
    launches: dict[str, int] = {}
    steps: dict[str, int] = {}
    started, done, failure, session = time.monotonic(), 0, "", None
    for seed in range(options.first, options.first + options.seeds):
        if done and time.monotonic() - started > options.seconds:
            break
        schedule = Schedule(seed=seed * 1_000_003, resident=1 << 16, max_steps=MAX_STEPS, caches=options.caches)
        session = AmdSession(options.target, schedule)
        session.profile = replace(session.profile, tuning=defaultdict(lambda: {"WG_SIZE": GROUP}))
        try:
            WORKLOADS[options.name](session)
        except Exception as error:
            failure = f"seed {seed}: {type(error).__name__}: {error}"[:600]
            traceback.print_exc()
        for kernel, count in session.launches.items():
            launches[kernel] = launches.get(kernel, 0) + count
            steps[kernel] = steps.get(kernel, 0) + session.steps[kernel]
        done += 1
        if failure:
            break
    told = {"workload": options.name, "target": options.target, "caches": options.caches, "seeds": done,
            "seconds": round(time.monotonic() - started, 1), "failure": failure, "launches": launches,
            "instructions": steps}  # fmt: skip
    print(json.dumps(told))
    return int(bool(failure))


if __name__ == "__main__":
    sys.exit(main())
