import gzip
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import DATA, printed_by
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_graphs import saved
from wrappers import WRAPPERS

from clgraph import generators
from clgraph.data.graphs.graph import Graph
from clgraph.data.ratings import generators as ratings_generators
from clgraph.data.ratings.chances import fitted
from clgraph.data.ratings.ratings import Ratings, as_ratings
from clgraph.errors import GraphFileError, GraphFileWarning, InputError
from clgraph.io.ratings import read_ratings, write_ratings

USERS, ITEMS, VALUES = [2, 0, 0, 2], [1, 5, 2, 0], [1, 2, 3.5, -4]
TRIPLES = USERS, ITEMS, VALUES


def check(ratings: Ratings) -> None:
    """Run the constructor's checks on what a trusted builder made, and check what is derived."""
    again = Ratings(ratings.users, ratings.items, ratings.values, *ratings.shape, ratings.user_ids, ratings.item_ids)
    assert again.users.dtype == again.items.dtype == np.int32 and again.values.dtype == np.float32
    assert not any(a.flags.writeable for a in (ratings.users, ratings.items, ratings.values, ratings.item_offsets))
    n = ratings.n_ratings
    for numbers, offsets, size in (
        (ratings.users, ratings.user_offsets, ratings.n_users),
        (ratings.items, ratings.item_offsets, ratings.n_items),
    ):
        assert offsets.dtype == np.int64
        np.testing.assert_array_equal(np.diff(offsets), np.bincount(numbers, minlength=size))
    np.testing.assert_array_equal(ratings.item_order, np.lexsort((ratings.users, ratings.items)).reshape(n))


def triples(ratings: Ratings) -> list[tuple[int, int, float]]:
    return list(zip(ratings.users.tolist(), ratings.items.tolist(), ratings.values.tolist(), strict=True))


def same(one: Ratings, other: Ratings) -> bool:
    return one.shape == other.shape and triples(one) == triples(other)


def test_triples_are_sorted_and_kept() -> None:
    ratings = Ratings.from_triples(*TRIPLES)
    check(ratings)
    assert triples(ratings) == [(0, 2, 3.5), (0, 5, 2.0), (2, 0, -4.0), (2, 1, 1.0)]
    assert repr(ratings) == "Ratings(n_users=3, n_items=6, n_ratings=4)"
    check(Ratings.from_triples(*TRIPLES, n_users=9, n_items=7))
    assert same(pickle.loads(pickle.dumps(ratings)), ratings)


def test_what_the_caller_changes_later_is_not_the_matrix() -> None:
    users, items, values = np.zeros(2, np.int32), np.array([1, 2], np.int32), np.ones(2, np.float32)
    names = np.array([5, 6, 7])
    arrays = users, items, values
    made = Ratings(*arrays, 1, 3, None, names), Ratings.from_triples(*arrays)
    read = [make(*arrays, *size, copy=False) for make, size in ((Ratings, (1, 3)), (Ratings.from_triples, ()))]
    assert all(np.shares_memory(ratings.items, items) for ratings in read)
    for array in (*arrays, names):
        array[:] = 10**9
    assert triples(made[0]) == triples(made[1]) == [(0, 1, 1.0), (0, 2, 1.0)]
    assert made[0].item_ids is not None and made[0].item_ids.tolist() == [5, 6, 7]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 2)])
