"""Time Delaunay refinement by every strategy on meshes of random points, and Shewchuk's Triangle on the same points.

    benchmarks/bench_refine_mesh.py --device nvidia --triangles 500000 1100000 --angles 25 30 --json new.json

Each mesh is checked against the definition, unless it has more triangles than ``--check-up-to``; ``verified`` tells. A
row holds, beside what ``harness.py`` says: ``n_points`` and ``n_triangles`` of the result, ``rounds``, and
``call_seconds``, the least of whole calls of ``refine_mesh``, from host arrays to a mesh on the host. Triangle, the
package ``triangle`` if it is installed, runs in a child process, since it can crash. ``wall_seconds`` of its row is its
run without what it takes for the Delaunay triangulation alone.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, fields
from multiprocessing import get_context
from typing import Any

import harness
import numpy as np
from scipy.spatial import Delaunay
from tabulate import tabulate

from clgraph.algorithms.delaunay import ALGORITHM, STRATEGIES, refine_mesh
from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.triangle_mesh import TriangleMesh
from clgraph.reference.delaunay import check_delaunay
from clgraph.report import write_rows
from clgraph.runtime.session import Session

_COLUMNS = ("graph", "strategy", "n_points", "rounds", "least_wall_seconds", "kernel_seconds", "call_seconds")
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


def measure(
    session: Session, mesh: TriangleMesh, angle: float, name: str, *, repeats: int, budget_seconds: float
) -> tuple[dict[str, Any], TriangleMesh]:
    """Return the row of one strategy, and the mesh that it has made."""
    problem = ALGORITHM.problem(mesh, min_angle=angle)
    with busy(f"timing {name} on {session.facts.name}"):
        plan = STRATEGIES[name].plan(session, problem)
        timing = harness.time_run(session, plan.run, repeats=repeats, budget_seconds=budget_seconds)
        plan.release()
        calls = []
        for _ in range(max(1, repeats // 2)):
            started = time.perf_counter()
            refined = refine_mesh(mesh, min_angle=angle, strategy=name, session=session)
            calls.append(time.perf_counter() - started)
    made = TriangleMesh(*(getattr(refined, part.name) for part in fields(TriangleMesh)))
    return {
        "strategy": name, "kind": STRATEGIES[name].kind, "n_points": refined.n_points, "verified": False,
        "n_triangles": refined.n_triangles, "rounds": refined.info.details["rounds"], "call_seconds": min(calls),
        "predicted_seconds": refined.info.predicted_seconds[name], **asdict(timing),
    }, made


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
    return {
        "strategy": "Triangle", "wall_seconds": seconds, "least_wall_seconds": seconds, "repeats": 1,
        "n_points": points, "n_triangles": triangles, "verified": False,
    }


def run(args: argparse.Namespace) -> int:
    session, rows = Session(args.device), list[dict[str, Any]]()
    origin = harness.provenance(session)
    for n_triangles in args.triangles:
        n = n_triangles // 2
        with busy(f"triangulating {n} points"):
            mesh = TriangleMesh.from_scipy(Delaunay(np.random.default_rng(0).random((n, 2))))
        for angle in args.angles:
            timed = [
                measure(session, mesh, angle, name, repeats=args.repeats, budget_seconds=args.budget)
                for name in args.strategies
            ]
            found = [row for row, _ in timed]
            if n_triangles <= args.check_up_to:
                with busy("checking the meshes"), ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
                    answers = [pool.submit(check, refined, mesh, angle) for _, refined in timed]
                    for row, answer in zip(found, answers, strict=True):
                        row["verified"] = answer.result()
            if (peer := measure_triangle(args.triangle, n, angle)) is not None:
                found.append(peer)
            size = {"n_vertices": mesh.n_points, "n_edges": mesh.n_points + mesh.n_triangles - 1}
            name = f"random points, {n_triangles} triangles, {angle:g} degrees"
            rows += [{"benchmark": "refine_mesh", "graph": name, **size, **row, **origin} for row in found]
            if args.json:
                write_rows(args.json, rows)
    body = [[row.get(column) for column in _COLUMNS] for row in rows]
    print(tabulate(body, _COLUMNS, "github", floatfmt=".4g", intfmt=","))
    return 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    made.add_argument("-d", "--device", help="as for `clgraph`; the default is the best device")
    made.add_argument("--triangles", nargs="+", type=int, default=[500_000, 1_100_000], metavar="N")
    made.add_argument("--angles", nargs="+", type=float, default=[25.0, 30.0], metavar="DEGREES")
    made.add_argument("--strategies", nargs="+", choices=list(STRATEGIES), default=list(STRATEGIES), metavar="NAME")
    made.add_argument("--check-up-to", type=int, default=sys.maxsize, metavar="N", help="check only such small meshes")
    made.add_argument("--triangle", default=sys.executable, metavar="PYTHON", help="one that has `triangle`")
    made.add_argument("--repeats", type=int, default=harness.REPEATS, help="timed runs (default %(default)s)")
    made.add_argument("--budget", type=float, default=60.0, metavar="SECONDS", help="(default %(default)s a strategy)")
    made.add_argument("--json", metavar="FILE", help="add the rows to this result file")
    return made


if __name__ == "__main__":
    sys.exit(guarded(run, parser().parse_args()))
