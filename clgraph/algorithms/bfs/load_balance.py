"""Measure and plot how evenly a search's edges spread over work-groups, before and after vertices are split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.bfs.strategies import STRATEGIES
from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.figure import figure_file
from clgraph.runtime.driver.timing import RoundBalance
from clgraph.runtime.session import Session

_MAX_BARS = 128


@dataclass(frozen=True)
class BalanceProfile:
    """Numbers of edges that each work-group reads in a search, before and after vertices of many edges are split.

    Attributes
    ----------
    before, after : tuple of RoundBalance
        Statistics of the edges per work-group, one for each round.
    groups_before, groups_after : int array
        Edges of each work-group in the round with the most edges.
    degrees, parts : int array
        Number of edges of each vertex, and of each part after splitting.
    mda : int
        Greatest number of edges per part.
    """

    before: tuple[RoundBalance, ...]
    after: tuple[RoundBalance, ...]
    groups_before: NDArray[Any]
    groups_after: NDArray[Any]
    degrees: NDArray[Any]
    parts: NDArray[Any]
    mda: int


def profile_balance(session: Session, problem: SearchProblem, *, mda: int | str = "histogram") -> BalanceProfile:
    """Run the searches ``topology_driven`` and ``node_splitting``, and return the edges that each work-group read."""
    plain, split = (
        STRATEGIES[name].plan(session, problem, balance=True, **options)
        for name, options in (("topology_driven", {}), ("node_splitting", {"mda": mda}))
    )
    plain.run()
    split.run()
    begin, end = split.arrays["part_begin"].get(), split.arrays["part_end"].get()
    profile = BalanceProfile(
        plain.balance, split.balance, plain.group_edges, split.group_edges, problem.graph.degrees, end - begin,
        split.details["mda"],
    )  # fmt: skip
    plain.release()
    split.release()
    return profile


def plot_balance(profile: BalanceProfile, path: str | Path, name: str) -> None:
    """Plot the load of work-groups in a search to a file:
    edges per work-group, and degrees, before and after splitting.

    Parameters
    ----------
    profile : BalanceProfile
    path : str or Path
        The suffix gives the file format: ``.png``, ``.svg`` or ``.pdf``.
    name : str
        Name of the graph, for the title.

    Raises
    ------
    MissingExtraError, InputError
        As :func:`clgraph.figure.check_figure`.
    """
    with figure_file(path, 12.0, 8.0) as figure:
        figure.suptitle(
            f"{name}: a round over all vertices takes as long as its busiest work-group.\n"
            f"Splitting turns each vertex with more than {profile.mda:,} edges into several."
        )
        top, bottom = figure.subplots(2, 2, sharey="row")
        groups = profile.groups_before, profile.groups_after
        for axes, edges, when in zip(top, groups, ("Before", "After"), strict=True):
            busiest, n_each = _bars(edges)
            axes.bar(np.arange(busiest.size) * n_each, busiest, width=n_each, align="edge")
            mean = float(edges.mean()) if edges.size else 0.0
            axes.axhline(mean, color="black", linewidth=1, label=f"mean of all: {mean:,.0f}")
            axes.axhline(edges.max(initial=0), color="C3", linestyle="--", label=f"busiest: {edges.max(initial=0):,}")
            axes.set_xlabel("work-group" + (f" (a bar is the busiest of {n_each} side by side)" if n_each > 1 else ""))
            axes.set_title(f"{when} splitting: edges that each work-group looks at")
            axes.legend(loc="upper left", framealpha=1)
        n_bins = max(int(profile.degrees.max(initial=0)), profile.mda).bit_length() + 1
        after = "After splitting: vertices and parts of vertices"
        for axes, sizes, what in zip(
            bottom, (profile.degrees, profile.parts), ("Before splitting: vertices", after), strict=True
        ):
            counts = np.bincount(np.ceil(np.log2(sizes + 1)).astype(int), minlength=n_bins)
            axes.bar(range(n_bins), counts, width=0.9)
            limit = 0.5 + np.log2(profile.mda + 1)  # Bar k of the plot counts the numbers that have k binary digits.
            axes.axvline(limit, color="C3", linestyle="--", label=f"most edges allowed: {profile.mda:,}")
            axes.set_yscale("symlog", linthresh=1)
            axes.set_xticks(range(n_bins), map(_bin_label, range(n_bins)), rotation=45, ha="right")
            axes.set_xlabel("edges of each")
            axes.set_title(what)
            axes.legend(loc="upper right", framealpha=1)
        top[0].set_ylim(0, 1.25 * max(1, *(edges.max(initial=0) for edges in groups)))
        top[0].set_ylabel("edges")
        bottom[0].set_ylabel("how many")
        for axes in (top[0], bottom[0]):
            axes.yaxis.set_major_formatter("{x:,.0f}")


def _bin_label(k: int) -> str:
    """Return the label of a histogram's bin *k*, which counts the numbers of *k* binary digits:
    the range of these numbers.
    """
    first, last = (1 << k) >> 1, (1 << k) - 1
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def _bars(edges: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Shorten *edges* to at most 128 bars of a chart, and return the bars and *n_each*.

    A bar is the greatest of *n_each* items.
    """
    n_each = max(1, -(-edges.size // _MAX_BARS))
    padded = np.zeros(-(-edges.size // n_each) * n_each, edges.dtype)
    padded[: edges.size] = edges
    return padded.reshape(-1, n_each).max(axis=1), n_each