def test_a_matrix_may_have_no_ratings(shape: tuple[int, int]) -> None:
    ratings = Ratings.from_triples([], [], [], n_users=shape[0], n_items=shape[1])
    check(ratings)
    assert ratings.stats.n_empty_items == shape[1] and ratings.stats.max_item_degree == ratings.stats.n_diagonals == 0
    assert ratings.split()[0].shape == ratings.to_scipy().shape == shape


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(-5, 5)), max_size=40))
def test_duplicates_are_merged_as_asked(entries: list[tuple[int, int, int]]) -> None:
    columns: Any = tuple(zip(*entries, strict=True)) if entries else ([], [], [])
    groups: dict[tuple[int, int], list[int]] = {}
    for user, item, value in entries:
        groups.setdefault((user, item), []).append(value)
    merges: dict[Any, Callable[[list[int]], float]] = {
        "sum": sum, "mean": lambda v: float(np.float32(np.mean(v))), "last": lambda v: v[-1]
    }  # fmt: skip
    for how, merge in merges.items():
        ratings = Ratings.from_triples(*columns, n_users=7, n_items=10, duplicates=how)
        check(ratings)
        assert triples(ratings) == [(*pair, merge(groups[pair])) for pair in sorted(groups)]
    if len(groups) < len(entries):
        with pytest.raises(InputError, match="more than one rating"):
            Ratings.from_triples(*columns)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [0], [1, 1]), {}, "2 users, 1 items and values of shape"),
        (([0], [0], [[1]]), {}, "values of shape"),
        (([[0]], [0], [1]), {}, "users has shape"),
        (([0.5], [0], [1]), {}, "users holds float64"),
        (([0], ["a"], [1]), {}, "items holds"),
        (([0], [0], ["a"]), {}, "values holds"),
        (([0, -1], [0, 0], [1, 1]), {}, r"users\[1\] = -1; allowed: 0 to 0"),
        (([0, 1], [0, 2**40], [1, 1]), {}, "n_items = 1099511627777; allowed: 0 to 2147483647"),
        (([0, 1], [0, 0], [1, np.nan]), {}, r"values\[1\] = nan; ratings must be finite"),
        (([0], [0], [np.inf]), {}, r"values\[0\] = inf"),
        (([0], [0], [1e300]), {}, r"values\[0\] = 1e\+300"),
        (([3, 0, 3], [4, 0, 4], [1, 1, 1]), {}, "user 3 has more than one rating of item 4"),
        (TRIPLES, {"n_users": 2}, r"users\[0\] = 2; allowed: 0 to 1, as n_users = 2"),
        (TRIPLES, {"n_items": 0}, "allowed: none"),
        (TRIPLES, {"n_users": 2.5}, "n_users = 2.5"),
        (TRIPLES, {"n_items": -1}, "n_items = -1"),
        (TRIPLES, {"duplicates": "keep"}, "duplicates = 'keep'"),
        (TRIPLES, {"ids": True}, "ids = True; allowed: False, 'compact'"),
        (TRIPLES, {"ids": "compact", "n_users": 3}, "n_users = 3, but users holds 2 distinct ids"),
        (([1, 1], [2, 2], [3e38, 3e38]), {"duplicates": "sum"}, "item 2 by user 1 add up beyond float32"),
        ((["a", None, None], [1, 2, 3], [1, 2, 3]), {"ids": "compact"}, r"users\[1\] = None is missing"),
        (([1, 2, 3], [1, 2, np.nan], [1, 2, 3]), {"ids": "compact"}, r"items\[2\] = nan is missing"),
    ],
)
def test_bad_triples_are_refused_with_their_place(arguments: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Ratings.from_triples(*arguments, **options)


def test_the_constructor_needs_sorted_ratings_and_fitting_ids() -> None:
    with pytest.raises(InputError, match="rating 1 is of user 0, item 5, the one before it of user 2, item 1"):
        Ratings(USERS, ITEMS, VALUES, 3, 6)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="without repeats"):
        Ratings([1, 1], [2, 2], [1, 1], 3, 6)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"user_ids has shape \(1,\); needed: \(3,\)"):
        Ratings([1], [2], [1], 3, 6, ["a"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"user_ids\[1\] = nan is missing"):
        Ratings([1], [2], [1], 2, 6, np.array([7, np.nan]))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"item_ids\[0\] = None is missing"):
        Ratings([0], [0], [1], 1, 1, item_ids=[None])
    with pytest.raises(InputError, match="item_ids must be distinct"):
        Ratings([1], [1], [1], 3, 2, None, ["a", "a"])  # type: ignore[arg-type]


