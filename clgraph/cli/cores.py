"""``clgraph core_numbers``."""

from __future__ import annotations

import argparse

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import vertex_ids, write_result


def _add_settings(_parser: argparse.ArgumentParser) -> None:
    """Add no options, since the problem has none."""


def _show(run: Run) -> Shown:
    degeneracy, cores = run.result
    innermost = int((cores == degeneracy).sum())
    return Shown(
        {"degeneracy": degeneracy, "innermost": innermost},
        {"degeneracy": f"{degeneracy:,}", "innermost core": f"{innermost:,} vertices"},
    )


def _write(path: str, run: Run) -> None:
    cores = run.result.cores
    write_result(path, cores, zip(vertex_ids(run.graph), cores.tolist(), strict=True))


CORES = GraphCommand(
    "core_numbers", "find the core number of each vertex of an undirected simple graph", _show, _add_settings,
    output="each vertex and its core number (an int32 array of numbers if FILE ends in .npy)", write=_write,
)  # fmt: skip
