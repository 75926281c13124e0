"""The strategies by rounds over all vertices: baselines of breadth-first search and of shortest paths."""
from __future__ import annotations

from functools import partial

from clgraph.algorithms.traversal.child_launch import ChildLaunch
from clgraph.algorithms.traversal.node_splitting import NodeSplitting
from clgraph.algorithms.traversal.rounds_work import child_launch_work, node_splitting_work, topology_driven_work
from clgraph.algorithms.traversal.topology_driven import TopologyDriven
from clgraph.model.strategy import Strategy


def rounds_strategies(*, levels: bool) -> dict[str, Strategy]:
    """Return them by name, for levels or for distances."""
    return {
        "topology_driven": Strategy("online", partial(TopologyDriven, levels=levels), topology_driven_work),
        "node_splitting": Strategy("online", partial(NodeSplitting, levels=levels), node_splitting_work),
        "child_launch": Strategy("online", partial(ChildLaunch, levels=levels), child_launch_work),
    }
