"""Measurements of a device, one for each access pattern. Each measurement runs a kernel of ``cl/probe``."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from clgraph.errors import DeviceError
from clgraph.probing.trials import MAX_TURNS, Trial
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import check_status, typed_errors
from clgraph.runtime.driver.timing import event_seconds
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.memory.memory import available_bytes
from clgraph.runtime.programs.program import Launch
from clgraph.runtime.session import Session

WORK_GROUP = 256
LINE_WORDS = 64  # Distance in words that keeps the words of two work-groups in different cache lines on any device.
GLOBAL_ATOMICS = {
    "add_int32": np.int32,
    "min_int32": np.int32,
    "cmpxchg_int32": np.int32,
    "min_int64": np.int64,
    "add_float32": np.float32,
    "add_float32_cas": np.float32,
}
# The atomic operations that cl/common implements for local memory.
LOCAL_ATOMICS = ("add_int32", "min_int32", "cmpxchg_int32")

_MAX_OPERATIONS = 1 << 30  # Largest number of operations in a trial, so that int32 sums and minima do not overflow.
_EXACT_FLOAT = 1 << 24  # A float32 word stays exact for this number of additions of 1.
_RESET_WORDS = 1 << 16  # Every run of a trial resets up to 2^16 words of memory. More words are reset only once.
# Bytes that one work-item of the stream kernel reads, and bytes that it writes.
_READS_PER_ITEM_BYTES, _WRITES_PER_ITEM_BYTES = 64, 4
_SPIN_LIMIT = 1_000_000  # A wait at the grid barrier times out after a million polls, which take about a second.
_LINGER = 500  # The first work-group polls 500 times while it waits for other work-groups to start.


class Bench:
    """The buffers and compiled kernels of one probe of a device.

    Parameters
    ----------
    session : Session
    scratch_bytes : int
        Wanted size of the buffer that all patterns share; it is reduced if it does not fit.
    """

    def __init__(self, session: Session, scratch_bytes: int) -> None:
        facts = session.facts
        fits = min(scratch_bytes, facts.max_alloc_bytes, available_bytes(facts) // 4)
        self.session = session
        self.scratch_bytes = 1 << (fits.bit_length() - 1)
        # On a CPU, a work-group runs on one core, and some runtimes use all cores only if there are many work-groups.
        # On a GPU, a compute unit holds about 2048 work-items at a time.
        per_unit = 64 * WORK_GROUP if facts.is_cpu else 2048
        self.resident_items = facts.compute_units * per_unit
        self._scratch = self._allocate(self.scratch_bytes)
        n_out = max(self.resident_items, self.scratch_bytes // _READS_PER_ITEM_BYTES)
        self.out = DeviceArray(session.memory, self._allocate(4 * n_out), np.dtype(np.uint32), n_out)
        self._seeds: Iterator[int] = itertools.count(1)

    def release(self) -> None:
        """Release the device buffers of the probe."""
        self._scratch.release()
        self.out.release()

    def _allocate(self, n_bytes: int) -> cl.Buffer:
        """Return a device buffer that is not from the session's pool, because the pool would keep its memory."""
        with typed_errors(f"allocating {n_bytes:,} bytes"):
            return cl.Buffer(self.session.context, cl.mem_flags.READ_WRITE, n_bytes)

    def words(self, dtype: Any, size: int) -> DeviceArray:
        """Return the first *size* items of the probe's scratch buffer as an array of *dtype*."""
        kind = np.dtype(dtype)
        if size * kind.itemsize > self.scratch_bytes:
            raise DeviceError(f"{size} words of {kind} do not fit in {self.scratch_bytes} bytes")
        return DeviceArray(self.session.memory, self._scratch, kind, size)

    def seed(self) -> int:
        """Return a new random seed in each call, so that a trial does not access
        data that an earlier trial left in caches.
        """
        return next(self._seeds)

    def timed(self, launch: Launch) -> float:
        """Run *launch* and return the seconds that it has taken on the device."""
        event = launch()
        self.session.wait(event)
        return event_seconds(event)

    def bind(self, source: str, kernel: str, items: int, /, **arguments: Any) -> Launch:
        """Return a launch of *kernel* in ``cl/probe/<source>.cl``, over *items* work-items, with these arguments."""
        program = self.session.program(f"probe/{source}.cl", work_group_size=WORK_GROUP)
        return program.bind(kernel, items, **arguments)

    def _loop(
        self, launch: Launch, n_items: int, verify: Callable[[int], str], most_operations: int = _MAX_OPERATIONS
    ) -> Trial:
        """Return a trial of *launch*, in which each of *n_items* work-items does one operation per turn."""

        def run(turns: int) -> tuple[float, float]:
            launch.set(turns=turns, seed=self.seed())
            return n_items * turns, self.timed(launch)

        return Trial(run, max(1, most_operations // n_items), verify)

    def _check_out(self, item: int, expected: int) -> str:
        if (got := self.out.item(item)) != expected:
            raise DeviceError(f"a kernel of the probe returned {got} instead of {expected}")
        return ""

    # ---- atomics

    def _check_done(self, operation: str, n_items: int, turns: int) -> str:
        """Raise an error unless the last run did all operations.

        Return a note on the number of attempts that took effect.
        """
        done, attempts = int(self.out.get(0, n_items).sum(dtype=np.int64)), n_items * turns
        if not operation.startswith(("cmpxchg", "min")):
            if done != attempts:
                raise DeviceError(f"{done} of {attempts} operations were done")
            return ""
        if not 0 < done <= attempts:
            raise DeviceError(f"{done} of {attempts} attempts took effect")
        return f"attempts; {done / attempts:.3g} of them took effect with {n_items} work-items"

    def atomics(self, operation: str, n_items: int, n_words: int, group_stride: int = 0) -> Trial:
        """Return a trial in which *n_items* work-items do atomic operations on *n_words* words of memory.

        If *group_stride* is given, each work-group has its own words, *group_stride* words after the previous group's.
        """
        dtype, start = GLOBAL_ATOMICS[operation], start_of(operation)
        words = self.words(dtype, n_words + group_stride * (-(-n_items // WORK_GROUP) - 1))
        sizes = {"n_items": n_items, "n_words": n_words, "group_stride": group_stride}
        arguments = {"turns": 0, "seed": 0, "value": 1, "words": words, "done": self.out}
        launch = self.bind("atomics", operation, n_items, **sizes, **arguments)
        most = min(_MAX_OPERATIONS, _EXACT_FLOAT * n_words) if dtype is np.float32 else _MAX_OPERATIONS
        trial = self._loop(launch, n_items, partial(self._check_done, operation, n_items), most)
        words.fill(start)

        def run(turns: int) -> tuple[float, float]:
            if words.size <= _RESET_WORDS:
                words.fill(start)
            return trial.run(turns)

        return replace(trial, run=run)

    def local_atomics(self, operation: str) -> Trial:
        """Return a trial in which all work-items of a work-group do atomic operations on one word of local memory."""
        words, start = self.words(np.int32, self.resident_items), start_of(operation)
        arguments = {"turns": 0, "n_words": 1, "seed": 0, "value": 1, "words": words, "done": self.out}
        launch = self.bind("local_atomics", operation, self.resident_items, start=start, **arguments)
        n_items = launch.n_groups * WORK_GROUP
        return self._loop(launch, n_items, partial(self._check_done, operation, n_items))

    # ---- memory

    def stream(self) -> Trial:
        """Return a trial that reads the whole scratch buffer repeatedly.

        Bytes count as operations.
        """
        n_words = self.scratch_bytes // 4
        self.words(np.uint32, n_words).fill(1)
        n_items = self.scratch_bytes // _READS_PER_ITEM_BYTES
        launch = self.bind("memory", "stream", n_items, items=self.words(np.uint32, n_words), out=self.out)

        def run(turns: int) -> tuple[float, float]:
            seconds = sum(self.timed(launch) for _ in range(turns))
            return turns * n_items * (_READS_PER_ITEM_BYTES + _WRITES_PER_ITEM_BYTES), seconds

        return Trial(run, verify=lambda _: self._check_out(n_items - 1, _READS_PER_ITEM_BYTES // 4))

    def gather(self, working_set_bytes: int) -> Trial:
        """Return a trial of independent random 4-byte loads from a working set of *working_set_bytes* bytes."""
        words = self.words(np.uint32, working_set_bytes // 4)
        words.fill(1)
        arguments = {"turns": 0, "n_words": words.size, "seed": 0, "items": words, "out": self.out}
        launch = self.bind("memory", "gather", self.resident_items, **arguments)
        n_items = launch.n_groups * WORK_GROUP
        return self._loop(launch, n_items, lambda turns: self._check_out(n_items - 1, turns))

    def chase(self, working_set_bytes: int) -> Trial:
        """Return a trial of dependent loads along a random cycle through a working set of *working_set_bytes* bytes."""
        n_words = working_set_bytes // 4
        bits = n_words.bit_length() - 1
        words = self.words(np.uint32, n_words)
        self.bind("memory", "make_cycle", self.resident_items, bits=bits, next=words)()
        launch = self.bind("memory", "chase", 1, turns=0, start=0, next=words, out=self.out)
        warm = min(n_words, 1 << (18 if self.session.facts.is_cpu else 16))
        start = 0

        def run(turns: int) -> tuple[float, float]:
            nonlocal start  # The position on the cycle of loads at which the next run starts.
            start = self.seed() * 2654435769 % n_words
            launch.set(turns=turns, start=cycle_word(start, bits))
            return turns, self.timed(launch)

        run(warm)  # This run fills the caches, so that the timed runs find them full.
        return Trial(run, verify=lambda turns: self._check_out(0, cycle_word(start + turns, bits)))

    # ---- latency

    def lock(self) -> Trial:
        """Return a trial in which one work-item takes and releases locks that no other work-item uses."""
        locks = self.words(np.uint32, 1024)
        locks.fill(0)
        launch = self.bind("latency", "lock", 1, turns=0, n_locks=locks.size, seed=0, locks=locks, out=self.out)
        return self._loop(launch, 1, lambda turns: self._check_out(0, turns), MAX_TURNS)

    def launches(self) -> Trial:
        """Return a trial of many launches in a row.

        The host's clock times the trial, so enqueueing is included.
        """

        def finish() -> None:  # Session.finish sleeps while it waits, which would make the measured time too coarse.
            with typed_errors("waiting for the device"):
                self.session.queue.finish()

        return self._by_host_clock(self._touch(), finish)

    def read_backs(self) -> Trial:
        """Return a trial of launches that are each followed by a read of 4 bytes, which waits.

        The host's clock times it.
        """
        launch = self._touch()

        def read_back() -> None:
            launch()
            self.out.item()

        return self._by_host_clock(read_back)

    def _touch(self) -> Launch:
        return self.bind("latency", "touch", 1, value=1, out=self.out)

    def _by_host_clock(self, step: Callable[[], object], finish: Callable[[], object] = lambda: None) -> Trial:
        def run(turns: int) -> tuple[float, float]:
            self.session.finish()
            started = time.perf_counter()
            for _ in range(turns):
                step()
            finish()
            return turns, time.perf_counter() - started

        return Trial(run)

    def grid_barriers(self, n_groups: int) -> Trial:
        """Return a trial of barriers between *n_groups* work-groups of a device, without the kernel's start-up time."""
        program = self.session.program(
            "probe/grid_barrier.cl", {"SPIN_LIMIT": f"{_SPIN_LIMIT}u"}, work_group_size=WORK_GROUP
        )
        control = self.words(np.uint32, program.constant("GRID_CONTROL_WORDS"))
        n_items = n_groups * WORK_GROUP
        launch = program.bind("grid_barriers", n_items, rounds=0, linger=_LINGER, control=control, passed=self.out)

        def seconds_of(rounds: int) -> float:
            launch.set(rounds=rounds)
            control.fill(0)
            seconds = self.timed(launch)
            check_status(control.item(program.constant("GRID_STATUS")), "grid barrier")
            return seconds

        seconds_of(1)
        start = min(seconds_of(0) for _ in range(5))

        def run(turns: int) -> tuple[float, float]:
            return turns, max(0.0, seconds_of(turns) - start)

        def verify(turns: int) -> str:
            self._check_out(0, turns)
            n_members = control.item(program.constant("GRID_MEMBERS"))
            return f"among {n_members} work-groups"

        return Trial(run, verify=verify)


def cycle_word(index: int, bits: int) -> int:
    """Return the word at position *index* of the cyclic order in which ``make_cycle`` visits ``2**bits`` words."""
    word, mask = index, (1 << bits) - 1
    for _ in range(2):
        word = word * 2654435769 & mask
        word ^= word >> (bits + 1) // 2
    return word


def start_of(operation: str) -> int:
    """Return the initial value of the words that the atomic *operation* updates."""
    return 2**31 - 1 if operation.startswith("min") else 0
