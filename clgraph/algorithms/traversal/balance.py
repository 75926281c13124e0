"""How evenly the edges of a search spread over work-groups, before and after vertices are split."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.bfs import STRATEGIES
from clgraph.algorithms.traversal.node_splitting import NodeSplitting
from clgraph.figure import figure_file
from clgraph.graph import Graph
from clgraph.runtime.session import Session
from clgraph.runtime.timing import RoundBalance

_MOST_BARS = 256
_MOST_BINS = 64


@dataclass(frozen=True)
class BalanceProfile:
    """Work of plain rounds, and of rounds over split vertices.

    Attributes
    ----------
    before, after : tuple of RoundBalance
    groups_before, groups_after : int array
        Edges of each work-group in the round that had most.
    degrees, parts : int array
        Sizes of the rows, and of what they were split into.
    mda : int
        The maximum degree allowed.
    """

    before: tuple[RoundBalance, ...]
    after: tuple[RoundBalance, ...]
    groups_before: NDArray[Any]
    groups_after: NDArray[Any]
    degrees: NDArray[Any]
    parts: NDArray[Any]
    mda: int


def profile_balance(
    session: Session, graph: Graph, sources: NDArray[np.int32], *, max_depth: int | None = None,
    mda: int | str = "histogram",
) -> BalanceProfile:
    """Search breadth-first by ``topology_driven`` and ``node_splitting``; count the edges of every work-group."""
    plain, split = (
        STRATEGIES[name].plan(session, graph, sources, max_depth, balance=True, **options)
        for name, options in (("topology_driven", {}), ("node_splitting", {"mda": mda}))
    )
    assert isinstance(split, NodeSplitting)
    plain.run()
    split.run()
    begin, end = split.parts["part_begin"].get(), split.parts["part_end"].get()
    assert split.balance is not None
    return BalanceProfile(
        plain.balance, split.balance, plain.group_edges, split.group_edges, graph.degrees, end - begin, split.mda
    )


def plot_balance(profile: BalanceProfile, path: str | Path) -> None:
    """Write a picture of *profile*: the edges of work-groups, and the degrees, before and after splitting.

    Parameters
    ----------
    profile : BalanceProfile
    path : str or Path
        Its suffix gives the format: ``.png``, ``.svg``, ``.pdf``.

    Raises
    ------
    InputError
        Matplotlib is missing, or does not know the suffix.
    """
    with figure_file(path, 11.0, 7.0) as figure:
        (top, bottom) = figure.subplots(2, 2, sharey="row")
        groups = profile.groups_before, profile.groups_after
        for axes, edges, when in zip(top, groups, ("before", "after"), strict=True):
            busiest, n_each = _bars(edges)
            axes.bar(np.arange(busiest.size) * n_each, busiest, width=n_each, align="edge")
            axes.axhline(edges.mean() if edges.size else 0.0, color="black", linewidth=1, label="mean")
            axes.set_xlabel("work-group" + (f", the busiest of each {n_each}" if n_each > 1 else ""))
            axes.set_title(f"Edges per work-group {when} splitting")
            axes.legend(frameon=False)
        most = max(1, int(profile.degrees.max(initial=0)))
        bins = np.linspace(0, most + 1, 1 + min(most + 1, _MOST_BINS))
        for axes, sizes, when in zip(bottom, (profile.degrees, profile.parts), ("before", "after"), strict=True):
            axes.hist(sizes, bins)
            axes.axvline(profile.mda, color="C3", linestyle="--", label=f"MDA {profile.mda}")
            axes.set_yscale("log")
            axes.set_xlabel("degree")
            axes.set_title(f"Vertices by degree {when} splitting")
            axes.legend(frameon=False)
        top[0].set_ylim(0, 1.05 * max(1, *(edges.max(initial=0) for edges in groups)))
        top[0].set_ylabel("edges")
        bottom[0].set_ylabel("vertices")


def _bars(edges: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return the largest of each few work-groups, so that bars can be told apart, and how few."""
    n_each = max(1, -(-edges.size // _MOST_BARS))
    padded = np.zeros(-(-edges.size // n_each) * n_each, edges.dtype)
    padded[: edges.size] = edges
    return padded.reshape(-1, n_each).max(axis=1), n_each
