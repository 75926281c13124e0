"""The kinds of files of ``fuzz_readers.py``: valid files, their readers, and ways to damage them."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import fuzz_oracle as oracle
import numpy as np
import scipy.sparse as sp
from fuzz_damage import Damage, damage_archive, damage_bytes, damage_cache, damage_document, damage_text

from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization
from clgraph.algorithms.factorization.estimator.model_file import write_model
from clgraph.data.graphs.graph import Graph
from clgraph.data.ratings.ratings import Ratings
from clgraph.device import profile_files
from clgraph.errors import ClgraphError
from clgraph.generators import grid, random_weights, two_cliques
from clgraph.io import cache, read, write
from clgraph.io.meshes import read_mesh, read_planar_graph
from clgraph.io.ratings import read_ratings, write_ratings


@dataclass(frozen=True)
class Reader:
    """One kind of file.

    Attributes
    ----------
    originals : tuple of bytes
        Valid files.
    read : callable
        ``read(path)`` returns the content of a file.
    check : callable
        ``check(result)`` raises unless the result is valid.
    facts : callable
        ``facts(result)`` returns arrays and numbers by which two results are compared.
    damages : tuple of (Damage, bool)
        Ways to change a file; true if a checksum must notice every change that matters.
    compare : callable, optional
        ``compare(content, result)`` raises unless a second reader finds the same in the content.
    """

    originals: tuple[bytes, ...]
    read: Callable[[Path], Any]
    check: Callable[[Any], None]
    facts: Callable[[Any], tuple[Any, ...]]
    damages: tuple[tuple[Damage, bool], ...]
    compare: Callable[[bytes, Any], None] | None = None

    def check_content(self, path: Path, content: bytes, expected: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """Read *content* as the file *path*, check it, compare its facts if others are *expected*, and return them."""
        path.write_bytes(content)
        result = self.read(path)
        try:
            self.check(result)
        except ClgraphError as error:
            raise AssertionError(f"what was read is invalid: {error}") from error
        if self.compare is not None:
            self.compare(content, result)
        facts = self.facts(result)
        for one, other in zip(facts, facts if expected is None else expected, strict=True):
            assert (one is None) == (other is None) and np.array_equal(one, other), "differs from what was written"
        return facts


def read_as(suffix: str, reader: Callable[[Path], Any], path: Path, **beside: bytes) -> Any:
    """Read the file *path* under a name with *suffix*; *beside* are other files of that name."""
    named = path.with_suffix(suffix)
    named.write_bytes(path.read_bytes())
    for other, content in beside.items():
        path.with_suffix(f".{other}").write_bytes(content)
    return reader(named)


# ---- valid files


def _written(write_to: Callable[[Path], object]) -> bytes:
    """Return the bytes that *write_to* puts into a file."""
    with tempfile.TemporaryDirectory() as folder:
        write_to(Path(folder) / "file.npz")
        return (Path(folder) / "file.npz").read_bytes()


def _graph_files(format: str, *graphs: Graph) -> tuple[bytes, ...]:
    return tuple(_written(partial(write, graph, format=format)) for graph in graphs)


def _scipy_files(matrix: Any, *formats: str) -> tuple[bytes, ...]:
    return tuple(_written(lambda path, f=f: sp.save_npz(path, matrix.asformat(f))) for f in formats)  # type: ignore[misc]


def _write_model(path: Path, *, named: bool) -> None:
    rng = np.random.default_rng(1)
    arrays = {"user_factors": rng.normal(size=(3, 2)), "item_factors": rng.normal(size=(4, 2))}
    if named:
        arrays |= {"user_biases": rng.normal(size=3), "item_biases": rng.normal(size=4)}
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    arrays |= {"offsets": np.array([0, 2, 2, 3]), "items": np.array([0, 3, 1], np.int32)}
    if named:
        arrays |= {"user_ids": np.array([7, 8, 9]), "item_ids": np.array(["a", "b", "c", "d"])}
    parameters = SGDMatrixFactorization(2, biases=named).get_params()
    del parameters["session"]
    history = [[0.01, 1.0, math.nan, 0.1, 30.0]] * 2
    write_model(path, {"parameters": parameters, "mean": 3.5, "history": history, "strategy": "hogwild"}, arrays)


def _read_cached(path: Path) -> Graph:
    """Read a text file whose cache file is *path*."""
    source = path.with_name("source.txt")
    if not source.exists():
        source.write_bytes(_SOURCE)
    place = cache.place(source, {"format": "edge_list", "with_ids": False, "directed": None})
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)  # graphs read before still see the old file
    place.write_bytes(path.read_bytes())
    return read(source, cache=True)


def _write_cache(path: Path) -> None:
    path.write_bytes(_SOURCE)
    cache.save(read(path, format="edge_list"), path)


_PLAIN, _WEIGHTED = two_cliques(4, bridge=True), random_weights(grid(3, 4))
_REAL = random_weights(grid(2, 3), dtype=np.float32)
_WITH_IDS = Graph.from_edges(["x", "y", "x"], ["y", "z", "x"], [0.5, 1, -3], ids="auto", directed=True)
_RATINGS = Ratings.from_triples([0, 0, 1, 3], [1, 4, 0, 2], [1.0, 2.5, 5.0, 3.0])
_NAMED = Ratings.from_triples(["ann", "bob", "ann"], [7, 7, 9], [1.0, 2.0, 3.0], ids="compact")
(_SOURCE,) = _graph_files("edge_list", _REAL)
_ANY_TEXT = ((damage_bytes, False), (damage_text, False), (damage_text, False))
_ANY_ARCHIVE = ((damage_bytes, True), (damage_archive, False), (damage_archive, False))


def _graph_reader(*originals: bytes, format: str | None = None) -> Reader:
    return Reader(originals, partial(read, format=format), oracle.check_graph, oracle.graph_facts, _ANY_TEXT)


def _archive_reader(*originals: bytes) -> Reader:
    return Reader(originals, read, partial(oracle.check_graph, finite=False), oracle.graph_facts, _ANY_ARCHIVE)


EDGE_LISTS = (
    *_graph_files("edge_list", _PLAIN, _WEIGHTED, _REAL),
    b"# Directed graph\n% x\n# Nodes: 9 Edges: 3\n0,1,2.5\n\n1,2,3\n2,0,1e3\n",
    b"5 9000000000\n7 5\n1 2\r\n",
)
HEADED = (
    b"% asym positive\n% 4 4 4\n1 2 5\n2 1 90\n2 3 1\n3 1 1\n",
    b"% asym weighted\n1 2 5 7\n2 1 90 8\n2 3 1 9\n",
    b"% sym unweighted\n% 2 4 4\n1 2 1 99\n2 3 1 98\n",
    b"% bip unweighted\n% 3 2 3\n1 1\n1 2\n2 3\n",
    b"% bip weighted\n5 1 2.5\n9 1 3\n5 7 4\n",
    b"6 5\n0 1\n1 2\n2 3\n3 4\n4 0\n",
    b"4 3\n0 1 .5\n1 2 7\n0 2 1e3\n",
    b"target,source,weight,time\n1,0,2.5,9\n2,1,3,8\n",
    b"FromNodeId\tToNodeId\n5\t1000\n1000\t3\n",
    b"# Nodes: 4 Edges: 3\n0 1000\n1000 3\n3 2\n",
    b"9007199254740993 2 0.5\n9007199254740992 3 1.5\n",
    b"# Directed graph, vertices named by id\n# Nodes: 2 Edges: 1\n2\t1\n",
)
READERS = {
    "edge_list": _graph_reader(*EDGE_LISTS, format="edge_list"),
    "edge_list_ids": Reader(
        (*EDGE_LISTS, *HEADED), partial(read, format="edge_list", with_ids=True, duplicates="keep"), oracle.check_graph,
        oracle.graph_facts, _ANY_TEXT, oracle.check_edges,
    ),
    "matrix_market": _graph_reader(
        *_graph_files("matrix_market", _PLAIN, _WEIGHTED, _REAL),
        b"%%MatrixMarket matrix coordinate integer skew-symmetric\n% x\n3 3 2\n2 1 5\n3 2 -4\n",
        b"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 5\n1 1 2e3\n2 3 .5\n",
        format="matrix_market",
    ),
    "dimacs9": _graph_reader(
        *_graph_files("dimacs9", _PLAIN, _WEIGHTED),
        b"c x\np sp 4 3\na 1 2 7\nc y\na\t2 1 7\na 3 2 1\n",
        format="dimacs9",
    ),
    "metis": _graph_reader(
        *_graph_files("metis", _PLAIN, _WEIGHTED),
        b"% c\n3 2 111 2\n9 8 8 2 10\n9 8 8 1 10 3 20\n9 8 8 2 20\n",
        b"4 2\n2\n1 3\n2\n\n\n",
        format="metis",
    ),
    "any_text": _graph_reader(*EDGE_LISTS, *_graph_files("matrix_market", _REAL), *_graph_files("dimacs9", _WEIGHTED)),
    "compressed": Reader(
        tuple(
            pack(text)
            for text in (EDGE_LISTS[1], *_graph_files("matrix_market", _PLAIN), *_graph_files("npz", _WEIGHTED))
            for pack in (partial(gzip.compress, mtime=0), lzma.compress, bz2.compress)
        ),
        read, oracle.check_graph, oracle.graph_facts, ((damage_bytes, True),),
    ),
    "npz": _archive_reader(*_graph_files("npz", _PLAIN, _WEIGHTED, _REAL, _WITH_IDS)),
    "npz_of_scipy": _archive_reader(*_scipy_files(_REAL.to_scipy(), "csr", "csc", "coo", "bsr", "dia")),
    "planar_graph": Reader(
        (
            b"# x\n4 2 1 1\n1 0 0 2.5 7\n2 1 0 3 0 # y\n3 1 1 4 0\n4 0 1 5 0\n4 1\n1 1 2 5\n2 2 3 0\n3 3 4 0\n4 4 1 0\n"
            b"1\n1 0.5 0.5\n1\n1 .25 .25 9 0.125\n",
            b"3 2\n0 0 0\n1 1 0\n2 0 1\n3\n0 0 1\n1 1 2\n2 2 0\n0\n",
        ),
        partial(read_as, ".poly", read_planar_graph), oracle.check_planar_graph, oracle.all_fields, _ANY_TEXT,
    ),
    "mesh": Reader(
        (b"2 3 1\n1 1 2 3 5\n2 1 3 4 6\n", b"# x\n1 3\n1 4 1 2\n"),
        partial(read_as, ".ele", read_mesh, node=b"4 2\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n"), oracle.check_mesh,
        oracle.all_fields, _ANY_TEXT,
    ),
    "ratings_text": Reader(
        (
            b"# x\nuser,item,rating,time\n1,2,3.5,881250949\n1,3,1,881250950\n2,2,5,881250951\n",
            b"1::10::5::978300760\n1::20::3::978302109\n3::10::4::978301968\n",
            b"timestamp,user,item,rating\n880,1,9,2.5\n881,3,7,4\n",
            b"rating::movieId::userId\n4::7::3\n2.5::9::1\n",
            b"9007199254740993,4,3.5\n9007199254740992,5,2.5\n",
        ),
        partial(read_ratings, format="text"), oracle.check_ratings, oracle.ratings_facts, _ANY_TEXT,
        oracle.check_triples,
    ),
    "ratings_matrix": Reader(
        (b"%%MatrixMarket matrix coordinate real general\n%\n3 5 3\n1 1 5\n1 2 2.5\n3 5 1\n",),
        read_ratings, oracle.check_ratings, oracle.ratings_facts, _ANY_TEXT,
    ),
    "ratings_npz": Reader(
        (
            *(_written(partial(write_ratings, ratings)) for ratings in (_RATINGS, _NAMED)),
            *_scipy_files(_RATINGS.to_scipy(), "csr", "coo", "bsr"),
        ),
        partial(read_ratings, format="npz"), oracle.check_ratings, oracle.ratings_facts, _ANY_ARCHIVE,
    ),
    "model": Reader(
        tuple(_written(partial(_write_model, named=named)) for named in (False, True)),
        SGDMatrixFactorization.load, oracle.check_model, oracle.model_facts, _ANY_ARCHIVE,
    ),
    "profile": Reader(
        tuple(json.dumps(profile_files.shipped_profiles()[name].to_json(), indent=1).encode() for name in
              ("generic-cpu", "nvidia-cuda--nvidia-h200")),
        profile_files._load, oracle.check_profile, lambda profile: (), (*_ANY_TEXT, *[(damage_document, False)] * 3),
    ),
    "cache": Reader(
        (_written(_write_cache),), _read_cached, oracle.check_cached, oracle.graph_facts,
        ((damage_bytes, True), (damage_cache, False)),
    ),
}  # fmt: skip
