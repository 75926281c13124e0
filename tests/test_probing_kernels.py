"""The probe's kernels do all they are timed for, and its trials trust no short time."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from clgraph.errors import DeviceError
from clgraph.probing.api import _powers
from clgraph.probing.patterns import GLOBAL_ATOMICS, LINE_WORDS, LOCAL_ATOMICS, WORK_GROUP, Bench, cycle_word
from clgraph.probing.trials import TRIALS, Trial, read
from clgraph.runtime.session import Session

MINIMUM_START = 2**31 - 1


@pytest.fixture(scope="module")
def bench(session: Session) -> Iterator[Bench]:
    made = Bench(session, 1 << 22)
    yield made
    made.release()


# ---- the kernels do what they are timed for


def n_done(bench: Bench, n_items: int) -> int:
    return int(bench.out.get(0, n_items).sum(dtype=np.int64))


@pytest.mark.parametrize("operation", GLOBAL_ATOMICS)
@pytest.mark.parametrize(("n_items", "n_words", "turns"), [(1, 1, 37), (700, 1, 5), (700, 13, 5), (256, 1000, 3)])
def test_atomics_count_exactly(bench: Bench, operation: str, n_items: int, n_words: int, turns: int) -> None:
    if operation == "min_int64" and not bench.session.facts.has_int64_atomics:
        pytest.skip("the device has no 64-bit atomics")
    trial = bench.atomics(operation, n_items, n_words)
    limit = 1 << (24 if "float" in operation else 30)
    assert 1 <= trial.most_turns <= max(1, limit * n_words // n_items)  # counters cannot wrap
    for _ in range(2):  # each trial starts from fresh words
        operations, seconds = trial.run(turns)
        assert operations == n_items * turns and seconds > 0.0
    words, done = bench.words(GLOBAL_ATOMICS[operation], n_words).get(), n_done(bench, n_items)
    if operation.startswith("min"):
        fallen = MINIMUM_START - words.astype(np.int64)
        assert fallen.sum() >= (turns if n_words == 1 else 1)
        assert fallen.sum() <= done <= operations
    elif operation.startswith("cmpxchg"):
        assert words.sum(dtype=np.int64) == done
        assert turns <= done <= operations
    else:
        assert words.sum(dtype=np.float64) == done == operations
    if n_items == 1:
        assert done == operations  # alone, nothing fails
    if n_words == 1000:
        assert np.count_nonzero(words != words.max()) > 100  # they are spread


@pytest.mark.parametrize("operation", ["add_int32", "add_float32_cas"])
def test_one_word_a_work_group(bench: Bench, operation: str) -> None:
    bench.atomics(operation, 5 * WORK_GROUP, 1, LINE_WORDS).run(4)
    words = bench.words(GLOBAL_ATOMICS[operation], 4 * LINE_WORDS + 1).get()
    assert (words[::LINE_WORDS] == 4 * WORK_GROUP).all() and len(words[::LINE_WORDS]) == 5
    assert words.sum() == 5 * 4 * WORK_GROUP


@pytest.mark.parametrize("operation", LOCAL_ATOMICS)
def test_local_atomics_count_exactly(bench: Bench, operation: str) -> None:
    operations, _ = bench.local_atomics(operation).run(3)
    n_items = bench.resident_items
    assert operations == 3 * n_items
    words = bench.words(np.int32, n_items).get().astype(np.int64).reshape(-1, WORK_GROUP)
    done = bench.out.get(0, n_items).astype(np.int64).reshape(-1, WORK_GROUP).sum(axis=1)
    changed = MINIMUM_START - words if operation.startswith("min") else words
    assert (changed[:, 1:] == 0).all()  # one word a group
    if operation == "add_int32":
        assert (changed[:, 0] == 3 * WORK_GROUP).all() and (done == 3 * WORK_GROUP).all()
    else:
        assert (changed[:, 0] >= 3).all() and (changed[:, 0] <= done).all()


def test_stream_reads_every_byte(bench: Bench) -> None:
    n_bytes, _ = bench.stream().run(2)
    assert n_bytes == 2 * bench.scratch_bytes * 68 / 64
    assert (bench.out.get(0, bench.scratch_bytes // 64) == 16).all()


def test_gather_makes_every_load(bench: Bench) -> None:
    loads, _ = bench.gather(1 << 14).run(9)
    sums = bench.out.get(0, bench.resident_items)
    assert (sums == 9).all() and loads == sums.sum()


@pytest.mark.parametrize("bits", [5, 10, 13])
def test_chase_walks_one_cycle_through_every_word(bench: Bench, bits: int) -> None:
    bench.chase(4 << bits)
    after = bench.words(np.uint32, 1 << bits).get()
    for index in (0, 1, 17, (1 << bits) - 1):  # host and device know the same cycle
        assert after[cycle_word(index, bits)] == cycle_word(index + 1, bits)
    at, path = 0, []
    for _ in range(1 << bits):
        path.append(at)
        at = int(after[at])
    assert at == 0 and sorted(path) == list(range(1 << bits))
    steps = np.abs(np.diff(path))
    assert np.median(steps) > (1 << bits) / 8  # no prefetcher follows that


@pytest.mark.parametrize(
    "start",
    [
        lambda bench: bench.atomics("add_int32", 700, 3),
        lambda bench: bench.atomics("add_float32", 700, 3),
        lambda bench: bench.local_atomics("add_int32"),
        lambda bench: bench.gather(1 << 14),
        lambda bench: bench.chase(1 << 14),
        lambda bench: bench.lock(),
        lambda bench: bench.grid_barriers(1),
    ],
)
def test_a_loop_cut_short_is_found(bench: Bench, start: Callable[[Bench], Trial]) -> None:
    trial = start(bench)
    trial.run(50)
    trial.verify(50)
    trial.run(1)
    with pytest.raises(DeviceError, match=r"were done|instead of"):
        trial.verify(50)


def test_every_lock_is_taken_and_freed(bench: Bench) -> None:
    bench.lock().run(5000)
    assert bench.out.item() == 5000
    assert not bench.words(np.uint32, 1024).get().any()


def test_grid_barrier_of_one_group_passes(bench: Bench) -> None:
    trial = bench.grid_barriers(1)
    trial.run(20)
    assert bench.out.item() == 20
    assert trial.verify(20) == "among 1 work-groups"


def test_scratch_fits_or_says_so(session: Session) -> None:
    small = Bench(session, 5000)
    assert small.scratch_bytes == 4096
    with pytest.raises(DeviceError, match="do not fit"):
        small.words(np.int64, 513)
    small.release()


# ---- trials


def test_trials_grow_until_the_clock_can_be_trusted() -> None:
    asked: list[int] = []

    def run(turns: int) -> tuple[float, float]:
        asked.append(turns)
        return 10.0 * turns, 1e-6 * turns

    reading = read(Trial(run), 1e-3)
    assert reading.per_second == pytest.approx(1e7) and reading.spread == pytest.approx(0.0)
    assert reading.seconds == pytest.approx(1e-7)
    assert asked[-TRIALS:] == [asked[-1]] * TRIALS and asked[-1] >= 1000
    assert len(asked) <= 5 + TRIALS


def test_growth_has_a_limit_and_spread_is_told() -> None:
    seconds = iter([1.0, 1.0, 1.0, *(4.0, 2.0, 1.0, 2.0, 2.0)])
    reading = read(Trial(lambda turns: (8.0, next(seconds)), most_turns=2), 2.0)
    assert reading.per_second == 4.0 and reading.spread == pytest.approx((8 - 2) / 4)


def test_a_clock_that_stands_is_an_error() -> None:
    with pytest.raises(DeviceError, match="no time"):
        read(Trial(lambda turns: (turns, 0.0), most_turns=1 << 10), 1e-3)


def test_powers_include_both_ends() -> None:
    assert _powers(1, 512, 8) == [1, 8, 64, 512]
    assert _powers(1, 1500, 8) == [1, 8, 64, 512, 1024]
    assert _powers(4096, 4096, 2) == [4096]
