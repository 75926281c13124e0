"""The words of ``cl/common`` compute what their headers say, on every device and sub-group width.

Intel's CPU runtime has real sub-groups: the whole file runs again on it in child processes, with 8 to 64
lanes. ``CLGRAPH_TEST_DEVICES=nvidia python -m pytest tests/test_vocabulary.py`` runs it on a GPU.
"""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from conftest import intel_session, printed_by

from clgraph.errors import KernelBuildError
from clgraph.runtime.session import Session

VOCABULARY = str(Path(__file__).parent / "kernels" / "vocabulary.cl")
WG_SIZE = 64
N = 32 * WG_SIZE
INTEGERS = {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
TYPES = {**INTEGERS, "float": np.float32}


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(1)


def launch(session: Session, kernel: str, *arguments, n: int | None = None):
    """Run *kernel* over *n* (else N) work-items; arrays come back changed, in the order given."""
    program = session.program(VOCABULARY, work_group_size=WG_SIZE)
    placed = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            array = session.empty(argument.size, argument.dtype)
            array.set(argument)
            placed.append(array)
        else:
            placed.append(argument)
    program.bind(kernel, n or N, dict(zip(program.parameters(kernel), placed, strict=True)))()
    session.finish()
    return [array.get() for array in placed if hasattr(array, "get")]


def check_columns(columns: np.ndarray, expected: dict[str, np.ndarray]) -> None:
    for column, (word, value) in zip(columns, expected.items(), strict=True):
        np.testing.assert_array_equal(column, value.ravel(), word)


def needs_int64(session: Session, name: str) -> None:
    if name in ("long", "ulong") and not session.facts.has_int64_atomics:
        pytest.skip("no 64-bit atomics on this device")


def test_groups_that_are_no_whole_sub_groups_do_not_compile(session):
    width = {} if session.facts.sub_group_size > 1 else {"DEV_SUB_GROUP_SIZE": 32}
    size = width.get("DEV_SUB_GROUP_SIZE", session.facts.sub_group_size)
    for wrong in {size // 2, size + size // 2}:
        with pytest.raises(KernelBuildError, match="not a multiple of the sub-group width"):
            session.program("primitives/compact.cl", width, work_group_size=wrong)


def test_a_group_of_one_is_a_sub_group_of_one(session, rng):
    program = session.program(VOCABULARY, {"DEV_SUB_GROUP_SIZE": 32}, work_group_size=1)
    assert program.constant("SUB_GROUP_SIZE") == program.constant("SUB_GROUPS_PER_GROUP") == 1


def test_masks_name_the_lanes_of_a_sub_group(session, rng):
    width = session.facts.sub_group_size
    x = rng.integers(0, 1000, N).astype(np.uint32)
    x[: N // 2] &= ~np.uint32(1)  # sub-groups without any odd value, too
    columns = launch(session, "sub_group_masks", x, np.zeros(13 * N, np.uint64))[1].reshape(13, N)
    rows = x.reshape(-1, width)
    lanes = np.arange(width, dtype=np.uint64)
    one = np.uint64(1)

    def everywhere(per_sub_group):
        return np.repeat(np.asarray(per_sub_group, np.uint64), width)

    odd = ((rows & 1).astype(np.uint64) << lanes).sum(1, dtype=np.uint64)
    lowest = [99 if not mask else (int(mask) & -int(mask)).bit_length() - 1 for mask in odd]
    highest = [99 if not mask else int(mask).bit_length() - 1 for mask in odd]
    expected = {
        "lane": np.tile(lanes, N // width),
        "in group": np.arange(N) % WG_SIZE // width,
        "ballot": everywhere(odd),
        "any": everywhere((rows % 97 == 0).any(1)),
        "all": everywhere((rows % 8 != 0).all(1)),
        "lanes below": np.tile((one << lanes) - one, N // width),
        "lowest lane": everywhere(lowest),
        "lane count": everywhere((rows & 1).sum(1)),
        "any of a 64-bit value": everywhere((rows != 0).any(1)),
        "lowest lane of 64 bits": x % 64,
        "highest lane": everywhere(highest),
        "highest lane of 64 bits": x % 64,
        "the driver's width": np.full(N, width),
    }
    check_columns(columns, expected)


@pytest.mark.parametrize("name", TYPES)
def test_sub_groups_reduce_and_scan_values(session, rng, name):
    width, kind = session.facts.sub_group_size, TYPES[name]
    x = rng.integers(-10_000, 10_000, N).astype(kind)  # whole numbers: a float sum is exact in any order
    if name in ("long", "ulong"):
        x *= kind(2**40 + 1)  # both words matter
    rows = x.reshape(-1, width)
    lanes = np.arange(width)
    columns = launch(session, f"sub_group_{name}", x, np.zeros(6 * N, kind))[1].reshape(6, N)
    before = np.cumsum(rows, 1, dtype=kind) - rows
    expected = {
        "broadcast": rows[:, (lanes + 1) % width],
        "xor": rows[:, lanes ^ width // 2],
        "sum": np.repeat(rows.sum(1, dtype=kind), width),
        "least": np.repeat(rows.min(1), width),
        "greatest": np.repeat(rows.max(1), width),
        "exclusive sum": before,
    }
    check_columns(columns, expected)


def test_exclusive_sum_of_infinity_starts_at_zero(session):
    x = np.full(N, np.inf, np.float32)
    first = launch(session, "sub_group_float", x, np.zeros(6 * N, np.float32))[1].reshape(6, N)[5]
    assert (first[:: session.facts.sub_group_size] == 0).all()


def test_sync_orders_local_memory(session, rng):
    width = session.facts.sub_group_size
    x = rng.integers(0, 2**32, N).astype(np.uint32)
    result = launch(session, "sub_group_memory", x, np.zeros(N, np.uint32))[1]
    np.testing.assert_array_equal(result, np.roll(x.reshape(-1, width), -4, 1).ravel())


def _is_chain(start, old, written, last) -> bool:
    """Whether one order of read-modify-writes explains what each saw: every value is read by the next."""
    return np.array_equal(np.sort(np.append(old, last)), np.sort(np.append(written, start)))


@pytest.mark.parametrize("name", INTEGERS)
def test_atomics_lose_nothing(session, rng, name):
    needs_int64(session, name)
    kind = INTEGERS[name]
    limits = np.iinfo(kind)
    bits = limits.bits
    values = rng.integers(limits.min, limits.max, N, dtype=kind, endpoint=True)
    start = np.array([0, limits.max, limits.min, -1 if limits.min else limits.max, 0, 0, 0], kind)
    _, words, old = launch(session, f"atomics_{name}", values, start, np.zeros(7 * N, kind))
    old = old.reshape(7, N)
    assert words[0] == 3 * N
    np.testing.assert_array_equal(np.sort(old[0]), 3 * np.arange(N))
    assert words[1] == values.min() and words[2] == values.max()
    assert (old[1] >= words[1]).all() and (old[2] <= words[2]).all()
    assert limits.max in old[1] and limits.min in old[2]
    assert int(words[3]) == 0 and int(words[4]) == (-1 if limits.min else limits.max)
    for fetched, inverse in ((old[3], False), (old[4], True)):
        # The bits cleared (set) so far grow along the one order: each value contains every later one.
        seen = {int(v) % 2**bits for v in fetched}
        ordered = sorted((2**bits - 1 - v if inverse else v) for v in seen)
        assert all(low & high == low for low, high in itertools.pairwise(ordered))
    assert _is_chain(start[5], old[5], np.arange(1, N + 1, dtype=kind), words[5])
    assert words[6] == 5 * N
    np.testing.assert_array_equal(np.sort(old[6]), 5 * np.arange(N))


@pytest.mark.parametrize("name", ["int", "uint"])
def test_local_atomics_lose_nothing(session, rng, name):
    kind = INTEGERS[name]
    limits = np.iinfo(kind)
    values = rng.integers(limits.min, limits.max, N, dtype=kind, endpoint=True)
    start = np.array([0, limits.max, limits.min, -1 if limits.min else limits.max, 0, 0, 0], kind)
    words = launch(session, f"local_atomics_{name}", values, np.tile(start, N // WG_SIZE))[1].reshape(-1, 7)
    groups = values.reshape(-1, WG_SIZE)
    full = -1 if limits.min else limits.max
    np.testing.assert_array_equal(words[:, 0], 3 * WG_SIZE)
    np.testing.assert_array_equal(words[:, 1], groups.min(1))
    np.testing.assert_array_equal(words[:, 2], groups.max(1))
    assert (words[:, 3] == 0).all() and (words[:, 4] == full).all()
    # The first exchange adds 41; later exchanges may have taken it away again.
    assert np.isin(words[:, 5], [1, 42]).all()
    np.testing.assert_array_equal(words[:, 6], 5 * WG_SIZE)


@pytest.mark.parametrize("name", TYPES)
def test_loads_see_stores(session, rng, name):
    needs_int64(session, name)
    kind = TYPES[name]
    x = rng.integers(-(2**31), 2**31, N).astype(kind) * kind(3)
    zeros = np.zeros(N, kind)
    source, relaxed, stale, own = launch(session, f"loads_{name}", x, zeros, zeros, zeros)
    np.testing.assert_array_equal(relaxed, x)
    np.testing.assert_array_equal(stale, x)
    np.testing.assert_array_equal(source, x)
    np.testing.assert_array_equal(own, np.full(N, 2 * sum(range(8)), kind))


@pytest.mark.parametrize("name", ["int", "uint", "ulong"])
def test_loads_and_minima_are_made_if_wanted(session, rng, name):
    needs_int64(session, name)
    kind = INTEGERS[name]
    (x, before), wanted = rng.integers(2, np.iinfo(kind).max, (2, N), dtype=kind), rng.integers(0, 2, N).astype(kind)
    *_, found = launch(session, f"loads_if_{name}", x, wanted, np.zeros(N, kind))
    np.testing.assert_array_equal(found, np.where(wanted, x, 1))
    if name != "int":
        *_, least, found = launch(session, f"minima_if_{name}", x, wanted, before, np.zeros(N, kind))
        np.testing.assert_array_equal(least, np.where(wanted, np.minimum(x, before), before))
        np.testing.assert_array_equal(found, np.where(wanted, before, 0))


def test_exchanges_are_made_if_wanted(session, rng):
    wanted, words = rng.integers(0, 2, N).astype(np.uint32), rng.integers(1, 9, N).astype(np.uint32)
    signed, numbers = rng.integers(-1, 1, N).astype(np.int32), np.arange(N)
    _, now, signed_now, found, compared = launch(
        session, "exchanges_if", wanted, words, signed, np.zeros(N, np.uint32), np.zeros(N, np.int32)
    )
    np.testing.assert_array_equal(now, np.where(wanted, numbers, words))
    np.testing.assert_array_equal(found, np.where(wanted, words, 0))
    np.testing.assert_array_equal(signed_now, np.where(wanted & (signed == -1), numbers, signed))
    np.testing.assert_array_equal(compared, np.where(wanted, signed, 0))


@pytest.mark.parametrize("name", INTEGERS)
def test_each_value_lowers_a_word_at_most_once(session, rng, name):
    needs_int64(session, name)
    kind = INTEGERS[name]
    limits = np.iinfo(kind)
    values = rng.integers(limits.min, limits.max, N, dtype=kind)
    _, least, lowered = launch(session, f"lower_{name}", values, np.array([limits.max], kind), np.zeros(1, np.uint32))
    assert least[0] == values.min()
    assert 1 <= lowered[0] <= N  # a value lowers the word at most once
    same = np.full(N, 7, kind)
    _, least, lowered = launch(session, f"lower_{name}", same, np.array([8], kind), np.zeros(1, np.uint32))
    assert (least[0], lowered[0]) == (7, 1)  # exactly one of many equal ones did it


def test_a_message_is_seen_after_its_flag(session):
    seen = 0
    for _ in range(10):
        items, flags = np.zeros(8 * N, np.uint32), np.zeros(8 * N, np.uint32)
        out = launch(session, "message_passing", items, flags, np.zeros(N // 2, np.uint32))[2]
        assert not (out == 2).any(), "a reader saw the flag but not the item stored before it"
        seen += int((out == 3).sum())
    assert seen, "no reader ever saw a flag"


def test_float_add_loses_nothing(session, rng):
    x = rng.integers(-50, 50, N).astype(np.float32) / 4
    mask = 15
    zeros = np.zeros(mask + 1, np.float32)
    _, sums, by_compare_exchange = launch(session, "float_adds", np.uint32(mask), x, zeros, zeros)
    expected = np.bincount(np.arange(N) & mask, weights=x)
    np.testing.assert_array_equal(sums, expected)
    np.testing.assert_array_equal(by_compare_exchange, expected)


def test_float_keys_keep_the_order(session, rng):
    special = [0.0, -0.0, np.inf, -np.inf, 1e-40, -1e-40, 3.4e38, -3.4e38]
    x = np.append(rng.normal(size=N - len(special)), special).astype(np.float32)
    start = np.array([2**32 - 1], np.uint32)
    zeros = np.zeros(N, np.uint32)
    _, keys, back, least = launch(session, "float_keys", x, zeros, zeros.astype(np.float32), start)
    np.testing.assert_array_equal(back.view(np.uint32), x.view(np.uint32))
    assert (np.diff(x[np.argsort(keys)]) >= 0)[1:-1].all()
    assert least[0] == keys.min() == keys[x == -np.inf][0]


def test_locks_lose_nothing(session):
    n_locks, sections = 7, 5
    zeros = np.zeros(n_locks, np.uint32)
    words, counts, plain_counts, status = launch(
        session, "locks", np.uint32(n_locks), np.uint32(sections), zeros, zeros, zeros, np.zeros(1, np.uint32)
    )
    assert status[0] == 0
    assert counts.sum() == N * sections
    np.testing.assert_array_equal(plain_counts, counts)
    assert not words.any()


@pytest.mark.parametrize("limit", [0, 1, 4, 7])
def test_pushes_lose_nothing(session, rng, limit):
    x = rng.integers(0, 1000, N).astype(np.uint32)
    size, room = np.zeros(1, np.uint32), np.full(2 * N, 2**32 - 1, np.uint32)
    _, size, items, group_size, group_items = launch(session, "pushes", np.uint32(limit), x, size, room, size, room)
    wanted = np.flatnonzero(x % 7 < limit)
    expected = np.sort(np.concatenate([2 * wanted, 2 * wanted + 1]))
    for count, pushed in ((size[0], items), (group_size[0], group_items)):
        assert count == expected.size
        np.testing.assert_array_equal(np.sort(pushed[:count]), expected)
        assert (pushed[count:] == 2**32 - 1).all()


def random_key(seed: int) -> int:
    mask = 2**64 - 1
    x = (seed + 0x9E3779B97F4A7C15) & mask
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = ((x ^ x >> 33) * factor) & mask
    return (x ^ x >> 33) | 1


def random_words(seed: int, n: int) -> np.ndarray:
    """Squares, in numpy."""
    key = np.uint64(random_key(seed))
    half = np.uint64(32)
    with np.errstate(over="ignore"):
        y = np.arange(n, dtype=np.uint64) * key
        x, z = y.copy(), y + key
        for addend in (y, z, y):
            x = x * x + addend
            x = x >> half | x << half
        return ((x * x + z) >> half).astype(np.uint32)


@pytest.mark.parametrize("seed", [0, 1, 2**63 + 12345])
def test_random_numbers_equal_their_numpy_twin(session, seed):
    zeros = np.zeros(N, np.uint32)
    words, below, unit = launch(
        session, "randoms", np.uint64(seed), np.uint32(1000), zeros, zeros, np.zeros(N, np.float32)
    )
    expected = random_words(seed, N)
    np.testing.assert_array_equal(words, expected)
    np.testing.assert_array_equal(below, expected.astype(np.uint64) * np.uint64(1000) >> np.uint64(32))
    np.testing.assert_array_equal(unit, (expected >> 8) * np.float32(2**-24))
    assert abs(unit.mean() - 0.5) < 0.03 and len(np.unique(words)) > N - 3


def test_first_status_stays(session):
    assert launch(session, "statuses", np.zeros(3, np.uint32))[0].tolist() == [0, 1, 2]


def test_groups_at_a_grid_barrier_make_progress_together(session):
    if not session.facts.dialect.has_grid_barrier:
        pytest.skip("no device-wide barrier on this device (runtime/driver/quirks.py)")
    units = session.facts.compute_units
    for groups, linger in ((1, 0), (units, 20_000), (8 * units, 20_000), (64 * units, 0)):
        arrays = (np.zeros(size, np.uint32) for size in (8, groups, 1))
        rounds = "grid_rounds", np.uint32(100), np.uint32(linger)
        control, told, wrong = launch(session, *rounds, *arrays, n=groups * WG_SIZE)
        members = int(control[2])
        assert control[4] == 0, f"{groups} groups made no progress together"
        assert wrong[0] == 0
        assert 1 <= members <= groups
        assert (told[:members] == 100).all() and not told[members:].any()


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_all_words_on_wide_sub_groups(width):
    """Intel's CPU runtime stands in for GPUs: a test may choose the lanes of its sub-groups."""
    if "CLGRAPH_INTEL_SUB_GROUP" in os.environ:
        pytest.skip("this is the child")
    intel_session()
    code = "import pytest, sys; sys.exit(pytest.main(sys.argv[1:]))"
    told = {"CLGRAPH_INTEL_SUB_GROUP": str(width), "CLGRAPH_TEST_DEVICES": "intel"}
    told["PYOPENCL_BUILD_OPTIONS"] = "-cl-opt-disable"
    printed = printed_by(code, "-v", "-p", "no:cacheprovider", __file__, **told)
    assert " passed" in printed and " failed" not in printed
