"""The primitives against numpy, by every strategy, on every device and sub-group width.

The strategies for GPUs run here on CPUs, with small work-groups: threads of a CPU do make progress together.
Intel's CPU runtime has real sub-groups: a part of the file runs again on it in child processes, with 8 to 64
lanes.
"""

from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import run_at_width
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clgraph.errors import DeviceError, DeviceTimeoutError, InputError
from clgraph.primitives.compact import Compact
from clgraph.primitives.fill import Fill, iota
from clgraph.primitives.look_back import LookBack
from clgraph.primitives.reduce import Reduce, reduce
from clgraph.primitives.scan import Scan, exclusive_sum
from clgraph.primitives.segmented import SegmentedReduce, SegmentedSort
from clgraph.primitives.sort import Sort, sort
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch

SIZES = [0, 1, 2, 511, 512, 513, 2**16 + 3]
LARGE = 2**20 + 77
SMALL_GROUPS = {"WG_SIZE": 64, "ITEMS_PER_ITEM": 8}
ODD_GROUPS = {"WG_SIZE": 128, "ITEMS_PER_ITEM": 5}
UFUNCS = {"sum": np.add, "min": np.minimum, "max": np.maximum}
LOOK_BACK = [(None, None), ("chunks", SMALL_GROUPS), ("look_back", SMALL_GROUPS)]
SORTS = [(None, None), ("tiles", SMALL_GROUPS), ("onesweep", ODD_GROUPS)]
SUMS = [
    *(("int32 int32", kind) for kind in ("exclusive", "inclusive", "with total")),
    *(("int64 int64", kind) for kind in ("inclusive", "with total")),
    ("uint32 uint32", "inclusive"),
    ("int32 int64", "with total"),
    ("uint32 int64", "exclusive"),
]
SORTED = [  # every program costs a compilation
    ("uint32", None, None, None),
    ("int32", "int64", None, None),
    ("float32", None, None, None),
    ("uint64", "int32", None, None),
    ("float64", "int64", None, None),
    *(
        (keys, values, *strategy)
        for keys, values in (("uint32", None), ("float32", "int64"), ("int64", "int32"))
        for strategy in SORTS[1:]
    ),
]
REDUCED = [
    *((dtype, None) for dtype in ("int32", "uint32", "int64", "float32")),
    *((dtype, {"WG_SIZE": 64, "ITEMS_PER_ITEM": 3}) for dtype in ("int64", "float32")),
]


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(1)


def random_items(rng, n, dtype):
    """Items over the whole range of *dtype*; floats are whole numbers, so that their sums are exact."""
    if np.dtype(dtype).kind == "f":
        return rng.integers(-500, 500, n).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)


def order_of(keys):
    """Unsigned numbers in the order of *keys*."""
    bits = keys.view(f"u{keys.dtype.itemsize}")
    top = bits.dtype.type(1 << (8 * keys.dtype.itemsize - 1))
    if keys.dtype.kind == "f":
        return np.where(bits & top, ~bits, bits ^ top)
    return bits ^ top if keys.dtype.kind == "i" else bits


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float32"])
def test_fill_and_iota_write_every_item(session, dtype):
    for n in [*SIZES, LARGE]:
        array = session.empty(n + 1, dtype)
        array.fill(9)
        Fill(session, array, 3).run()
        np.testing.assert_array_equal(array.get(), np.full(n + 1, 3, dtype))
        iota(session, array)
        np.testing.assert_array_equal(array.get(), np.arange(n + 1).astype(dtype))


@pytest.mark.parametrize("operation", UFUNCS)
@pytest.mark.parametrize(("dtype", "tuning"), REDUCED)
def test_reduce_is_that_of_numpy(session, rng, dtype, operation, tuning):
    for n in [*SIZES[1:], LARGE]:
        _check_reduce(session, random_items(rng, n, dtype), operation, tuning)


def _check_reduce(session, x, operation, tuning):
    result = session.empty(1, x.dtype)
    plan = Reduce(session, session.upload(x), result, operation, tuning=tuning)
    plan.run()
    plan.run()
    assert result.item() == UFUNCS[operation].reduce(x, dtype=x.dtype), x.size


