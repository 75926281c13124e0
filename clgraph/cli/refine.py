"""``clgraph refine IN``: refine a mesh until its angles and areas are within bounds."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from clgraph.cli.options import add_device, add_json, add_plot, add_strategy, add_verify, check_plot, open_session
from clgraph.cli.terminal import busy, print_fields, print_json, run_fields

if TYPE_CHECKING:
    from clgraph.data.meshes.triangle_mesh import TriangleMesh

HELP = "triangulate points and segments, or take a mesh, and refine it"
_ROUNDING = 1e-6  # degrees. An angle may be below the bound by this much, because angles are computed with rounding.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "mesh", metavar="IN",
        help=".poly (points and segments), .node (points, or with an .ele file of the same name a mesh), .ele, or what "
        "meshio reads",
    )  # fmt: skip
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write the mesh: .ele or .node (both, and the segments as .poly), .vtu, or what meshio writes",
    )
    parser.add_argument("--min-angle", metavar="DEGREES", type=float, default=30.0, help="least angle (30)")
    parser.add_argument("--max-area", metavar="AREA", type=float, help="largest area, beside those of regions")
    parser.add_argument("--max-points", metavar="N", type=int, help="stop at so many points")
    parser.add_argument(
        "--convex-hull", action="store_true", help="keep what no segment divides from the outside of a .poly file"
    )
    parser.add_argument(
        "--conforming", action="store_true", help="split segments until all triangles are Delaunay without them, too"
    )
    parser.add_argument("--deterministic", action="store_true", help="the same mesh in every run and on every device")
    add_plot(parser, "the mesh before and after, and its angles")
    add_device(parser)
    add_strategy(parser)
    add_verify(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from clgraph.algorithms.refine_mesh import refine_mesh
    from clgraph.io.meshes import check_target, write_mesh

    check_plot(args)
    if args.output is not None:
        check_target(Path(args.output), Path(args.mesh))
    before = _read(args)
    with busy("refining"):
        after = refine_mesh(
            before, min_angle=args.min_angle, max_area=args.max_area, max_points=args.max_points,
            conforming=args.conforming, deterministic=args.deterministic, strategy=args.strategy,
            session=open_session(args), verify=args.verify,
        )  # fmt: skip
    if args.output is not None:
        write_mesh(after, args.output)
    is_told = after.info.details["stopped"] or after.info.details["given_up"]  # A warning reports this.
    thin = (after.angles().min(axis=1) < args.min_angle - _ROUNDING) & (not is_told)
    if args.plot is not None:
        from clgraph.cli.refine_plot import plot_refinement

        with busy("drawing"):
            plot_refinement(before, after, args.min_angle, args.plot, Path(args.mesh).name, thin)
    old, new = before.quality(), after.quality()
    if args.json:
        print_json({
            "before": old._asdict(), "after": new._asdict(), "history": after.history, "run": after.info.as_dict(),
        })  # fmt: skip
        return 0
    n_thin = int(thin.sum())
    excused = {"excused": f"{n_thin:,} thin triangles between segments that meet at small angles"} if n_thin else {}
    fields = {
        "before": f"{old.n_triangles:,} triangles, {old.n_points:,} points, angles from {old.min_angle:.2f} degrees",
        "after": f"{new.n_triangles:,} triangles, {new.n_points:,} points, angles from {new.min_angle:.2f} degrees",
        **excused,
        "areas": f"{new.min_area:.4g} to {new.max_area:.4g}",
        "rounds": f"{len(after.history)}",
        **run_fields(after.info, args.strategy),
    }
    print_fields(fields | {name: getattr(args, name) for name in ("output", "plot") if getattr(args, name) is not None})
    return 0


def _read(args: argparse.Namespace) -> TriangleMesh:
    """Return the mesh in the file, or the triangulation of its points and segments."""
    from pathlib import Path

    from clgraph.io import suffix_of
    from clgraph.io.meshes import read_mesh, read_planar_graph
    from clgraph.io.triangle_names import beside

    path = Path(args.mesh)
    suffix = suffix_of(path)
    with busy(f"reading {path}"):
        if suffix == ".poly" or (suffix == ".node" and beside(path, ".ele") is None):
            graph = read_planar_graph(path)
            with busy("triangulating"):
                return graph.triangulate(convex_hull=args.convex_hull)
        return read_mesh(path)
