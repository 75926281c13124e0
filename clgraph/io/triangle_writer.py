"""Writers of Triangle's files: meshes (.node, .ele, .poly, .area) and planar graphs (.poly)."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.errors import GraphFileError, InputError
from clgraph.io.text import write_rows, writing
from clgraph.io.triangle_files import has_only_segments
from clgraph.io.triangle_names import SUFFIXES, beside, companion, stem_of, written_files


def check_poly(path: Path) -> None:
    """Raise an :class:`InputError` if the .poly file that belongs to the mesh *path* is a user's planar graph.

    The .poly file of a mesh has only segments, and an .ele file beside it.
    """
    poly = written_files(path)[SUFFIXES.index(".poly")]
    if poly.exists() and not (has_only_segments(poly) and beside(path, ".ele")):
        raise InputError(
            f"{path}: {poly.name} would be overwritten, which is a planar graph; write to another name, such as "
            f"{stem_of(path).stem}.1{stem_of(path).suffix}"
        )


def write_mesh(mesh: TriangleMesh, path: Path) -> None:
    """Write .node, .ele and .poly files with the same stem as *path*, and an .area file if areas are bounded.

    If areas are not bounded, an .area file of the mesh that was there before is removed.
    """
    triangles = 1 + np.arange(mesh.n_triangles)
    node, ele, poly, area = written_files(path)
    with writing(node) as stream:
        _write_points(stream, mesh)
    with writing(ele) as stream:
        attributes = [] if mesh.region_attributes is None else [mesh.region_attributes]
        stream.write(f"{mesh.n_triangles} 3 {len(attributes)}\n".encode())
        form = "%d %d %d %d" + " %.17g" * len(attributes) + "\n"
        write_rows(stream, form, triangles, *(mesh.triangles + 1).T, *attributes)
    with writing(poly) as stream:
        stream.write(b"0 2 0 1\n")
        _write_segments(stream, mesh)
        stream.write(b"0\n")
    if mesh.max_areas is not None:
        with writing(area) as stream:
            stream.write(f"{mesh.n_triangles}\n".encode())
            write_rows(stream, "%d %.17g\n", triangles, np.where(np.isinf(mesh.max_areas), -1, mesh.max_areas))
        return
    while (stale := companion(path, ".area")) is not None:
        try:
            stale.unlink()
        except OSError as error:
            raise GraphFileError(f"{stale}: cannot be removed: {error.strerror or error}") from error


def write_planar_graph(graph: PlanarGraph, path: Path) -> None:
    """Write a planar graph to a .poly file of Triangle."""
    with writing(path) as stream:
        _write_points(stream, graph)
        _write_segments(stream, graph)
        for places, form in ((graph.holes, "%d %.17g %.17g\n"), (graph.regions, "%d %.17g %.17g %.17g %.17g\n")):
            stream.write(f"{len(places)}\n".encode())
            write_rows(stream, form, 1 + np.arange(len(places)), *places.T)


def _write_points(stream: IO[bytes], given: TriangleMesh | PlanarGraph) -> None:
    points, attributes = given.points, given.point_attributes
    stream.write(f"{len(points)} 2 {attributes.shape[1]} 1\n".encode())
    form = "%d %.17g %.17g" + " %.17g" * attributes.shape[1] + " %d\n"
    write_rows(stream, form, 1 + np.arange(len(points)), *points.T, *attributes.T, given.point_markers)


def _write_segments(stream: IO[bytes], given: TriangleMesh | PlanarGraph) -> None:
    s = len(given.segments)
    stream.write(f"{s} 1\n".encode())
    write_rows(stream, "%d %d %d %d\n", 1 + np.arange(s), *(given.segments + 1).T, given.segment_markers)