def test_ids_are_compacted_and_found_again() -> None:
    ratings = Ratings.from_triples(["bo", "al", "bo"], [70, -5, 2**40], [1, 2, 3], ids="compact")
    check(ratings)
    assert ratings.user_ids is not None and ratings.user_ids.tolist() == ["al", "bo"]
    assert ratings.user_index(["bo", "al", "bo"]).tolist() == [1, 0, 1]
    assert ratings.item_index([2**40, 6, -5], default=-1).tolist() == [2, -1, 0]
    with pytest.raises(InputError, match=r"ids\[1\] = 'cy' is no known user"):
        ratings.user_index(["al", "cy"])
    with pytest.raises(InputError, match="ids = 'al'; allowed: a one-dimensional"):
        ratings.user_index("al")
    with pytest.raises(InputError, match="user 'al' has more than one rating of item 4"):
        Ratings.from_triples(["al", "al"], [4, 4], [1, 2], ids="compact")
    mixed = Ratings.from_triples([("x", 1), 3], [2.5, "y"], [1, 2], ids="compact")
    assert mixed.user_index([3]).tolist() == [1] and mixed.item_index([2.5]).tolist() == [0]
    assert mixed.user_index([None, np.nan], default=-1).tolist() == [-1, -1], "no user lacks an id"
    plain = Ratings.from_triples(*TRIPLES)
    assert plain.item_index([5, 6, -1], default=-1).tolist() == [5, -1, -1]
    with pytest.raises(InputError, match=r"ids\[0\] = 3 is no known user"):
        plain.user_index([3])


@pytest.mark.parametrize("kind", WRAPPERS, ids=lambda kind: kind.__name__)
def test_ids_may_be_arrays_of_other_packages(kind: Any) -> None:
    ratings = Ratings.from_triples(kind([7, 7, 9]), kind([1, 2, 1]), kind([5.0, 3.0, 4.0]), ids="compact")
    assert ratings.shape == (2, 2) and ratings.values.tolist() == [5, 3, 4]
    assert ratings.user_index(kind([9, 7])).tolist() == [1, 0]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_every_format_of_scipy_comes_back(form: str) -> None:
    ratings = Ratings.from_triples(*TRIPLES)
    matrix = ratings.to_scipy().asformat(form)
    again = as_ratings(matrix)
    check(again)
    dense = again.to_scipy().toarray()
    np.testing.assert_array_equal(dense, ratings.to_scipy().toarray())
    if form != "bsr":
        assert same(again, ratings)


def test_entries_of_scipy_are_copied_and_checked() -> None:
    matrix = sp.csr_array((np.array([0.0, 2.0, 3.0]), [1, 1, 0], [0, 2, 3]), shape=(2, 3))
    ratings = Ratings.from_scipy(matrix)
    assert triples(ratings) == [(0, 1, 2.0), (1, 0, 3.0)] and ratings.n_items == 3
    assert triples(Ratings.from_scipy(matrix, duplicates="mean"))[0] == (0, 1, 1.0)
    zero = sp.coo_array(([0.0], ([0], [1])), shape=(1, 2))
    assert triples(Ratings.from_scipy(zero)) == [(0, 1, 0.0)], "an explicit zero is a rating"
    matrix = sp.csr_array(np.ones((2, 2), np.float32))
    ratings = Ratings.from_scipy(matrix)
    matrix.data[:] = 7
    matrix.indices[:] = 0
    assert ratings.values.max() == 1 and ratings.items.max() == 1
    matrix.indices[1] = 99
    with pytest.raises(InputError, match="damaged"):
        Ratings.from_scipy(matrix)
    with pytest.raises(InputError, match="allowed: a 2-D scipy sparse array"):
        Ratings.from_scipy(np.ones((2, 2)))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.bsr_array])
def test_scipy_offsets_whose_differences_overflow_are_refused(kind: Any) -> None:
    matrix = kind(np.eye(2))
    matrix.indptr = np.array([0, 2**31 - 1, -(2**31)], np.int32)
    with pytest.raises(InputError, match=r"damaged: row_offsets runs from 0 to -2147483648"):
        Ratings.from_scipy(matrix)


def test_as_ratings_takes_ratings_and_triples() -> None:
    ratings = Ratings.from_triples(*TRIPLES)
    assert as_ratings(ratings) is ratings
    assert same(as_ratings((USERS, ITEMS, VALUES)), ratings)
    for wrong in ([1], [USERS, ITEMS, VALUES], (USERS, ITEMS)):
        with pytest.raises(InputError, match=rf"builtins\.{type(wrong).__name__} is not a rating matrix"):
            as_ratings(wrong)


def test_weights_of_a_graph_are_ratings() -> None:
    graph = Graph.from_edges([0, 0, 1], [1, 1, 2], [1.0, 3.0, 5.0])
    ratings = Ratings.from_graph(graph)
    check(ratings)
    assert triples(ratings) == [(0, 1, 2.0), (1, 0, 2.0), (1, 2, 5.0), (2, 1, 5.0)]
    road = generators.road_like(900)
    with pytest.raises(InputError, match="an unweighted graph has no ratings"):
        Ratings.from_graph(road)
    made, again = (Ratings.from_graph(road, "synthetic", rank=2, noise=0.5, seed=3) for _ in range(2))
    check(made)
    assert made.n_ratings == road.n_edges and same(made, again)
    assert abs(made.values.std() - 1.25**0.5) < 0.25


