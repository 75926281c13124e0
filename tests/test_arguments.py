"""Checks of arguments: what each takes, and how it tells what it does not."""

from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ROOT

import clgraph as cg
from clgraph.algorithms.factorization.training.training import Factorization
from clgraph.arguments import (
    check_choice,
    checked_array,
    checked_count,
    checked_flag,
    checked_number,
    checked_path,
    checked_seed,
    shown,
)
from clgraph.errors import ClgraphError, GraphError, InputError
from clgraph.runtime.session import as_session

sys.path.insert(0, str(ROOT / "tools"))

import fuzz_arguments as fuzz


class Broken:
    """Raises whatever it is asked for."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no")

    __bool__ = __index__ = __float__ = __len__ = __iter__ = __array__ = __repr__ = __hash__ = __fspath__ = _refuse


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: checked_flag("verify", np.array([True, False])), r"verify = array\(\[ True, False\]\); allowed: True"),
        (lambda: checked_flag("verify", 1), "verify = 1; allowed: True, False"),
        (lambda: checked_count("n", 2.0, 9), "n = 2.0; allowed: integers from 1 to 9"),
        (lambda: checked_count("n", np.int64(10), 9), "n = 10; allowed: 1 to 9"),
        (lambda: checked_count("n", 10**5000, 9), "n = <int>; allowed: 1 to 9|n = <int instance"),
        (lambda: checked_count("n", Broken(), 9), "n = <Broken"),
        (lambda: checked_number("x", np.nan), "x = nan; allowed: finite numbers from 0 on"),
        (lambda: checked_number("x", 10**400), "x = 1000.*; allowed: finite numbers"),
        (lambda: checked_number("x", [1.0], 1, 2), r"x = \[1.0\]; allowed: finite numbers from 1 to 2"),
        (lambda: checked_number("x", 1, 1, above=True), "x = 1; allowed: finite numbers above 1"),
        (lambda: check_choice("by", ["edge"], ("edge",)), r"by = \['edge'\]; allowed: 'edge'"),
        (lambda: checked_path("path", 5), r"path = 5; allowed: a path"),
        (lambda: checked_path("path", "a\0b"), "without null characters"),
        (lambda: checked_array("src", Broken()), r"src = <Broken.*RuntimeError: no"),
        (lambda: checked_array("src", np.ma.MaskedArray([[1, 2]], [[False, True]])), r"src\[0, 1\] is masked"),
    ],
)
def test_a_refusal_tells_name_value_and_what_is_allowed(check: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check()


def test_what_fits_is_returned_in_its_own_type() -> None:
    assert checked_flag("verify", np.True_) is True
    assert checked_count("n", np.array(3, np.uint8), 9) == 3 and type(checked_count("n", np.int8(3), 9)) is int
    assert checked_number("x", Fraction(1, 4)) == 0.25 and checked_number("x", np.float32(2)) == 2
    assert shown("a" * 1000) < "b" and len(shown(list(range(1000)))) < 100


def test_an_integer_seed_is_itself_and_others_give_one() -> None:
    assert checked_seed(7) == checked_seed(np.uint8(7)) == checked_seed(np.array(7)) == 7
    sequence = np.random.SeedSequence(7)
    assert checked_seed(sequence) == checked_seed(np.random.SeedSequence(7)) != checked_seed(np.random.SeedSequence(8))
    assert checked_seed([1, 2]) == checked_seed(np.array([1, 2])) != checked_seed([2, 1])
    assert checked_seed(None) != checked_seed(None)
    for make in (np.random.default_rng, np.random.PCG64, np.random.RandomState):
        generator = make(5)
        first = checked_seed(generator)
        assert first == checked_seed(make(5)) != checked_seed(generator), "the next number is another one"


def _holding_itself() -> Any:
    elements = np.empty(2, object)
    elements[:] = [np.matrix([[0, 1]])] * 2
    return elements


SEEDS = [
    -1, 1.5, "x", [1, -1], [0.5], Broken(), {1}, itertools.count(), np.matrix([[0, 1], [1, 0]]), [np.matrix([[0, 1]])],
    _holding_itself(),
]  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_what_numpy_refuses_as_a_seed_is_refused(seed: Any) -> None:
    with pytest.raises(InputError, match=r"(?s)seed = .*; allowed: None, integers from 0 on"):
        checked_seed(seed)


class Agreeable(str):
    """A str that equals everything."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


def _damaged_rows() -> sp.csr_array:
    matrix = sp.csr_array(np.eye(6))
    matrix.indptr = matrix.indptr.astype(np.uint64) * 2**60
    return matrix