def test_reduce_of_nothing_is_the_identity(session):
    empty = session.empty(0, np.int32)
    assert [reduce(session, empty, o).item() for o in UFUNCS] == [0, 2**31 - 1, -(2**31)]
    empty = session.empty(0, np.float32)
    assert [reduce(session, empty, o).item() for o in UFUNCS] == [0, np.inf, -np.inf]


def test_a_sum_of_int32_may_be_int64(session):
    x = np.full(70_000, 2**31 - 1, np.int32)
    total = session.empty(1, np.int64)
    Reduce(session, session.upload(x), total).run()
    assert total.item() == 70_000 * (2**31 - 1)


@pytest.mark.parametrize(("strategy", "tuning"), LOOK_BACK)
@pytest.mark.parametrize(("dtypes", "kind"), SUMS)
def test_scan_is_that_of_numpy(session, rng, dtypes, kind, strategy, tuning):
    source_type, sum_type = dtypes.split()
    for n in [*SIZES, *([LARGE] if source_type == "int32" else [])]:
        _check_scan(session, random_items(rng, n, source_type), sum_type, kind, strategy=strategy, tuning=tuning)


def _check_scan(session, x, sum_type, kind, **options):
    inclusive, extra = kind == "inclusive", int(kind == "with total")
    target = session.empty(x.size + extra, sum_type)
    plan = Scan(session, session.upload(x), target, inclusive=inclusive, **options)
    for _ in range(3):  # state words of one run are the next one's start
        target.fill(5)
        plan.run()
    plan.check()
    sums = np.concatenate([np.zeros(1, sum_type), np.cumsum(x, dtype=sum_type)])
    wanted = sums[1:] if inclusive else sums[: x.size + extra]
    np.testing.assert_array_equal(target.get(), wanted, f"{x.size} items")


def test_a_wait_that_runs_out_is_an_error(session):
    source, target = session.upload(np.ones(5000, np.int32)), session.empty(5000, np.int32)
    plan = Scan(session, source, target, strategy="look_back", tuning={**SMALL_GROUPS, "SPIN_LIMIT": 1000})
    plan._control.set(np.array([1, 0], np.uint32))  # Pretend that another work-group has drawn tile 0 and died.
    plan.run()
    raised = None
    try:
        plan.check()
    except DeviceTimeoutError as error:
        raised = error
    if raised is None:  # The group of the last tile cleared the counter before another one drew, so tile 0 was drawn.
        np.testing.assert_array_equal(target.get(), np.arange(5000))
    else:
        assert "scan" in str(raised)


def test_a_plan_recovers_from_a_time_out(session, rng):
    plan, run_and_compare = _plan_and_check(session, rng, "scan")
    run_and_compare()
    plan._control.set(np.array([3, 2], np.uint32))  # tickets left over, a time-out
    with pytest.raises(DeviceTimeoutError, match="scan"):
        plan.check()
    run_and_compare()
    run_and_compare()


SORT_BY_LOOK_BACK = {
    "begin_bit": 20, "strategy": "onesweep", "tuning": {"WG_SIZE": 128, "ITEMS_PER_ITEM": 3, "RADIX_BITS": 6},
}  # fmt: skip


def _plan_and_check(session, rng, kind):
    """Return a plan that looks back, and what draws new items, runs it and compares the result."""
    n, small = 3000, {"strategy": "look_back", "tuning": SMALL_GROUPS}
    source, target, order = (session.empty(n, np.int32) for _ in range(3))
    if kind == "scan":
        plan = Scan(session, source, target, **small)
    elif kind == "compact":
        plan = Compact(session, n, order, predicate="f[i]", arrays={"f": source}, **small)
    else:
        index = session.upload(np.arange(n, dtype=np.int32))
        plan = Sort(session, source, target, index, order, **SORT_BY_LOOK_BACK)

    def run_and_compare():
        x = random_items(rng, n, "int32")
        x[rng.random(n) < 0.3] = 0
        source.set(x)
        plan.run()
        plan.check()
        if kind == "scan":
            np.testing.assert_array_equal(target.get(), np.cumsum(x, dtype=np.int32) - x)
        elif kind == "compact":
            np.testing.assert_array_equal(order.get(0, plan.size.item()), np.flatnonzero(x))
        else:
            np.testing.assert_array_equal(order.get(), np.argsort(x >> 20, kind="stable"))

    return plan, run_and_compare