def test_statistics_are_those_by_hand() -> None:
    stats = Ratings.from_triples(*TRIPLES).stats
    assert (stats.n_users, stats.n_items, stats.n_ratings) == (3, 6, 4)
    assert (stats.max_user_degree, stats.max_item_degree) == (2, 1)
    assert (stats.n_empty_items, stats.mean_item_degree) == (2, 4 / 6)
    assert stats.user_degree_counts == (1, 0, 2) and stats.user_degree_rating_counts == (0, 0, 4)
    assert stats.item_degree_counts == (2, 4) and stats.item_degree_rating_counts == (0, 4)
    assert stats.n_diagonals == len({-1, 5, 2, -2}) and stats.far_item_share == 0
    far = Ratings.from_triples([0, 0, 1], [0, 4097, 1], [1, 1, 1], n_users=10**6)
    assert far.stats.far_item_share == 0.5, "of two steps, 4097 is far and 4096 is not"
    assert far.stats.n_diagonals == 2


def test_pairs_are_what_scikit_learn_splits() -> None:
    ratings = Ratings([0, 0, 2], [1, 2, 0], [5.0, 3.0, 4.0], 3, 3)
    pairs, values = ratings.to_pairs()
    assert pairs.tolist() == [[0, 1], [0, 2], [2, 0]] and values.tolist() == [5.0, 3.0, 4.0]
    names = np.array(["ann", "bob", "cy"])
    for item_ids, first in ((None, ["ann", 1]), (np.array([7, 8, 9]), ["ann", 8]), (names, ["ann", "bob"])):
        named = Ratings([0, 0, 2], [1, 2, 0], [5.0, 3.0, 4.0], 3, 3, names, item_ids)
        assert named.to_pairs()[0][0].tolist() == first
    with pytest.raises(InputError, match=r"to_pairs\(\)"):
        np.asarray(ratings)


def test_splits_and_folds_have_each_rating_once() -> None:
    ratings = generators.planted_ratings(60, 50, 1003, seed=1)
    train, test = ratings.split(0.2, seed=4)
    assert test.n_ratings == round(0.2 * 1003) and train.shape == test.shape == ratings.shape
    assert sorted(triples(train) + triples(test)) == triples(ratings)
    again, other = ratings.split(0.2, seed=4), ratings.split(0.2, seed=5)
    assert same(again[1], test) and not same(other[1], test)
    parts = list(ratings.folds(4, seed=2))
    assert sorted(triple for _, fold in parts for triple in triples(fold)) == triples(ratings)
    for train, test in parts:
        check(train)
        check(test)
        assert test.n_ratings in (250, 251) and sorted(triples(train) + triples(test)) == triples(ratings)
    named = Ratings.from_triples(["a"], ["b"], [1], ids="compact")
    np.testing.assert_array_equal(named.split(1.0)[0].user_ids, named.user_ids)
    with pytest.raises(InputError, match=r"test_share = 1\.5"):
        ratings.split(1.5)
    with pytest.raises(InputError, match="n_folds = 1"):
        ratings.folds(1)


@pytest.mark.parametrize(
    ("size", "largest"),
    [
        ((2000, 300, 40_000), (290, 1500)),
        ((300, 2000, 40_000), (1500, 280)),
        ((1000, 1000, 5_000), (100, 100)),
        ((50, 40, 1900), (40, 50)),
        ((7, 9, 63), (9, 7)),
        ((40, 60, 30), (3, 5)),
    ],
)
def test_power_law_degrees_are_as_asked(size: tuple[int, int, int], largest: tuple[int, int]) -> None:
    ratings = generators.power_law_ratings(*size, max_user_degree=largest[0], max_item_degree=largest[1], seed=2)
    check(ratings)
    assert (*ratings.shape, ratings.n_ratings) == size
    assert ratings.stats.max_user_degree == largest[0]
    assert abs(ratings.stats.max_item_degree - largest[1]) <= max(2, 4 * largest[1] ** 0.5, 0.03 * largest[1])
    if size[2] >= size[0] + largest[0]:
        assert np.diff(ratings.user_offsets).min() > 0
    wanted = ratings_generators._degrees("item", size[1], size[2], 2.0, largest[1], size[0])
    assert wanted.sum() == size[2] and wanted[0] == largest[1]
    got = -np.sort(-np.diff(ratings.item_offsets))
    assert np.abs(got - wanted).max() <= 5 * wanted[0] ** 0.5


