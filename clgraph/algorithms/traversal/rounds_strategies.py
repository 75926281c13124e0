"""The strategies by rounds over all vertices: baselines of breadth-first search and of shortest paths."""
from __future__ import annotations

from clgraph.algorithms.traversal.child_launch import ChildLaunch
from clgraph.algorithms.traversal.node_splitting import NodeSplitting
from clgraph.algorithms.traversal.topology_driven import TopologyDriven
from clgraph.algorithms.traversal.work import by_stats, child_launch_work, node_splitting_work, topology_driven_work
from clgraph.model.strategy import Strategy


def rounds_strategies() -> dict[str, Strategy]:
    """Return them by name."""
    return {
        "topology_driven": Strategy("online", TopologyDriven, by_stats(topology_driven_work)),
        "node_splitting": Strategy("online", NodeSplitting, by_stats(node_splitting_work)),
        "child_launch": Strategy("online", ChildLaunch, by_stats(child_launch_work)),
    }