@pytest.mark.parametrize("enqueued", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("kind", ["scan", "compact", "sort"])
def test_a_plan_outlives_a_failed_run(session, rng, monkeypatch, kind, enqueued):
    """A launch raises *before* or *after* the device got it; the same plan then runs rightly, twice.

    A CPU often gets right sums from wrong states, as tiles run nearly in order. So each launch that looks back is
    checked to find all words at the stage it takes for "nothing", with no ticket drawn.
    """
    plan, run_and_compare = _plan_and_check(session, rng, kind)
    control, states = plan._words[0], plan._words[-1]
    stage_at = 32 if states.dtype.itemsize == 8 else 30
    launch, set_values = Launch.__call__, Launch.set
    left, nothing = [0], {}

    def faulty(self, *arguments):
        left[0] -= 1
        if left[0] == 0 and not enqueued:
            raise DeviceError("injected")
        if self.kernel == "histogram":  # counts left over would send keys past the end
            assert not plan._words[1].get().any()
        if self in nothing:
            assert set(states.get() >> stage_at) == {nothing[self]}
            assert control.get().tolist() == [0, 0]
        event = launch(self, *arguments)
        if left[0] == 0:
            raise DeviceError("injected")
        return event

    def seen(self, **values):
        nothing[self] = values["nothing"]
        set_values(self, **values)

    monkeypatch.setattr(Launch, "__call__", faulty)
    monkeypatch.setattr(Launch, "set", seen)
    n_launches = len(plan.launches) + len(plan._look_backs)
    for runs_before in (0, 1):
        for failing in range(1, n_launches + 1):
            for _ in range(runs_before):
                run_and_compare()
            left[0] = failing
            with pytest.raises(DeviceError, match="injected"):
                plan.run()
            run_and_compare()
            run_and_compare()


@pytest.mark.parametrize("kind", ["scan", "compact", "sort"])
def test_a_failed_clearing_is_tried_again(pocl, rng, monkeypatch, kind):
    plan, run_and_compare = _plan_and_check(pocl, rng, kind)
    run_and_compare()
    with monkeypatch.context() as patch:
        patch.setattr(Launch, "__call__", lambda self: (_ for _ in ()).throw(DeviceError("launch")))
        with pytest.raises(DeviceError, match="launch"):
            plan.run()
    with monkeypatch.context() as patch:
        patch.setattr(DeviceArray, "fill", lambda self, value: (_ for _ in ()).throw(DeviceError("fill")))
        for _ in range(2):
            with pytest.raises(DeviceError, match="fill"):
                plan.run()
    run_and_compare()


def test_functions_of_one_run_check_it(pocl, monkeypatch):
    """A time-out reaches the caller of a function that hides its plan."""

    def time_out(self):
        raise DeviceTimeoutError(self._what)

    monkeypatch.setattr(LookBack, "check", time_out)
    x, y = pocl.zeros(9, np.int32), pocl.empty(9, np.int32)
    for call, what in ((lambda: exclusive_sum(pocl, x, y), "scan"), (lambda: sort(pocl, x), "sort")):
        with pytest.raises(DeviceTimeoutError, match=what):
            call()


@pytest.mark.parametrize(("strategy", "tuning"), [*LOOK_BACK, ("look_back", ODD_GROUPS)])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_compact_keeps_the_chosen_items_in_order(session, rng, share, strategy, tuning):
    for n in [*SIZES, *([LARGE] if share == 0.5 else [])]:
        _check_compact(session, random_items(rng, n, "int64"), rng.random(n) < share, strategy=strategy, tuning=tuning)


def _check_compact(session, x, chosen, **options):
    n, count = x.size, np.count_nonzero(chosen)
    target = session.empty(count, np.int64)  # no room for a write past the last item kept
    guard = session.empty(n, np.int32)
    arrays = {"x": session.upload(x), "f": session.upload(chosen.astype(np.int32))}
    items = Compact(session, n, target, predicate="f[i] != 0", item="x[i]", arrays=arrays, **options)
    indices = Compact(session, n, guard, predicate="f[i]", arrays={"f": arrays["f"]}, **options)
    guard.fill(-5)
    for plan in (items, items, indices):
        plan.run()
        plan.check()
        assert plan.size.item() == count
    np.testing.assert_array_equal(target.get(), x[chosen])
    np.testing.assert_array_equal(guard.get(0, count), np.flatnonzero(chosen))
    assert (guard.get(count) == -5).all()


@pytest.mark.parametrize(("dtype", "value_type", "strategy", "tuning"), SORTED)
def test_sort_is_stable_for_every_type(session, rng, dtype, value_type, strategy, tuning):
    for n in SIZES[:6] if strategy else SIZES:
        bits = rng.integers(0, 2**64, n, dtype=np.uint64)
        keys = bits.astype(f"u{np.dtype(dtype).itemsize}").view(dtype)  # NaNs, infinities and -0.0 too
        keys[: n // 2] = keys[n - n // 2 :]  # equal keys show whether the sort is stable
        values = None if value_type is None else np.arange(n).astype(value_type)
        _check_sort(session, keys, values, strategy=strategy, tuning=tuning)


def _check_sort(session, keys, values, begin_bit=0, end_bit=None, **options):
    source, target = session.upload(keys), session.empty(keys.size, keys.dtype)
    moved = () if values is None else (session.upload(values), session.empty(values.size, values.dtype))
    plan = Sort(session, source, target, *moved, begin_bit=begin_bit, end_bit=end_bit, **options)
    for _ in range(2):
        target.fill(1)
        plan.run()
    plan.check()
    sorted_by = order_of(keys)
    if end_bit is not None:
        unsigned = sorted_by.dtype.type
        sorted_by = (sorted_by >> unsigned(begin_bit)) & unsigned(2 ** (end_bit - begin_bit) - 1)
    order = np.argsort(sorted_by, kind="stable")
    unsigned = f"u{keys.dtype.itemsize}"
    np.testing.assert_array_equal(target.get().view(unsigned), keys[order].view(unsigned))
    np.testing.assert_array_equal(source.get().view(unsigned), keys.view(unsigned), "the source changed")
    if values is not None:
        np.testing.assert_array_equal(moved[1].get(), values[order])
    return plan


@pytest.mark.parametrize(("strategy", "tuning"), SORTS)
@pytest.mark.parametrize("bits", [(0, 0), (3, 14), (31, 32)])
def test_sort_by_some_bits_ignores_the_others(session, rng, bits, strategy, tuning):
    keys = rng.integers(-(2**31), 2**31, 5000).astype(np.int32)
    _check_sort(session, keys, np.arange(5000), *bits, strategy=strategy, tuning=tuning)


@pytest.mark.parametrize("value_type", [None, "int32"])
def test_sort_by_cache_lines_is_stable(session, rng, value_type):
    """CPUs sort large arrays by cache lines. The digits here fill no line, some, or all but the ends."""
    if not session.facts.is_cpu:
        pytest.skip("a CPU kernel")
    for n, top in ((100, 2**32), (70_000, 2**32), (70_001, 5), (30_000, 1)):
        keys = rng.integers(0, top, n).astype(np.uint32)
        values = None if value_type is None else np.arange(n).astype(value_type)
        _check_sort(session, keys, values, tuning={"RADIX_BITS": 8, "LINE": 16})


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_many_keys_are_sorted(session, rng, dtype):
    """Enough keys for cache lines on a CPU, and for many tiles on a GPU."""
    n = 2**22 + 5 if dtype == "uint64" else LARGE
    keys = rng.integers(0, 2**40, n, dtype=np.uint64).astype(dtype)
    plan = _check_sort(session, keys, None, 0, 40 if dtype == "uint64" else None)
    assert plan.strategy == ("chunks" if session.facts.is_cpu else plan.strategy)


def test_few_bits_need_few_passes(session, rng):
    keys = session.upload(rng.integers(0, 2**13, 1000).astype(np.uint32))
    target = session.empty(1000, np.uint32)
    assert Sort(session, keys, target, end_bit=13).n_passes == 2
    assert Sort(session, keys, target, end_bit=13, tuning={"RADIX_BITS": 6}).n_passes == 3


def test_the_function_sorts_keys_and_values(session):
    keys, values = sort(session, session.upload(np.array([3.0, -1.0, 2.0], np.float32)), session.upload(np.arange(3)))
    assert keys.get().tolist() == [-1, 2, 3] and values.get().tolist() == [1, 2, 0]


def row_offsets_of(rng, kind, rows):
    lengths = rng.integers(0, 6, rows)
    if kind == "empty":
        lengths[:] = 0
    elif kind == "hub" and rows:
        lengths[rows // 2] = 40_000
    elif kind == "long":
        lengths *= 600
    return np.concatenate([[0], np.cumsum(lengths)])


def reduced(x, offsets, operation):
    """Sum, least or greatest of each segment, one numpy call each."""
    if operation == "sum":
        identity = 0
    elif x.dtype.kind == "f":
        identity = np.inf if operation == "min" else -np.inf
    else:
        identity = np.iinfo(x.dtype).max if operation == "min" else np.iinfo(x.dtype).min
    ufunc = UFUNCS[operation]
    rows = [ufunc.reduce(x[a:b], dtype=x.dtype) if a < b else identity for a, b in pairwise(offsets)]
    return np.array(rows, x.dtype)


@pytest.mark.parametrize("operation", UFUNCS)
@pytest.mark.parametrize(("dtype", "tuning"), REDUCED)
def test_segmented_reduce_is_that_of_each_row(session, rng, dtype, operation, tuning):
    offset_type = "int64" if dtype == "float32" else "int32"
    shapes = [("short", 0), ("short", 1), ("short", 2000), ("empty", 70), ("hub", 1), ("hub", 900)]
    for kind, rows in shapes:
        offsets = row_offsets_of(rng, kind, rows).astype(offset_type)
        _check_segmented_reduce(session, offsets, random_items(rng, offsets[-1], dtype), operation, tuning)


def _check_segmented_reduce(session, offsets, x, operation, tuning=None):
    result = session.empty(offsets.size - 1, x.dtype)
    plan = SegmentedReduce(session, session.upload(offsets), session.upload(x), result, operation, tuning=tuning)
    plan.run()
    plan.run()
    np.testing.assert_array_equal(result.get(), reduced(x, offsets, operation), f"{offsets.size - 1} rows")


def _check_segmented_sort(session, offsets, keys, key_bits=32):
    values = session.upload(np.arange(keys.size))
    sorted_keys, positions = session.empty(keys.size, keys.dtype), session.empty(keys.size, values.dtype)
    plan = SegmentedSort(
        session, session.upload(offsets), session.upload(keys), sorted_keys, values, positions, key_bits=key_bits
    )
    plan.run()
    plan.check()
    order = np.lexsort((order_of(keys), np.repeat(np.arange(offsets.size - 1), np.diff(offsets))))
    np.testing.assert_array_equal(sorted_keys.get(), keys[order], f"{offsets.size - 1} rows")
    np.testing.assert_array_equal(positions.get(), order, f"{offsets.size - 1} rows")


@pytest.mark.parametrize(
    ("dtypes", "key_bits"),
    [("int32 int32", 32), ("int32 int32", 20), ("int64 uint32", 32), ("int64 uint32", 20), ("int32 float32", 32)],
)
def test_segmented_sort_is_that_of_each_row(session, rng, dtypes, key_bits):
    offset_type, dtype = dtypes.split()
    for kind, rows in (("short", 0), ("short", 1), ("short", 3000), ("empty", 70), ("hub", 90), ("long", 60)):
        offsets = row_offsets_of(rng, kind, rows).astype(offset_type)
        keys = random_items(rng, offsets[-1], dtype)
        if key_bits < 32:
            keys = (keys & (2**key_bits - 1)).astype(dtype)
        keys[::3] = keys[:1]
        _check_segmented_sort(session, offsets, keys, key_bits)


@settings(max_examples=40)
@given(lengths=st.lists(st.integers(0, 300), max_size=80), fill_value=st.integers(-3, 3), data=st.data())
def test_segmented_operations_take_any_offsets(session, lengths, fill_value, data):
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32)
    int32 = st.integers(-(2**31), 2**31 - 1)
    x = data.draw(arrays(np.int32, int(offsets[-1]), fill=st.just(fill_value), elements=int32))
    for operation in UFUNCS:
        for tuning in (None, {"WG_SIZE": 64, "ITEMS_PER_ITEM": 3}):
            _check_segmented_reduce(session, offsets, x, operation, tuning)
    _check_segmented_sort(session, offsets, x)


HUGE = SimpleNamespace(size=2**31, dtype=np.dtype(np.int32), buffer=object())


def _array(session, n, dtype="int32"):
    return session.empty(n, dtype)


def _compact_in_place(session, x):
    return Compact(session, x.size, x, predicate="x[i]", arrays={"x": x})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda s: Scan(s, _array(s, 4), _array(s, 6)), "6 items, source 4"),
        (lambda s: Scan(s, _array(s, 4), _array(s, 5), inclusive=True), "5 items, source 4"),
        (lambda s: Scan(s, _array(s, 4, "float32"), _array(s, 4)), "float32 is not supported"),
        (lambda s: Reduce(s, _array(s, 4), _array(s, 1), "mean"), "'mean'; use one of sum, min, max"),
        (lambda s: Sort(s, _array(s, 4), _array(s, 4), end_bit=33), "bits 0 to 33"),
        (lambda s: Sort(s, _array(s, 4), _array(s, 5)), "one size"),
        (lambda s: Sort(s, _array(s, 4, "int16"), _array(s, 4, "int16")), "keys of int16"),
        (lambda s: Sort(s, _array(s, 4), _array(s, 4), _array(s, 4)), "go together"),
        (lambda s: SegmentedReduce(s, _array(s, 0), _array(s, 4), _array(s, 0)), "one item more"),
        (lambda s: SegmentedReduce(s, _array(s, 3), _array(s, 4), _array(s, 3)), "2 items"),
        (lambda s: SegmentedSort(s, _array(s, 3), _array(s, 4, "int64"), _array(s, 4, "int64")), "int64"),
        (lambda s: SegmentedSort(s, _array(s, 2), *[_array(s, 0, "float32")] * 2, key_bits=20), "32 for floats"),
        (lambda s: Scan(s, *[_array(s, 10)] * 2), "cannot write"),
        (lambda s: Sort(s, *[_array(s, 10)] * 2), "cannot write"),
        (lambda s: _compact_in_place(s, _array(s, 10)), "cannot write"),
        *((partial(plan, source=HUGE, target=HUGE), "at most 2147483647") for plan in (Scan, Reduce)),
        (partial(Sort, keys=HUGE, out_keys=HUGE), "at most 2147483647"),
    ],
)
def test_wrong_arguments_are_refused(pocl, make, message):
    with pytest.raises(InputError, match=message):
        make(pocl)


