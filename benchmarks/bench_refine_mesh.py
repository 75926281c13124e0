"""Time Delaunay refinement by every strategy on meshes of random points, and Shewchuk's Triangle on the same points.

    benchmarks/bench_refine_mesh.py --device nvidia --triangles 500000 1100000 --angles 25 30 --json new.json

Every mesh is checked against the definition once all are timed, in one process per core; ``verified`` tells. A row
holds, beside what ``harness.py`` says: ``n_points`` and ``n_triangles`` of the result, ``rounds``, ``call_seconds``,
the least of whole calls of ``refine_mesh``, from host arrays to a mesh on the host, and ``curve``: the number of some
rounds, the bad triangles at its start, and the points put in so far. Triangle, the package
``triangle`` if it is installed, runs in a child process, since it can crash. ``wall_seconds`` of its row is its run
without the time of the Delaunay triangulation alone.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import warnings
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, fields
from functools import partial
from multiprocessing import get_context
from typing import Any

import harness
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from clgraph.algorithms.refine_mesh import ALGORITHM, STRATEGIES, refine_mesh
from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.reference.refine_mesh import check_delaunay
from clgraph.report import write_rows
from clgraph.runtime.session import Session

_MOST_ON_CURVE = 48  # rounds that a row tells of
_TRIANGLE = """
import json, sys, time, numpy, triangle
points = {"vertices": numpy.random.default_rng(0).random((int(sys.argv[1]), 2))}
seconds = []
for options in ("Qz", "Qzq" + sys.argv[2]):
    started = time.perf_counter()
    found = triangle.triangulate(points, options)
    seconds.append(time.perf_counter() - started)
print(json.dumps([seconds[1] - seconds[0], len(found["vertices"]), len(found["triangles"])]))
"""


def random_mesh(n_triangles: int) -> TriangleMesh:
    """Return the Delaunay mesh of random points of the unit square, with about *n_triangles* triangles."""
    return TriangleMesh.from_scipy(Delaunay(np.random.default_rng(0).random((n_triangles // 2, 2))))


def measure(
    session: Session, mesh: TriangleMesh, angle: float, name: str, *, repeats: int, budget_seconds: float
) -> tuple[dict[str, Any], TriangleMesh]:
    """Return the row of one strategy, and the mesh that it has made."""
    problem = ALGORITHM.problem(mesh, min_angle=angle)
    with busy(f"timing {name} on {session.facts.name}"):
        plan = STRATEGIES[name].plan(session, problem)
        timing = harness.time_run(session, plan.run, repeats=repeats, budget_seconds=budget_seconds)
        plan.release()
        call = partial(refine_mesh, mesh, min_angle=angle, strategy=name, session=session)
        refined, calls = harness.timed_calls(call, repeats // 2, math.inf)
    made = TriangleMesh(*(getattr(refined, part.name) for part in fields(TriangleMesh)))
    return {
        "strategy": name,
        "kind": STRATEGIES[name].kind,
        "n_points": refined.n_points,
        "verified": False,
        "n_triangles": refined.n_triangles,
        "rounds": refined.info.details["launched_rounds"],
        "call_seconds": min(calls),
        "predicted_seconds": refined.info.predicted_seconds[name],
        **asdict(timing),
        "curve": curve(refined.history),
    }, made


def curve(history: NDArray[np.int64]) -> list[list[int]]:
    """Return number, bad triangles and points put in so far for some of the rounds, first and last among them."""
    at = np.unique(np.linspace(0, len(history) - 1, _MOST_ON_CURVE).astype(np.int64))
    so_far = np.cumsum(history[:, 1]) - history[:, 1]
    rows: list[list[int]] = np.column_stack([at, history[at, 0], so_far[at]]).tolist()
    return rows


def check(refined: TriangleMesh, mesh: TriangleMesh, angle: float) -> bool:
    """Return ``True``, or raise a :class:`VerificationError`; it runs in a process of its own."""
    check_delaunay(refined, original=mesh, min_angle=angle)
    return True


def measure_triangle(python: str, n_points: int, angle: float) -> dict[str, Any] | None:
    """Return the row of Triangle, or ``None`` where it is not installed or fails."""
    command = [python, "-c", _TRIANGLE, str(n_points), f"{angle:g}"]
    with busy("timing Triangle"):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        warnings.warn(f"no row of Triangle: {ran.stderr.strip().splitlines()[-1:]}", stacklevel=2)
        return None
    seconds, points, triangles = json.loads(ran.stdout)
    sizes = {"n_points": points, "n_triangles": triangles}
    return {"strategy": "Triangle", **harness.walls([seconds]), **sizes, "verified": False}


def run(args: argparse.Namespace) -> int:
    session, checks = Session(args.device), list[tuple[dict[str, Any], Any]]()
    origin = harness.provenance(session)

    def keep(row: dict[str, Any]) -> dict[str, Any]:
        if args.json:
            write_rows(args.json, [row])
        return row

    with ExitStack() as stack:
        pool = ProcessPoolExecutor(mp_context=get_context("spawn"))
        stack.callback(pool.shutdown, cancel_futures=True)  # After an error, tasks that have not begun are dropped.
        meshes: dict[int, Future[TriangleMesh]] = {n: pool.submit(random_mesh, n) for n in args.triangles}
        for n_triangles in args.triangles:
            with busy(f"triangulating {n_triangles // 2} points"):
                mesh = meshes.pop(n_triangles).result()
            size = {"n_vertices": mesh.n_points, "n_edges": mesh.n_points + mesh.n_triangles - 1}
            for angle in args.angles:
                graph = f"random points, {n_triangles} triangles, {angle:g} degrees"
                about = {"benchmark": "refine_mesh", "graph": graph, **size}
                for name in args.strategies:
                    row, refined = measure(session, mesh, angle, name, repeats=args.repeats, budget_seconds=args.budget)
                    row = keep(show({**about, **row, **origin}))
                    checks.append((row, (refined, mesh, angle)))
                if args.triangle and (peer := measure_triangle(args.triangle, n_triangles // 2, angle)) is not None:
                    keep(show({**about, **peer, **origin}))
        with busy("checking the meshes"):
            checks.sort(key=lambda one: -one[0]["n_triangles"])
            for row, answer in [(row, pool.submit(check, *what)) for row, what in checks]:
                keep({**row, "verified": answer.result()})
    print(f"{len(checks)} meshes were checked")
    return 0


def show(row: dict[str, Any]) -> dict[str, Any]:
    """Print points, rounds, and milliseconds of a run, of its span and its kernels on the device, and of a call."""
    seconds = (row.get(f"{name}_seconds") for name in ("least_wall", "least_span", "least_kernel", "call"))
    cells = [f"{1e3 * value:,.1f}" if value is not None else "" for value in seconds]
    print(row["graph"], row["strategy"], f"{row['n_points']:,}", row.get("rounds", ""), *cells, sep=" | ", flush=True)
    return row


if __name__ == "__main__":
    parser = harness.parser(__doc__, graphs=False)
    parser.add_argument("--triangles", nargs="+", type=int, default=[500_000, 1_100_000], metavar="N")
    parser.add_argument("--angles", nargs="+", type=float, default=[25.0, 30.0], metavar="DEGREES")
    parser.add_argument("--strategies", nargs="+", choices=list(STRATEGIES), default=list(STRATEGIES), metavar="NAME")
    parser.add_argument("--triangle", default=sys.executable, metavar="PYTHON", help="one that has `triangle`; or ''")
    sys.exit(guarded(run, parser.parse_args()))
