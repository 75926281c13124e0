"""The graphs of the benchmarks, by name; made once and kept in the cache directory.

A name is a key of :data:`GENERATED`, the stem of a file in :data:`DATA` (``road-FLA``), or a path.
"""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import planted
import stencils
import sweeps

from clgraph import generators
from clgraph.data.graphs import csr, geometric, pairs, philox
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.generators import random_edges, regular, roads
from clgraph.io import read
from clgraph.progress import bars, begin
from clgraph.runtime.session import Session
from clgraph.user_cache import cache_dir

DATA = Path(os.environ.get("CLGRAPH_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

COMPONENTS: dict[str, Callable[..., Graph]] = {
    "rmat-22": partial(generators.rmat, 22, 16),
    "uniform-random": partial(generators.uniform_random, 1 << 22, 1 << 26),
    "random-geometric": partial(generators.random_geometric, 1 << 22, 14),
    "delaunay": partial(generators.delaunay_points, 1 << 21, ids="random"),
    "grid-4096": partial(generators.grid, 4096, 4096),
    "road-like": partial(generators.road_like, 16_600_000),
    "rmat-20": partial(generators.rmat, 20, 8),
}
SPANNING: dict[str, Callable[..., Graph]] = {  # roads of the sizes of DIMACS's E, W and USA; about 30 M edges
    "road-like-E": partial(generators.road_like, 3_598_623),
    "road-like-W": partial(generators.road_like, 6_262_104),
    "road-like-USA": partial(generators.road_like, 23_947_347),
    "uniform-3M-30M": partial(generators.uniform_random, 3_000_000, 30_000_000),
    "uniform-5M-30M": partial(generators.uniform_random, 5_000_000, 30_000_000),
    "uniform-10M-30M": partial(generators.uniform_random, 10_000_000, 30_000_000),
    "rmat-22-30M": partial(generators.rmat, 22, 7),
    "rmat-23-30M": partial(generators.rmat, 23, 4),
}
SEARCHES: dict[str, Callable[..., Graph]] = {  # directed: R-MAT, and the sizes and largest degrees of web-Stanford
    "rmat-1M-8M": lambda: _oriented(generators.rmat(20, 8)),
    "web-282K-2.3M": lambda: _power_law(281_903, 2_312_497, max_degree=255, max_in_degree=38_606),
}
DIRECTED: dict[str, Callable[..., Graph]] = {  # Each edge leads in one direction, drawn at random.
    "rmat-22-directed": lambda: _oriented(generators.rmat(22, 16)),
    "uniform-4M-32M-directed": lambda: _oriented(generators.uniform_random(1 << 22, 1 << 25)),
}
SWEEPS: dict[str, Callable[..., Graph]] = {  # directed: meshes whose edges lead along a sweep, 1 % both ways
    "sweep-500": partial(sweeps.swept, (500, 500), (1.0, 0.4)),
    "sweep-2000": partial(sweeps.swept, (2000, 2000), (1.0, 0.4)),
    "sweep-128-3d": partial(sweeps.swept, (128, 128, 128), (1.0, 0.6, 0.3)),
}
MATRICES: dict[str, Callable[..., Graph]] = {  # The sizes come from matrices of SuiteSparse.
    "af_shell-like": partial(stencils.shell, 548, 550),
    "atmosmod-like": partial(stencils.seven_point, 114, 114, 114),
    "CurlCurl-like": partial(stencils.curl_curl, 92, 93, 93),
    "Cube_Coup-like": partial(stencils.consolidation, 81, 82, 82),
    "shell-14": partial(stencils.shell, 60, 60),
    "consolidation-14": partial(stencils.consolidation, 16, 16, 16),
}
SMALL: dict[str, Callable[..., Graph]] = {
    "rmat-16": partial(generators.rmat, 16, 16),
    "rmat-18": partial(generators.rmat, 18, 8),
    "uniform-16": partial(generators.uniform_random, 1 << 16, 1 << 20),
    "uniform-sparse-18": partial(generators.uniform_random, 1 << 18, 1 << 18),
    "geometric-17": partial(generators.random_geometric, 1 << 17, 14),
    "delaunay-17": partial(generators.delaunay_points, 1 << 17, ids="random"),
    "delaunay-17-spatial": partial(generators.delaunay_points, 1 << 17, ids="spatial"),
    "grid-512": partial(generators.grid, 512, 512),
    "road-like-18": partial(generators.road_like, 1 << 18),
    "star-18": partial(generators.star, 1 << 18),
    "path-18": partial(generators.path, 1 << 18),
    "tree-18": partial(generators.tree, 1 << 18),
}
END_TO_END: dict[str, Callable[..., Graph]] = {
    **{f"grid-{side}": partial(generators.grid, side, side) for side in (32, 300, 1000)},
    "geometric-18": partial(generators.random_geometric, 1 << 18, 14),
}
PARTITIONS: dict[str, Callable[..., Graph]] = {
    "delaunay-20": partial(generators.delaunay_points, 1 << 20),
    "geometric-20": partial(generators.random_geometric, 1 << 20, 14),
    "grid-2048": partial(generators.grid, 2048, 2048),
    "stencil-120": partial(stencils.twenty_seven_point, 120),
}
COMMUNITIES: dict[str, Callable[..., Graph]] = {
    **{f"planted-100K-{percent}": partial(planted.planted, 100_000, percent / 100) for percent in (20, 40, 60)},
    "planted-67M": partial(planted.planted, 5_000_000, 0.4, least_degree=12),
}


def _shuffled(make: Callable[[], Graph]) -> Graph:
    """Return the graph with its vertices numbered at random: nothing can be gained from their order."""
    return make().permuted(0)


SHUFFLED = {f"{name}-shuffled": partial(_shuffled, make) for name, make in (PARTITIONS | SMALL).items()}
_OTHERS = COMMUNITIES | PARTITIONS | SHUFFLED | END_TO_END | MATRICES
GENERATED = _OTHERS | COMPONENTS | DIRECTED | SPANNING | SEARCHES | SMALL | SWEEPS
_POWER_LAW = ("rmat", "web")  # beginnings of names


def load(name: str, *, session: Session | None = None) -> Graph:
    """Return graph *name*, generated on first use; with a *session* on its device, where its generator can."""
    if session is not None and is_born(name):
        return GENERATED[name](session=session)
    if name in GENERATED:
        path = _cached(name)
        if path.exists():
            with np.load(path) as arrays:
                # Our own generator wrote them: checking 10**8 entries again would take longer than reading.
                return Graph._trusted(
                    arrays["row_offsets"], arrays["column_indices"], directed=bool(arrays.get("directed", False)),
                    sorted_rows=True,
                )  # fmt: skip
        with bars(f"making {name}"):
            graph = GENERATED[name]()
            part = path.with_suffix(f".{os.getpid()}.part.npz")
            np.savez(part, row_offsets=graph.row_offsets, column_indices=graph.column_indices, directed=graph.directed)
        os.replace(part, path)
        return graph
    with bars(f"reading {name}"):
        return read(_file(name))


def is_born(name: str) -> bool:
    """Return whether a device can make graph *name*."""
    return name in GENERATED and "session" in inspect.signature(GENERATED[name]).parameters


def undirected(name: str, *, session: Session | None = None) -> Graph:
    """Return graph *name*; if it is directed, without directions."""
    graph = load(name, session=session)
    if not graph.directed:
        return graph
    return Graph.from_edges(graph.sources(), graph.column_indices, n=graph.n_vertices, duplicates="first")


def weighted(name: str, high: int = 2**20, *, directed: bool = False, session: Session | None = None) -> Graph:
    """Return graph *name* with weights 1 … *high* hashed from the edge in place of its own.

    A directed graph loses its directions unless *directed*.
    """
    graph = (load if directed else undirected)(name, session=session)
    return generators.random_weights(graph, low=1, high=high + 1)


def source(name: str, graph: Graph) -> int:
    """Return where searches start: at the vertex of largest degree if degrees follow a power law, else the middle."""
    return int(graph.degrees.argmax()) if Path(name).name.startswith(_POWER_LAW) else graph.n_vertices // 2


def prepare(names: Iterable[str], workers: int | None = None) -> None:
    """Generate the missing graphs of *names* in *workers* processes, in the order of the tables.

    Raises
    ------
    InputError
        Nothing has one of the names.
    """
    names = set(names)
    for name in names - set(GENERATED):
        _file(name)
    missing = [name for name in GENERATED if name in names and not _cached(name).exists()]
    if len(missing) > 1:
        with ProcessPoolExecutor(min(workers or 1, len(missing)), get_context("spawn")) as pool, bars():
            futures = [pool.submit(_generate, name) for name in missing]
            tell = begin("making graphs", len(missing), "graphs")
            for n_made, future in enumerate(futures, 1):
                future.result()
                tell(n_made)


def _oriented(graph: Graph) -> Graph:
    """Return the graph with each edge in one direction, drawn at random."""
    src, dst, _ = graph.edge_list()
    turned = np.random.default_rng(0).random(src.size) < 0.5
    ends = np.where(turned, dst, src), np.where(turned, src, dst)
    return Graph.from_edges(*ends, n=graph.n_vertices, directed=True)


def _power_law(n: int, n_edges: int, max_degree: int, max_in_degree: int) -> Graph:
    drawn = generators.power_law_ratings(
        n, n, n_edges, max_user_degree=max_degree, max_item_degree=max_in_degree, rank=1
    )
    return Graph.from_edges(drawn.users, drawn.items, n=n, directed=True)


def _file(name: str) -> Path:
    named = (path for path in sorted(DATA.glob("*")) if path.name.partition(".")[0] == name)
    found = Path(name) if Path(name).is_file() else next(named, None)
    if found is None:
        raise InputError(f"no graph {name!r}: no such file, and the known names are {', '.join(GENERATED)}")
    return found


def _generate(name: str) -> None:
    load(name)


def fingerprint(*code: Any) -> str:
    """Return a digest of these files and modules, so that a file made by other code is not found."""
    paths = (Path(getattr(each, "__file__", each)) for each in code)
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:8]


def _cached(name: str) -> Path:
    """Return the file of graph *name*, which depends on the code that makes it."""
    modules = (stencils, csr) if name in MATRICES else (random_edges, regular, roads, geometric, philox, csr, pairs)
    return cache_dir("graphs") / f"{name}-{fingerprint(*modules)}.npz"