@pytest.mark.parametrize("size", [(0, 0, 0), (3, 0, 0), (3, 3, 0)])
def test_a_power_law_may_have_no_ratings(size: tuple[int, int, int]) -> None:
    ratings = generators.power_law_ratings(*size)
    assert (*ratings.shape, ratings.n_ratings) == size


def test_power_law_mean_degrees_are_as_wanted() -> None:
    """Items are drawn with the right probability also where many of them are sure."""
    total = np.zeros(30)
    user_degrees = ratings_generators._degrees("user", 40, 700, 2.2, 29, 30)
    item_degrees = ratings_generators._degrees("item", 30, 700, 2.0, 38, 40)
    chances = fitted(user_degrees, item_degrees, np.arange(30, dtype=np.int32))
    for seed in range(100):
        rng = np.random.default_rng(seed)
        for degree in user_degrees:
            drawn = ratings_generators._pivotal(rng, chances.boundaries(int(degree)), int(degree), 1)
            assert np.unique(drawn).size == degree
            total[drawn[0]] += 1
    expected = chances.expected(*np.unique(user_degrees, return_counts=True))
    assert np.abs(total / 100 - expected).max() < 0.8 and expected.sum() == pytest.approx(700)
    assert np.abs(expected - item_degrees).max() < 0.4, "as the weights are fitted to be"


def test_power_law_is_the_same_for_any_number_of_workers() -> None:
    sizes = 30_000, 2_000, 1_100_000
    one = generators.power_law_ratings(*sizes, seed=5)
    two = generators.power_law_ratings(*sizes, seed=5, workers=2)
    assert all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ("users", "items", "values"))
    assert not np.array_equal(one.items, generators.power_law_ratings(*sizes, seed=6).items)
    order = np.argsort(np.diff(one.user_offsets))
    assert abs(np.corrcoef(np.arange(order.size), order)[0, 1]) < 0.05, "users are not in order of their degree"


def test_power_laws_take_twice_the_memory_of_the_result() -> None:
    """About twice the memory of the result, beside what the imports take."""
    code = (
        "from first_answer import forget_peak, resident_bytes; from clgraph.generators import power_law_ratings\n"
        "power_law_ratings(100, 100, 1000); forget_peak(); before = resident_bytes('VmHWM')\n"
        "r = power_law_ratings(20_000, 5_000, 3_000_000)\n"
        "print((resident_bytes('VmHWM') - before) / r.nbytes)"
    )
    assert 1 < float(printed_by(code)) < 2.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_user_degree": 3}, "max_user_degree = 3; allowed: 5 to 20"),
        ({"max_item_degree": 11}, "max_item_degree = 11; allowed: 3 to 10"),
        ({"user_exponent": 1}, "user_exponent = 1; allowed: finite numbers above 1"),
        ({"n_ratings": 201}, "n_ratings = 201; allowed: 0 to 200"),
        ({"n_users": -1}, "n_users = -1"),
        ({"rank": 0}, "rank = 0"),
        ({"noise": -1}, "noise = -1"),
        ({"workers": 0}, "workers = 0"),
    ],
)
def test_bad_generator_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        generators.power_law_ratings(**({"n_users": 10, "n_items": 20, "n_ratings": 50} | options))


@pytest.mark.parametrize("n_ratings", [0, 1, 500, 2999, 3000])
def test_planted_ratings_are_distinct_pairs(n_ratings: int) -> None:
    ratings = generators.planted_ratings(60, 50, n_ratings, seed=3)
    check(ratings)
    assert ratings.n_ratings == n_ratings
    assert same(ratings, generators.planted_ratings(60, 50, n_ratings, seed=3))


