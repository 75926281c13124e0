"""Irregular graph algorithms on any OpenCL device, with strategies picked by measured rates.

Public names are imported on first use, so that ``import clgraph`` costs nothing beyond numpy.
"""
from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "BFS": "clgraph.algorithms.bfs",
    "Coloring": "clgraph.algorithms.coloring",
    "CollisionTable": "clgraph.algorithms.hash_collisions",
    "Components": "clgraph.algorithms.components",
    "DeviceGraph": "clgraph.runtime.device_graph",
    "DeviceProfile": "clgraph.device.profile",
    "Graph": "clgraph.data.graph",
    "HeteroScheduler": "clgraph.hetero",
    "Partition": "clgraph.algorithms.partition",
    "PlanarGraph": "clgraph.data.planar_graph",
    "Ratings": "clgraph.data.ratings",
    "RefinedMesh": "clgraph.algorithms.delaunay",
    "SGDMatrixFactorization": "clgraph.algorithms.factorization.estimator",
    "Session": "clgraph.runtime.session",
    "ShortestPaths": "clgraph.algorithms.sssp",
    "SpanningForest": "clgraph.algorithms.mst",
    "SplitGraph": "clgraph.engine.split_graph",
    "TriangleMesh": "clgraph.data.triangle_mesh",
    "bfs": "clgraph.algorithms.bfs",
    "color": "clgraph.algorithms.coloring",
    "color_columns": "clgraph.algorithms.coloring.columns",
    "connected_components": "clgraph.algorithms.components",
    "count_conflicts": "clgraph.algorithms.coloring.conflicts",
    "devices": "clgraph.runtime.selection",
    "explain": "clgraph.algorithms.explain",
    "generators": "clgraph.generators",
    "hash_collisions": "clgraph.algorithms.hash_collisions",
    "minimum_spanning_forest": "clgraph.algorithms.mst",
    "partition": "clgraph.algorithms.partition",
    "partition_quality": "clgraph.reference.partition",
    "probe": "clgraph.probing",
    "refine_mesh": "clgraph.algorithms.delaunay",
    "read": "clgraph.io",
    "read_mesh": "clgraph.io.meshes",
    "read_planar_graph": "clgraph.io.meshes",
    "read_ratings": "clgraph.io.ratings",
    "sssp": "clgraph.algorithms.sssp",
    "write": "clgraph.io",
    "write_mesh": "clgraph.io.meshes",
    "write_planar_graph": "clgraph.io.meshes",
    "write_ratings": "clgraph.io.ratings",
}

__all__ = ["__version__", *sorted(_EXPORTS)]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'clgraph' has no attribute {name!r}")
    module = importlib.import_module(_EXPORTS[name])
    value = module if name == "generators" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
