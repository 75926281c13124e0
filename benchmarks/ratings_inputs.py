"""The rating matrices of the benchmarks, by name; made once and kept in the cache directory.

The first table stands in for the inputs of R. Kaleem, A. Venkat, S. Pai, M. Hall, K. Pingali,
"Synchronization Trade-offs in GPU Implementations of Graph Algorithms", IPDPS 2016. The paper's own
table of inputs was not at hand: sizes come from the public graphs that the names suggest. In the
comments, "published" means read on the page named, "recalled" means taken from memory and not
looked up, "guess" means that nothing was found.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from inputs import DATA, _file, fingerprint
from inputs import load as load_graph

from clgraph import generators
from clgraph.data.graphs import csr, pairs, philox
from clgraph.data.ratings import generators as ratings_generators
from clgraph.data.ratings import ratings
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import InputError
from clgraph.io.ratings import read_ratings, write_ratings
from clgraph.progress import bars
from clgraph.user_cache import cache_dir

__all__ = ["DATA", "FILES", "GENERATED", "load"]


def power_law(
    n_users: int,
    n_items: int,
    n_ratings: int,
    largest_user: int,
    largest_item: int,
    *,
    scale: int = 1,
    workers: int = 1,
) -> Ratings:
    """Return a matrix of that size and those largest degrees, all divided by *scale*.

    A largest degree is at least the mean, which *scale* does not divide.
    """
    users, items, total = n_users // scale, n_items // scale, n_ratings // scale
    degrees = {
        "max_user_degree": max(-(-total // users), min(largest_user // scale, items)),
        "max_item_degree": max(-(-total // items), min(largest_item // scale, users)),
    }
    return generators.power_law_ratings(users, items, total, **degrees, workers=workers)


def uniform(n_users: int, n_items: int, n_ratings: int, *, scale: int = 1, workers: int = 1) -> Ratings:
    """Return uniform random ratings of rank 8, sizes divided by *scale*."""
    return generators.planted_ratings(n_users // scale, n_items // scale, n_ratings // scale, rank=8, noise=0.1)


def road(n: int, *, scale: int = 1, workers: int = 1) -> Ratings:
    """Return synthetic ratings on a road-like graph of ``n / scale`` vertices (2.4 ratings a row)."""
    return Ratings.from_graph(generators.road_like(n // scale), "synthetic")


GENERATED: dict[str, Callable[..., Ratings]] = {
    # KONECT stackexchange-stackoverflow, published: 1,301,942 favourites, largest degree 6,119, mean degrees
    # 2.388 (users) and 13.467 (posts), hence the sizes. Recalled: the largest user. Guess: that it is STACK.
    "STACK": partial(power_law, 545_196, 96_680, 1_301_942, 4_917, 6_119),
    # Pajek/IMDB of the SuiteSparse collection, published: 428,440 movies x 896,308 actors, 3,782,463 entries.
    # Recalled: both largest degrees. Guess: that it is IMDB.
    "IMDB": partial(power_law, 428_440, 896_308, 3_782_463, 1_334, 1_590),
    # Guess: that it is SNAP's wiki-Talk. Recalled: all numbers.
    "WIKI": partial(power_law, 2_394_385, 2_394_385, 5_021_410, 100_022, 3_311),
    # Guess: all numbers. Published (LonestarGPU's page): only the file name bgg.gr, ratings of BoardGameGeek.
    "BGG": partial(power_law, 100_000, 20_000, 10_000_000, 2_000, 30_000),
    # KONECT patentcite, published: 3,774,768 vertices, 16,518,947 edges, largest degree 793 (both directions).
    # Recalled: its two parts.
    "CITP": partial(power_law, 3_774_768, 3_774_768, 16_518_947, 770, 779),
    # SNAP soc-Pokec. Recalled: all numbers.
    "POKEC": partial(power_law, 1_632_803, 1_632_803, 30_622_564, 8_763, 13_733),
    # KONECT soc-LiveJournal1, published: all numbers (SNAP's file has 4,847,571 vertices, 68,993,773 edges).
    "LIVEJ": partial(power_law, 4_846_609, 4_846_609, 68_475_391, 20_292, 13_905),
    # KONECT netflix, published: sizes and largest degrees, which count all 100,480,507 ratings. Published too
    # (Netflix Prize): 99,072,112 of them are the training set less the probe set. Guess: that the study had these.
    "NFLIX": partial(power_law, 480_189, 17_770, 99_072_112, 17_653, 232_944),
    # KONECT dimacs9-CAL, published: 1,890,815 vertices, 4,630,444 edges, largest out-degree 7.
    "CAL": partial(road, 1_890_815),
    # DIMACS 9 USA-road-d.E and .W. Recalled: the vertices (edges: 8,778,114 and 15,248,146).
    "E": partial(road, 3_598_623),
    "W": partial(road, 6_262_104),
    # DIMACS10/road_central of the SuiteSparse collection, published: 14,081,816 vertices, 33,866,826 entries.
    "CTR": partial(road, 14_081_816),
    # Not of the study: Netflix's shape, uniform, on which racy codes are quickest; cuMF_SGD was timed on such.
    "UNIFORM": partial(uniform, 480_189, 17_770, 10_000_000),
}


def _of_file(name: str) -> Ratings:
    return Ratings.from_graph(load_graph(name), "synthetic")


FILES: dict[str, Callable[[str], Ratings]] = {
    # The copy in the data folder may hold more than MovieLens' 943 users and 100,000 ratings: all are kept, so
    # compare errors with published ones only after a look at n_ratings.
    "ml-100k": lambda name: read_ratings(_file(name)),
    **dict.fromkeys(("web-NotreDame", "road-NY", "road-FLA"), _of_file),
}


def load(name: str, *, scale: int = 1, workers: int = 1) -> Ratings:
    """Return matrix *name*; a generated one is kept, and comes from the cache the next time.

    *scale* divides vertices, edges and largest degrees of a generated matrix, which *workers* processes generate.
    """
    if name in FILES:
        if scale != 1:
            raise InputError(f"{name} is a file: scale = {scale}; allowed: 1")
        with bars(f"reading {name}"):
            return FILES[name](name)
    with np.load(keep(name, scale, workers)) as arrays:  # our own generator wrote them: they are not checked again
        sizes = int(arrays["n_users"]), int(arrays["n_items"])
        return Ratings._trusted(arrays["users"], arrays["items"], arrays["values"], *sizes)


def keep(name: str, scale: int = 1, workers: int = 1) -> Path:
    """Return the file of matrix *name*, which is generated if the file is missing."""
    if name not in GENERATED:
        raise InputError(f"no ratings {name!r}; known: {', '.join([*GENERATED, *FILES])}")
    version = fingerprint(Path(__file__), csr, pairs, philox, ratings, ratings_generators)
    path = cache_dir("ratings") / f"{name}-{scale}-{version}.npz"
    if not path.exists():
        with bars(f"making {name}"):
            write_ratings(GENERATED[name](scale=scale, workers=workers), path)
    return path