def test_the_planted_rank_shows() -> None:
    full = generators.planted_ratings(200, 150, 30_000, rank=4, noise=0.1, seed=1)
    assert abs(full.values.std() - 1) < 0.15
    singular = np.linalg.svd(full.to_scipy().toarray(), compute_uv=False)
    assert singular[3] > 20 * singular[4]
    rest = np.sqrt((singular[4:] ** 2).sum() / full.n_ratings)
    assert abs(rest - 0.1) < 0.01, "what a factorisation cannot explain is the noise"
    dense = generators.power_law_ratings(90, 80, 7200, rank=3, noise=0.0)
    assert np.linalg.matrix_rank(dense.to_scipy().toarray(), tol=1e-3) == 3


@pytest.mark.parametrize(
    "text",
    [
        "3\t7\t4\t880\n1\t9\t2.5\t881\n",
        "# a comment\n3 7 4\n% another\n1 9 2.5\n",
        "userId,movieId,rating,timestamp\n3,7,4.0,1\n1,9,2.5,2\n",
        "3::7::4::978\n1::9::2.5::979",
        "user item rating\n3\t7\t4\n\n1\t9\t2.5\n",
    ],
)
def test_text_files_of_every_form_are_read(tmp_path: Path, text: str) -> None:
    ratings = read_ratings(saved(tmp_path, "r.txt", text))
    check(ratings)
    assert triples(ratings) == [(0, 1, 2.5), (1, 0, 4.0)]
    assert ratings.user_index([3]).tolist() == [1] and ratings.item_index([7]).tolist() == [0]
    plain = read_ratings(tmp_path / "r.txt", ids=False)
    assert plain.shape == (4, 10) and plain.user_ids is None
    assert read_ratings(tmp_path / "r.txt", ids=False, base=1).shape == (3, 9)
    (tmp_path / "r.gz").write_bytes(gzip.compress(text.encode()))
    assert same(read_ratings(tmp_path / "r.gz"), ratings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file has no ratings"),
        ("1 2\n", r"line 1: '1 2'; expected 'user item rating'"),
        ("1 2 3\n1 2 3 4\n", r"line 2: '1 2 3 4'"),
        ("a b c\n1 2\n", "line 1: 'a b c'.*columns="),
        ("user item\n\n", "line 1: 'user item'"),
        ("user item\n\n\n1 2 3\n", "line 1: 'user item'"),
        ("2$22\n\n", "line 1"),
        ("user item rating\n\n", "no ratings"),
        ("user item rating\n\n\n1 2\n", "line 4: '1 2'; expected 3 columns: user, item, rating"),
        ("user,item,rating,score\n1,2,3,4\n", "line 1: 'user,item,rating,score'"),
        ("1,,3,4\n", "line 1: '1,,3,4'"),
        ("1::2::::4\n", "line 1: '1::2::::4'"),
        ("1 2 3 4 5\n", "line 1: '1 2 3 4 5'.*columns="),
        ("9223372036854775808 2 3.5\n", "ids from 0 to 9223372036854775807"),
        ("1 2 3\n# c\n1 x 3\n", "line 3: '1 x 3'"),
        ("1 2 3\n1 -2 3\n", "line 2: '1 -2 3'"),
        ("1 2 3\n1.5 2 3\n", r"line 2: '1.5 2 3'"),
        ("1 2 3\n\n1 3 nan\n", "line 3: '1 3 nan'.*finite"),
        ("1 2 3\n1 3 1e99\n", "line 2: '1 3 1e99'.*finite"),
        ("1 2 3\n1 2 4\n", "user 1 has more than one rating of item 2"),
        (
            "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n",
            "line 1.*double general",
        ),
        ("%%MatrixMarket matrix coordinate real general\n1 1\n", "line 2: '1 1'; expected the size line"),
        ("%%MatrixMarket matrix coordinate real general\n2 3 1\n3 1 1\n", "line 3: '3 1 1'.*ids from 1 to 2"),
        ("%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n", "as many entries as there are, 1"),
    ],
)
def test_bad_files_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(GraphFileError, match=message) as error:
        read_ratings(saved(tmp_path, "bad.txt", text))
    assert "bad.txt" in str(error.value)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("timestamp,user,item,rating\n880,1,9,2.5\n881,3,7,4\n", None),
        ("rating::movieId::userId\n4::7::3\n2.5::9::1\n", None),
        ('"","User ID","Movie_Id","Rating"\n0,3,7,4\n1,1,9,2.5\n', None),
        ("880606923 3 7 4\n880606924 1 9 2.5\n", ("time", "user", "item", "rating")),
        ("a,b,c\n7,3,4\n9,1,2.5\n", ["item", "user", "rating"]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_columns_are_found_by_their_names(tmp_path: Path, text: str, columns: Any) -> None:
    ratings = read_ratings(saved(tmp_path, "r.csv", text), columns=columns)
    assert triples(ratings) == [(0, 1, 2.5), (1, 0, 4.0)]
    assert ratings.user_ids is not None and ratings.user_ids.tolist() == [1, 3]
    assert ratings.item_ids is not None and ratings.item_ids.tolist() == [7, 9]


@pytest.mark.parametrize(("text", "column"), [("880606923 1 2 3\n880606924 2 3 4\n", 1), ("1 2 880606923\n", 3)])
def test_a_column_that_looks_like_times_is_told(tmp_path: Path, text: str, column: int) -> None:
    with pytest.warns(GraphFileWarning, match=f"though column {column} looks like times; columns=") as caught:
        read_ratings(saved(tmp_path, "r.txt", text))
    assert caught[0].filename == __file__


def test_large_ids_are_exact_beside_half_stars(tmp_path: Path) -> None:
    ids = [2**53, 2**53 + 1, 1183492348234892345, 1183492348234892346, 2**63 - 1]
    text = "".join(f"{user},4,{1 + at / 2}\n" for at, user in enumerate(ids))
    ratings = read_ratings(saved(tmp_path, "r.csv", text))
    assert ratings.user_ids is not None and ratings.user_ids.tolist() == ids


def test_a_wrong_id_does_not_exhaust_the_memory(tmp_path: Path) -> None:
    file = saved(tmp_path, "r.txt", "1 2000000000 3\n")
    assert read_ratings(file).shape == (1, 1)
    with pytest.raises(GraphFileError, match="pass ids='compact'"):
        read_ratings(file, ids=False)


def test_matrix_market_files_and_archives_come_back(tmp_path: Path) -> None:
    ratings = Ratings.from_triples(*TRIPLES, n_users=4)
    scipy.io.mmwrite(tmp_path / "r.mtx", ratings.to_scipy().tocoo(), symmetry="general")
    assert same(read_ratings(tmp_path / "r.mtx"), ratings)
    named = Ratings.from_triples(["b", "a"], [5, 4], [1, 2], ids="compact")
    write_ratings(named, tmp_path / "r.npz")
    again = read_ratings(tmp_path / "r.npz")
    assert same(again, named) and again.user_index(["b"]).tolist() == [1]
    sp.save_npz(tmp_path / "s.npz", ratings.to_scipy())
    assert same(read_ratings(tmp_path / "s.npz"), ratings)
    np.savez(tmp_path / "t.npz", other=1)
    (tmp_path / "u.npz").write_bytes((tmp_path / "r.npz").read_bytes()[:200])
    for name in ("t.npz", "u.npz"):
        with pytest.raises(GraphFileError, match=name):
            read_ratings(tmp_path / name)
    with pytest.raises(InputError, match="Python objects"):
        write_ratings(Ratings.from_triples([(1, 2)], [0], [1], ids="compact"), tmp_path / "v.npz")
    assert not (tmp_path / "v.npz").exists()
    with pytest.raises(InputError, match="format = 'csv'"):
        read_ratings(tmp_path / "r.npz", format="csv")  # type: ignore[arg-type]


def test_movielens_is_read_as_published() -> None:
    """MovieLens 100k: users 1 to 943; a copy may hold further users behind them."""
    file = DATA / "ml-100k.tsv"
    if not file.exists():
        pytest.skip("no ml-100k.tsv in the data folder")
    ratings = read_ratings(file)
    check(ratings)
    expected = np.loadtxt(file, np.int64)
    expected = expected[np.lexsort((expected[:, 1], expected[:, 0]))]
    assert ratings.user_ids is not None and ratings.item_ids is not None
    np.testing.assert_array_equal(ratings.user_ids[ratings.users], expected[:, 0])
    np.testing.assert_array_equal(ratings.item_ids[ratings.items], expected[:, 1])
    np.testing.assert_array_equal(ratings.values, expected[:, 2])
    original = expected[expected[:, 0] <= 943]
    published = Ratings.from_triples(*original[:, :3].T, ids="compact")
    assert (*published.shape, published.n_ratings) == (943, 1682, 100_000)