def test_one_run_of_each_kernel_is_right(session, rng):
    """A run of every GPU kernel: all that the slow compiler for wide sub-groups has time for."""
    x = random_items(rng, 3000, "int32")
    for strategy in ("chunks", "look_back"):
        options = {"strategy": strategy, "tuning": SMALL_GROUPS}
        _check_scan(session, x, "int32", "exclusive", **options)
        _check_compact(session, x.astype("int64"), rng.random(3000) < 0.5, **options)
    for strategy in ("tiles", "onesweep"):
        _check_sort(session, x, np.arange(3000), end_bit=32, **{**SORT_BY_LOOK_BACK, "strategy": strategy})
    offsets = row_offsets_of(rng, "short", 900).astype(np.int32)
    _check_segmented_reduce(session, offsets, x[: offsets[-1]], "max", {"WG_SIZE": 64, "ITEMS_PER_ITEM": 2})
    _check_reduce(session, x, "min", {"WG_SIZE": 64})


@pytest.mark.parametrize("width", [8, pytest.param(16, marks=pytest.mark.slow), 32, 64])
def test_primitives_are_right_on_wide_sub_groups(width):
    """Intel's CPU runtime stands in for GPUs: a test may choose the lanes of its sub-groups."""
    script = (
        "import numpy as np, test_primitives as t;t.test_one_run_of_each_kernel_is_right(s, np.random.default_rng(1))"
    )
    run_at_width(width, script)