GRID = cg.generators.grid(3, 3)
RATINGS = cg.generators.planted_ratings(9, 9, 40, seed=1)
MESH = cg.PlanarGraph.from_arrays([[0, 0], [1, 0], [0, 1]]).triangulate(convex_hull=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cg.HeteroScheduler(np.ma.masked), "devices = masked"),
        (lambda: cg.HeteroScheduler(_damaged_rows()), "devices = "),
        (lambda: cg.SplitGraph.from_graph(GRID, np.ma.masked), "devices = masked"),
        (lambda: cg.SplitGraph.from_graph(GRID, 3), "devices = 3"),
        (lambda: cg.refine_mesh(MESH, whole=np.arange(6)), "whole = array"),
        (lambda: cg.refine_mesh(MESH, whole=sp.csr_array(np.eye(6))), "whole = "),
        (lambda: cg.partition(GRID, 2, refinement=Agreeable("zz")), "refinement = 'zz'"),
        (lambda: cg.minimum_spanning_forest(GRID, devices=["pocl"], strategy=np.arange(2)), "strategy = array"),
        (lambda: cg.connected_components(GRID, devices=["pocl"], strategy=np.arange(2)), "strategy = array"),
    ],
)
def test_an_argument_that_does_not_compare_as_a_name_does_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cg.color(GRID, distance=2, bipartite=True, balanced=True), "balanced=True is for vertices"),
        (lambda: cg.color_columns(sp.coo_array(([1.0], ([0], [0])), shape=(2, 2**31))), "of shape .2, 2147483648.;"),
        (lambda: cg.color_columns(sp.coo_array(np.ones(3))), "two dimensions"),
        (lambda: cg.hash_collisions(GRID, bit_widths=[5, 5]), r"bit_widths = \[5, 5\]"),
        (lambda: cg.hash_collisions(GRID, bit_widths=[]), r"bit_widths = \[\]"),
        (lambda: cg.hash_collisions(GRID, bit_widths=[32]), r"bit_widths = \[32\]"),
        (lambda: cg.hash_collisions(GRID, hashes="identity"), "hashes = 'identity'; allowed: names in a list"),
        (lambda: cg.hash_collisions(GRID, hashes=[]), r"hashes = \[\]; allowed: one or more names"),
        (lambda: cg.hash_collisions(GRID, hashes=["identity", "identity"]), "each once"),
        (lambda: cg.Graph.from_edges(["a"], ["b"], n=3, ids="auto"), "n = 3, but there are 2 ids"),
        (lambda: cg.Graph.from_edges([0], [2], n=2), r"dst\[0\] = 2"),
        (lambda: cg.Graph.from_edges([0], [1], n=2**31), "n = 2147483648"),
        (lambda: cg.Graph.from_scipy(np.eye(2)), "a scipy sparse array"),
        (lambda: cg.Graph.from_scipy(sp.coo_array(np.ones(3))), "it must be square"),
        (lambda: cg.Graph.from_networkx(3), "graph = 3; allowed: a networkx graph"),
        (lambda: cg.Graph([1, 1], []), "it must start at 0"),
        (lambda: cg.Ratings.from_triples([0], [0], ["x"]), "values holds <U1 values such as .*'x'"),
        (lambda: cg.connected_components(GRID, shares="equal"), r"shares: allowed together with devices="),
        (lambda: Factorization(as_session("pocl"), RATINGS, rank=4, options=3), "options = 3; allowed: a dictionary"),
    ],
)  # fmt: skip
def test_an_argument_that_is_not_allowed_is_named(pocl: Any, call: Any, message: str) -> None:
    with pytest.raises(ClgraphError, match=message):
        call()


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="this machine's long doubles are no wider")
def test_a_weight_beyond_the_widest_type_is_told() -> None:
    with pytest.raises(GraphError, match=r"weight 1e\+4000 at 1 is beyond float64"):
        cg.Graph.from_edges([0, 1], [1, 0], weight=np.array(["1", "1e4000"], np.longdouble))


@pytest.mark.parametrize(
    "use",
    [
        lambda seed: cg.generators.rmat(5, seed=seed).column_indices,
        lambda seed: cg.generators.random_weights(cg.generators.path(9), seed).edge_weights,
        lambda seed: cg.generators.path(50).permuted(seed).column_indices,
        lambda seed: cg.generators.power_law_ratings(9, 9, 20, seed=seed).values,
        lambda seed: cg.generators.planted_ratings(9, 9, 20, seed=seed).split(seed=seed)[0].values,
        lambda seed: (
            cg.color(
                cg.generators.rmat(7, seed=1), order="random", seed=seed, session="pocl", deterministic=True
            ).colors
        ),
    ],
)
def test_every_seed_is_taken_in_the_same_ways(use: Any) -> None:
    drawn = [use(np.random.SeedSequence(1)) for _ in range(2)]
    assert np.array_equal(*drawn), "the same seed"
    assert not np.array_equal(drawn[0], use(np.random.default_rng(3))) or not np.array_equal(drawn[0], use(2**70))
    with pytest.raises(InputError, match="seed = -1"):
        use(-1)


@pytest.mark.long
def test_hostile_arguments_are_answered_rightly_or_refused(pocl: Any) -> None:
    tool = ROOT / "tools" / "fuzz_arguments.py"
    done = subprocess.run([sys.executable, tool, "--calls", "700"], capture_output=True, text=True, check=False)
    assert done.stdout == "700 calls, 0 faults\n" and done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda n: 1 // n, "ZeroDivisionError at"),
        (lambda n: n.undefined, "AttributeError at"),
        (lambda n: cg.Graph._trusted(np.array([0, 1, 1]), np.array([9], np.int32)), "wrong answer: column_indices"),
        (lambda n: (n, cg.Ratings._trusted(*np.array([[5], [0], [1]], np.int32), 1, 1)), "wrong answer: users"),
        (lambda n: checked_count("n", n, 9), None),
    ],
)
def test_a_planted_fault_is_told(call: Any, message: str | None) -> None:
    found = fuzz.fault(fuzz.Call(fuzz.Target("call", call, {}, ("n",), ()), {"n": 0}, False))
    assert (found is None) if message is None else (found is not None and message in found)


def test_whatever_is_public_is_called(pocl: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def new(graph: Any, *, verify: bool = False, how_many: int) -> int:
        return how_many

    monkeypatch.setattr(cg, "__all__", ["new", "explain"])
    monkeypatch.setattr(cg, "new", new, raising=False)
    new.__module__ = "clgraph.algorithms.explain"
    first, second = fuzz.targets(fuzz.good_values(tmp_path, pocl))[:2]
    assert first.hostile == ("graph", "verify", "how_many") and first.good["how_many"] == 4
    assert ({"algorithm": "sssp"}, "limit") in [({"algorithm": a["algorithm"]}, o) for a, o in second.options]
