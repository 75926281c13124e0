"""Graph algorithms on any OpenCL device; a cost model picks the strategy from the device's measured rates.

Public names are imported on first use, so ``import clgraph`` costs nothing beyond importing numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Type checkers and editors read these imports. A test compares them with the table _NAMES.
    from clgraph import generators as generators
    from clgraph.algorithms.bfs import BFS as BFS
    from clgraph.algorithms.bfs import bfs as bfs
    from clgraph.algorithms.color import Coloring as Coloring
    from clgraph.algorithms.color import color as color
    from clgraph.algorithms.color.columns import ColumnColoring as ColumnColoring
    from clgraph.algorithms.color.columns import color_columns as color_columns
    from clgraph.algorithms.color.conflicts import count_conflicts as count_conflicts
    from clgraph.algorithms.communities import Communities as Communities
    from clgraph.algorithms.communities import communities as communities
    from clgraph.algorithms.communities import modularity as modularity
    from clgraph.algorithms.connected_components import Components as Components
    from clgraph.algorithms.connected_components import connected_components as connected_components
    from clgraph.algorithms.cores import CoreNumbers as CoreNumbers
    from clgraph.algorithms.cores import core_numbers as core_numbers
    from clgraph.algorithms.cores import k_core as k_core
    from clgraph.algorithms.eigenvector_centrality import EigenvectorCentrality as EigenvectorCentrality
    from clgraph.algorithms.eigenvector_centrality import eigenvector_centrality as eigenvector_centrality
    from clgraph.algorithms.explain import explain as explain
    from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization as SGDMatrixFactorization
    from clgraph.algorithms.hash_collisions import CollisionTable as CollisionTable
    from clgraph.algorithms.hash_collisions import hash_collisions as hash_collisions
    from clgraph.algorithms.hits import Hits as Hits
    from clgraph.algorithms.hits import hits as hits
    from clgraph.algorithms.katz_centrality import KatzCentrality as KatzCentrality
    from clgraph.algorithms.katz_centrality import katz_centrality as katz_centrality
    from clgraph.algorithms.maximal_independent_set import IndependentSet as IndependentSet
    from clgraph.algorithms.maximal_independent_set import maximal_independent_set as maximal_independent_set
    from clgraph.algorithms.maximal_matching import Matching as Matching
    from clgraph.algorithms.maximal_matching import maximal_matching as maximal_matching
    from clgraph.algorithms.minimum_spanning_forest import SpanningForest as SpanningForest
    from clgraph.algorithms.minimum_spanning_forest import minimum_spanning_forest as minimum_spanning_forest
    from clgraph.algorithms.pagerank import PageRank as PageRank
    from clgraph.algorithms.pagerank import pagerank as pagerank
    from clgraph.algorithms.partition import Partition as Partition
    from clgraph.algorithms.partition import partition as partition
    from clgraph.algorithms.refine_mesh import RefinedMesh as RefinedMesh
    from clgraph.algorithms.refine_mesh import refine_mesh as refine_mesh
    from clgraph.algorithms.sssp import ShortestPaths as ShortestPaths
    from clgraph.algorithms.sssp import sssp as sssp
    from clgraph.algorithms.strongly_connected_components import StrongComponents as StrongComponents
    from clgraph.algorithms.strongly_connected_components import (
        strongly_connected_components as strongly_connected_components,
    )
    from clgraph.algorithms.strongly_connected_components.condensation import condensation as condensation
    from clgraph.algorithms.triangles import Triangles as Triangles
    from clgraph.algorithms.triangles import triangles as triangles
    from clgraph.data.graphs.graph import Graph as Graph
    from clgraph.data.meshes.planar_graph import PlanarGraph as PlanarGraph
    from clgraph.data.meshes.triangle_mesh import TriangleMesh as TriangleMesh
    from clgraph.data.ratings.ratings import Ratings as Ratings
    from clgraph.device.profile import DeviceProfile as DeviceProfile
    from clgraph.hetero import HeteroScheduler as HeteroScheduler
    from clgraph.io import read as read
    from clgraph.io import write as write
    from clgraph.io.meshes import read_mesh as read_mesh
    from clgraph.io.meshes import read_planar_graph as read_planar_graph
    from clgraph.io.meshes import write_mesh as write_mesh
    from clgraph.io.meshes import write_planar_graph as write_planar_graph
    from clgraph.io.ratings import read_ratings as read_ratings
    from clgraph.io.ratings import write_ratings as write_ratings
    from clgraph.multi_device.process_graph import ProcessGraph as ProcessGraph
    from clgraph.multi_device.split_graph import SplitGraph as SplitGraph
    from clgraph.probing import probe as probe
    from clgraph.reference.partition import partition_quality as partition_quality
    from clgraph.runtime.discovery.selection import devices as devices
    from clgraph.runtime.graphs.device_graph import DeviceGraph as DeviceGraph
    from clgraph.runtime.session import Session as Session

__version__ = "0.1.0"

_NAMES = {  # Each key is a module of the package, and its value lists the public names that the module defines.
    "clgraph.algorithms.bfs": "BFS bfs",
    "clgraph.algorithms.color": "Coloring color",
    "clgraph.algorithms.color.columns": "ColumnColoring color_columns",
    "clgraph.algorithms.color.conflicts": "count_conflicts",
    "clgraph.algorithms.communities": "Communities communities modularity",
    "clgraph.algorithms.connected_components": "Components connected_components",
    "clgraph.algorithms.cores": "CoreNumbers core_numbers k_core",
    "clgraph.algorithms.refine_mesh": "RefinedMesh refine_mesh",
    "clgraph.algorithms.eigenvector_centrality": "EigenvectorCentrality eigenvector_centrality",
    "clgraph.algorithms.explain": "explain",
    "clgraph.algorithms.factorization.estimator.estimator": "SGDMatrixFactorization",
    "clgraph.algorithms.hash_collisions": "CollisionTable hash_collisions",
    "clgraph.algorithms.hits": "Hits hits",
    "clgraph.algorithms.katz_centrality": "KatzCentrality katz_centrality",
    "clgraph.algorithms.maximal_independent_set": "IndependentSet maximal_independent_set",
    "clgraph.algorithms.maximal_matching": "Matching maximal_matching",
    "clgraph.algorithms.minimum_spanning_forest": "SpanningForest minimum_spanning_forest",
    "clgraph.algorithms.pagerank": "PageRank pagerank",
    "clgraph.algorithms.partition": "Partition partition",
    "clgraph.algorithms.sssp": "ShortestPaths sssp",
    "clgraph.algorithms.strongly_connected_components": "StrongComponents strongly_connected_components",
    "clgraph.algorithms.strongly_connected_components.condensation": "condensation",
    "clgraph.algorithms.triangles": "Triangles triangles",
    "clgraph.data.graphs.graph": "Graph",
    "clgraph.data.meshes.planar_graph": "PlanarGraph",
    "clgraph.data.ratings.ratings": "Ratings",
    "clgraph.data.meshes.triangle_mesh": "TriangleMesh",
    "clgraph.device.profile": "DeviceProfile",
    "clgraph.multi_device.process_graph": "ProcessGraph",
    "clgraph.multi_device.split_graph": "SplitGraph",
    "clgraph.generators": "generators",
    "clgraph.hetero": "HeteroScheduler",
    "clgraph.io": "read write",
    "clgraph.io.meshes": "read_mesh read_planar_graph write_mesh write_planar_graph",
    "clgraph.io.ratings": "read_ratings write_ratings",
    "clgraph.probing": "probe",
    "clgraph.reference.partition": "partition_quality",
    "clgraph.runtime.graphs.device_graph": "DeviceGraph",
    "clgraph.runtime.discovery.selection": "devices",
    "clgraph.runtime.session": "Session",
}
_EXPORTS = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *sorted(_EXPORTS)]


if not TYPE_CHECKING:  # If a type checker saw __getattr__, it would accept every name in this package.

    def __getattr__(name: str) -> Any:
        if name not in _EXPORTS:
            raise AttributeError(f"module 'clgraph' has no attribute {name!r}")
        module = importlib.import_module(_EXPORTS[name])
        value = module if name == "generators" else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
