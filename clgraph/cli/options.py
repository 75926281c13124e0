"""Options that several sub-commands share, and what they stand for."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli.terminal import busy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.graph import Graph
    from clgraph.ratings import Ratings
    from clgraph.runtime.session import Session


def add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-d", "--device", metavar="DEVICE",
        help="gpu, cpu, part of a platform, vendor or device name (nvidia, amd:1, pocl), or an id of "
        "`clgraph devices`; the default is CLGRAPH_DEVICE, then the best GPU, then the CPU",
    )  # fmt: skip


def add_strategy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-s", "--strategy", default="auto", help="strategy to force; the default takes the cost model's pick"
    )


def add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--verify", action="store_true", help="check the result against the definition")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")


def add_graph(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", metavar="GRAPH", help="graph file; its content decides the format")


def open_session(args: argparse.Namespace) -> Session:
    """Return a session on the device of ``--device``."""
    from clgraph.runtime.session import Session

    return Session(args.device)


def read_graph(path: str) -> Graph:
    """Read graph file *path*, saying so on a terminal; a text file is parsed once, then cached."""
    from clgraph.io import read

    with busy(f"reading {path}") as show:
        return read(
            path,
            cache=not path.endswith(".npz"),  # already binary
            progress=lambda n_bytes: show(f"{n_bytes / 2**20:.0f} MiB"),
        )


def read_rating_file(path: str) -> Ratings:
    """Read ratings from file *path*, saying so on a terminal."""
    from clgraph.io.ratings import read_ratings

    with busy(f"reading {path}") as show:
        return read_ratings(path, progress=lambda n_bytes: show(f"{n_bytes / 2**20:.0f} MiB"))


def vertex_ids(graph: Graph) -> Sequence[Any]:
    """Return the labels of the vertices, or their numbers where there are none."""
    ids: Sequence[Any] = range(graph.n_vertices) if graph.labels is None else graph.labels.tolist()
    return ids


def write_result(path: str, array: NDArray[Any], lines: Iterable[str]) -> None:
    """Write *array* if *path* ends in .npy, else *lines*; "-" is stdout."""
    from clgraph.io.text import writing

    if path == "-":
        sys.stdout.writelines(lines)
        return
    with writing(Path(path)) as stream:
        if path.endswith(".npy"):
            import numpy as np

            np.save(stream, array)
        else:
            stream.writelines(line.encode() for line in lines)
