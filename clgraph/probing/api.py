"""The function ``probe``, which measures a device's profile or returns an earlier measurement."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from clgraph.arguments import check_callback, checked_flag
from clgraph.device.profile import HOST_WAYS, Curve, DeviceProfile, DeviceRates, at
from clgraph.device.profile_files import generic_profile, save_profile
from clgraph.errors import ClgraphError, DeviceError
from clgraph.probing.host import host_trial
from clgraph.probing.patterns import GLOBAL_ATOMICS, LINE_WORDS, LOCAL_ATOMICS, Bench
from clgraph.probing.trials import Reading, Trial, read
from clgraph.runtime.session import Session, SessionLike, as_session

logger = logging.getLogger(__name__)

Progress = Callable[[int, int, str], None]
"""A function that takes the number of finished measurements, their total number, and the name of the next one."""

_HOST_RATE = "host_items_per_second"  # The only rate that is measured on the host instead of the device.
# A rate curve ends before the point at which one operation per work-item might take longer than 0.1 s.
_LONGEST_SECONDS = 0.1


@dataclass(frozen=True)
class Effort:
    """How thorough a probe is: the points at which it measures each rate curve, and the least time for each point."""

    name: str
    long_enough: float  # One run of a trial must take at least this number of seconds.
    items_step: int  # Factor between neighbouring numbers of work-items in the same-address curves.
    words_step: int  # Factor between neighbouring numbers of words in the random-address curves.
    most_words: int  # Largest number of words in the random-address curves.
    bytes_step: int  # Factor between neighbouring sizes of working sets in the curves of dependent loads.
    cpu_scratch_bytes: int  # Bytes of the buffer that all access patterns share on a CPU.
    gpu_scratch_bytes: int  # Bytes of the buffer that all access patterns share on a GPU.
    host_bytes: tuple[int, ...]  # Sizes in bytes of the working sets at which the host's rates are measured.


QUICK = Effort("quick", 1e-3, 8, 16, 1 << 24, 8, 1 << 27, 1 << 28, (1 << 14, 1 << 17, 1 << 20))
FULL = Effort("full", 2e-3, 2, 2, 1 << 27, 2, 1 << 30, 1 << 30, (*(1 << k for k in range(14, 22)), 1 << 24))


def probe(
    session: SessionLike = None,
    *,
    quick: bool = True,
    use_cache: bool = True,
    progress: Progress | None = None,
) -> DeviceProfile:
    """Measure the rates of a device that the cost model uses, and return the rates as a profile.

    The measurement is stored in the user's cache, by platform, device and driver, and later sessions load it.

    Parameters
    ----------
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        A session, a device name, or ``None`` for the default session.
    quick : bool
        Whether to measure only some points of each curve, which takes seconds; all points take a minute or two.
    use_cache : bool
        Whether to return a stored measurement that is at least as detailed.
    progress : callable, optional
        A function that is called with (done, total, name) before each measurement.

    Returns
    -------
    DeviceProfile
        The profile, which also becomes ``session.profile``. A rate that could not be measured has the generic
        value, and the reason is in ``notes``.

    Raises
    ------
    DeviceError
        Nothing could be measured, or the session uses the caller's command queue, which has no profiling.

    Examples
    --------
    >>> import clgraph as cg
    >>> cg.probe("cpu").rates.launch_seconds < 1e-2
    True
    """
    quick, use_cache = checked_flag("quick", quick), checked_flag("use_cache", use_cache)
    check_callback("progress", progress)
    owner = as_session(session)
    if not owner.commands.takes_times:
        raise DeviceError("the session's command queue takes no times; make one with PROFILING_ENABLE")
    kept = owner.profile
    if use_cache and kept.origin == "measured" and (quick or kept.source.startswith(FULL.name)):
        return kept
    measured = _Measurement(owner, QUICK if quick else FULL, progress).profile()
    try:
        save_profile(owner.facts, measured)
    except OSError as error:
        logger.warning("the profile of %s is not kept: %s", owner.facts.name, error)
    owner.profile = measured
    return measured


class _Measurement:
    """A run of the probe on one device.

    If a measurement fails, its rate gets the generic value and the run goes on.
    """

    def __init__(self, session: Session, effort: Effort, progress: Progress | None) -> None:
        facts = session.facts
        self._session = session
        self._effort = effort
        self._progress = progress
        self._done = 0
        self._generic = generic_profile(facts)
        self._spread: dict[str, float] = {}
        self._notes: dict[str, str] = {}
        self._bench = Bench(session, effort.cpu_scratch_bytes if facts.is_cpu else effort.gpu_scratch_bytes)
        resolution = 1e-9 * session.device.profiling_timer_resolution
        self._long_enough = max(effort.long_enough, 100.0 * resolution)
        self._operations = [name for name in GLOBAL_ATOMICS if facts.has_int64_atomics or not name.endswith("int64")]

    def profile(self) -> DeviceProfile:
        try:
            rates = self._rates()
        finally:
            self._bench.release()
        if all(name.startswith(_HOST_RATE) for name in self._spread):
            reason = next(iter(self._notes.values()), "no reason given")
            raise DeviceError(f"nothing could be measured on {self._session.facts.name}: {reason}")
        facts = self._session.facts
        return DeviceProfile(
            rates,
            device=facts.name,
            origin="measured",
            source=f"{self._effort.name} probe; {facts.platform}, driver {facts.driver_version}",
            tuning=self._session.profile.tuning,
            spread=self._spread,
            notes=self._notes,
        )

    def _rates(self) -> DeviceRates:
        bench, operations, facts = self._bench, self._operations, self._session.facts
        working_sets = _powers(1 << 12, bench.scratch_bytes, self._effort.bytes_step)
        same, spread = self._same_address, self._spread_addresses
        return DeviceRates(
            launch_seconds=self._value("launch_seconds", bench.launches),
            read_back_seconds=self._value("read_back_seconds", bench.read_backs),
            grid_barrier_seconds=(
                self._value("grid_barrier_seconds", partial(bench.grid_barriers, facts.compute_units))
                if facts.dialect.has_grid_barrier
                else float("inf")
            ),
            lock_seconds=self._value("lock_seconds", bench.lock),
            stream_bytes_per_second=self._value("stream_bytes_per_second", bench.stream),
            gathers_per_second=self._curve("gathers_per_second", working_sets, bench.gather),
            dependent_load_seconds=self._curve("dependent_load_seconds", working_sets, bench.chase),
            same_address_atomics_per_second={name: same(name) for name in operations},
            group_address_atomics_per_second=self._by_operation(
                "group_address_atomics_per_second",
                operations,
                lambda name: bench.atomics(name, bench.resident_items, 1, LINE_WORDS),
            ),
            spread_atomics_per_second={name: spread(name) for name in operations},
            local_atomics_per_second=self._by_operation("local_atomics_per_second", LOCAL_ATOMICS, bench.local_atomics),
            host_items_per_second={way: self._host(way) for way in HOST_WAYS},
        )

    # ---- the patterns

    def _same_address(self, operation: str) -> Curve:
        name = f"same_address_atomics_per_second.{operation}"
        points = _powers(1, self._bench.resident_items, self._effort.items_step)
        start = partial(self._bench.atomics, operation, n_words=1)
        return self._curve(name, points, start, waiting=lambda n_items: (n_items, n_items))

    def _spread_addresses(self, operation: str) -> Curve:
        name = f"spread_atomics_per_second.{operation}"
        item_bytes = np.dtype(GLOBAL_ATOMICS[operation]).itemsize
        most = min(self._effort.most_words, self._bench.scratch_bytes // item_bytes)
        n_items = self._bench.resident_items
        curve = self._curve(
            name,
            # Atomics on fewer words conflict more and take longer, so few words come last.
            reversed(_powers(1, most, self._effort.words_step)),
            lambda n_words: self._bench.atomics(operation, n_items, n_words),
            waiting=lambda n_words: (n_items, n_items / n_words),
        )
        return Curve(sorted(curve.items()))

    def _host(self, way: str) -> Curve:
        """Measure the rates of a host routine for small working sets, and scale the generic rates for larger ones."""
        name = f"{_HOST_RATE}.{way}"
        curve = self._curve(name, self._effort.host_bytes, lambda n_bytes: host_trial(way, n_bytes))
        last, known = max(curve), self._fallback(name)
        return Curve(curve | {x: rate * curve[last] / at(known, last) for x, rate in known.items() if x > last})

    # The methods below measure values. If a measurement fails, the generic value is used instead.

    def _value(self, name: str, start: Callable[[], Trial]) -> float:
        self._announce(name)
        try:
            reading = read(start(), self._long_enough)
        except (ClgraphError, MemoryError) as error:
            self._notes[name] = f"not measured, generic value: {_first_line(error)}"
            return float(self._fallback(name))
        self._spread[name] = reading.spread
        if reading.note:
            self._notes[name] = reading.note
        return _asked_for(name, reading)

    def _by_operation(self, rate: str, operations: Iterable[str], start: Callable[[str], Trial]) -> dict[str, float]:
        return {name: self._value(f"{rate}.{name}", partial(start, name)) for name in operations}

    def _curve(
        self,
        name: str,
        points: Iterable[int],
        start: Callable[[int], Trial],
        *,
        waiting: Callable[[int], tuple[int, float]] = lambda _: (0, 0.0),
    ) -> Curve:
        """Measure the trial ``start(x)`` at each x of *points*, and return the curve of its rates.

        ``waiting(x)`` returns the number of work-items, and how many of them share a word. A loop of failing
        compare-and-swaps slows down in proportion to the latter, and may take minutes on a GPU. So the curve
        ends before the point at which that might happen.
        """
        self._announce(name)
        curve = Curve()
        worst, last = 0.0, 0
        for x in points:
            n_items, contenders = waiting(x)
            slowdown = max(1.0, contenders) / max(1.0, waiting(last)[1]) if curve else 1.0
            if curve and n_items / curve[last] * slowdown > _LONGEST_SECONDS:
                self._notes[name] = f"ends at {last}: beyond, a launch might take over {_LONGEST_SECONDS} s"
                break
            try:
                reading = read(start(x), self._long_enough)
                if reading.note:
                    self._notes[name] = reading.note
            except (ClgraphError, MemoryError) as error:
                self._notes[name] = f"ends at {last}: {_first_line(error)}"
                break
            curve[x] = _asked_for(name, reading)
            worst, last = max(worst, reading.spread), x
        if not curve:
            self._notes[name] = self._notes[name].replace("ends at 0", "not measured, generic values")
            return Curve(self._fallback(name))
        self._spread[name] = worst
        return curve

    def _fallback(self, name: str) -> Any:
        """Return the generic profile's value for the rate *name*, which is ``rate`` or ``rate.operation``."""
        rate, _, operation = name.partition(".")
        value = getattr(self._generic.rates, rate)
        return value[operation] if operation else value

    def _announce(self, name: str) -> None:
        logger.debug("measuring %s", name)
        if self._progress is not None:
            barrier = self._session.facts.dialect.has_grid_barrier
            total = 6 + barrier + 3 * len(self._operations) + len(LOCAL_ATOMICS) + len(HOST_WAYS)
            self._progress(self._done, total, name)
        self._done += 1


def _asked_for(name: str, reading: Reading) -> float:
    """Return *reading* as seconds per operation if the rate's *name* ends in
    "_seconds", else as operations per second.
    """
    return reading.seconds if name.endswith("_seconds") else reading.per_second


def _powers(first: int, last: int, step: int) -> list[int]:
    """Return *first*, *first* · *step*, *first* · *step*² and so on, up to the largest power of two ≤ *last*."""
    largest = 1 << (last.bit_length() - 1)
    points = [first]
    while points[-1] * step < largest:
        points.append(points[-1] * step)
    return [*points, largest] if points[-1] < largest else points


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
