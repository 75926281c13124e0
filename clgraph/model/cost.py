"""The cost model, which predicts seconds from counts of work and measured rates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

from clgraph.device.profile import DeviceRates, at
from clgraph.model.record import record

_LOCK = "cmpxchg_int32"  # The atomic operation with which kernels take a lock.
# 2^16 work-items are assumed to use one word at the same time, unless a price names another number.
_ALL_ITEMS = 1 << 16


@record
class Gathers:
    """Independent random loads of 4 bytes each, from a working set of ``working_set_bytes`` bytes."""

    count: float
    working_set_bytes: float


@record
class Atomics:
    """Atomic read-modify-write operations on ``n_words`` addresses.

    ``operation`` is a key of the device's rates.

    ``n_words=1`` means one hot word, for which ``n_items`` work-items compete.
    ``n_words=inf`` means that each work-group has words of its own, in cache lines that it has just read.
    """

    count: float
    n_words: float
    operation: str = _LOCK
    n_items: float = _ALL_ITEMS


@record
class Chain:
    """A chain of loads from memory, in which each address depends on the load before."""

    loads: float
    working_set_bytes: float


@record
class HostItems:
    """Items that compiled code on the host processes one after the other.

    ``way`` is a key of the host's rates.

    ``working_set_bytes`` is the size of the memory that the code accesses in random order.
    """

    count: float
    working_set_bytes: float
    way: str


@record
class Work:
    """Counts of the work in one run of a strategy.

    The cost model predicts the time of the run from them.

    Attributes
    ----------
    launches, read_backs, grid_barriers : float
        Kernel launches, launches for which the host waits with a 4-byte read, and device-wide barriers.
    streamed_bytes : float
        Bytes read or written in order.
    gathers, atomics : tuple
        Random accesses, each group with its working set or number of addresses.
    chains : tuple
        The longest chain of dependent loads, in consecutive parts.
    locks : float
        Critical sections entered one after the other.
    contended_attempts : float
        Attempts to take one contended lock, which delay the critical sections.
    host_seconds : float
        Work on the host, in seconds for any host, because hosts differ less than devices.
    host_items : tuple
        Further work on the host, in items, whose rates are measured.
    """

    launches: float = 0.0
    read_backs: float = 0.0
    grid_barriers: float = 0.0
    streamed_bytes: float = 0.0
    gathers: tuple[Gathers, ...] = ()
    atomics: tuple[Atomics, ...] = ()
    chains: tuple[Chain, ...] = ()
    locks: float = 0.0
    contended_attempts: float = 0.0
    host_seconds: float = 0.0
    host_items: tuple[HostItems, ...] = ()

    def __add__(self, other: Work) -> Work:
        """Return the sum of the counts of this work and *other*."""
        return Work(
            self.launches + other.launches, self.read_backs + other.read_backs,
            self.grid_barriers + other.grid_barriers, self.streamed_bytes + other.streamed_bytes,
            self.gathers + other.gathers, self.atomics + other.atomics, self.chains + other.chains,
            self.locks + other.locks, self.contended_attempts + other.contended_attempts,
            self.host_seconds + other.host_seconds, self.host_items + other.host_items,
        )  # fmt: skip

    def times(self, n: float, weight: float = 1.0) -> Work:
        """Return the work of *n* runs.

        Counts except launches, read-backs and barriers are also multiplied by *weight*.
        """
        k = n * weight
        return Work(
            n * self.launches, n * self.read_backs, n * self.grid_barriers, k * self.streamed_bytes,
            self.gathers and tuple([Gathers(k * g.count, g.working_set_bytes) for g in self.gathers]),
            self.atomics and tuple([Atomics(k * a.count, a.n_words, a.operation, a.n_items) for a in self.atomics]),
            self.chains and tuple([Chain(k * c.loads, c.working_set_bytes) for c in self.chains]),
            k * self.locks, k * self.contended_attempts, k * self.host_seconds,
            self.host_items and tuple([HostItems(k * i.count, i.working_set_bytes, i.way) for i in self.host_items]),
        )  # fmt: skip


Part: TypeAlias = tuple[Work, float, float]
"""A work, its number of runs and its weight, which are the arguments of :meth:`Work.times`."""


@record
class Estimate:
    """Seconds that the cost model predicts: in total, and by kind of work in ``parts``.

    Memory traffic and serial work of a part overlap. So the total has only the longer of both for each part.
    """

    seconds: float
    parts: Mapping[str, float] = field(default_factory=dict)


def estimate(asked: Work | Iterable[Part], rates: DeviceRates, call: float | None = None) -> Estimate:
    """Predict the seconds that a work, or a series of parts, takes on a device with these *rates*.

    *call* seconds are added. The times of launches, read-backs, barriers and the host add up. So do the times of
    streaming, gathers and atomics, which share the memory system. Within a part, serial work (chains of loads, and
    locks) overlaps with this traffic, so the longer of both counts. Parts run one after the other. Parts are not summed
    to one Work first, because choosing a strategy evaluates hundreds of parts.
    """
    parts, longest = _seconds_of_parts(((asked, 1.0, 1.0),) if isinstance(asked, Work) else asked, rates)
    fixed = parts["launches"] + parts["read_backs"] + parts["grid_barriers"] + parts["host"]
    if call is None:
        return Estimate(fixed + longest, parts)
    parts["call"] = call
    return Estimate(fixed + longest + call, parts)


def _seconds_of_parts(asked: Iterable[Part], rates: DeviceRates) -> tuple[dict[str, float], float]:
    """Return the seconds of each kind of work, and the sum over the parts of the larger of traffic and serial work."""
    launches = read_backs = grid_barriers = streaming = gathers = atomics = chain = locks = contention = 0.0
    host = longest = 0.0
    stream_bytes_per_second, curve = rates.stream_bytes_per_second, rates.gathers_per_second
    known = curve.read_before
    for work, times, weight in asked:
        n, traffic, serial = times * weight, 0.0, 0.0
        if work.launches:  # Most numbers of a Work are 0, and a test is faster than a product with 0.
            launches += times * work.launches
        if work.read_backs:
            read_backs += times * work.read_backs
        if work.grid_barriers:
            grid_barriers += times * work.grid_barriers
        if work.streamed_bytes:
            streaming += (traffic := n * work.streamed_bytes / stream_bytes_per_second)
        for g in work.gathers:
            rate = known.get(g.working_set_bytes) or at(curve, g.working_set_bytes)
            gathers += (seconds := n * g.count / rate)
            traffic += seconds
        if work.atomics:
            for a in work.atomics:
                atomics += (seconds := n * _atomic_seconds(a, rates))
                traffic += seconds
        if work.chains:
            for c in work.chains:
                chain += (seconds := n * c.loads * at(rates.dependent_load_seconds, c.working_set_bytes))
                serial += seconds
        if work.locks:
            locks += (seconds := n * work.locks * rates.lock_seconds)
            serial += seconds
        if work.contended_attempts:
            contention += (seconds := n * _contention_seconds(work.contended_attempts, rates))
            serial += seconds
        longest += traffic if traffic > serial else serial
        if work.host_seconds:
            host += n * work.host_seconds
        if work.host_items:
            for items in work.host_items:
                host += n * _host_seconds(items, rates)
    return {
        "launches": launches * rates.launch_seconds,
        "read_backs": read_backs * rates.read_back_seconds,
        "grid_barriers": grid_barriers * rates.grid_barrier_seconds if grid_barriers else 0.0,
        "streaming": streaming,
        "gathers": gathers,
        "atomics": atomics,
        "chain": chain,
        "locks": locks,
        "contention": contention,
        "host": host,
    }, longest


def _contention_seconds(attempts: float, rates: DeviceRates) -> float:
    return attempts / at(rates.same_address_atomics_per_second[_LOCK], _ALL_ITEMS)


def _host_seconds(items: HostItems, rates: DeviceRates) -> float:
    return items.count / at(rates.host_items_per_second[items.way], items.working_set_bytes)


def _atomic_seconds(atomics: Atomics, rates: DeviceRates) -> float:
    if atomics.n_words <= 1:
        curve = rates.same_address_atomics_per_second[atomics.operation]
        return atomics.count / at(curve, atomics.n_items)
    if atomics.n_words == math.inf:
        return atomics.count / rates.group_address_atomics_per_second[atomics.operation]
    return atomics.count / at(rates.spread_atomics_per_second[atomics.operation], atomics.n_words)
