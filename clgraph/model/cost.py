"""The cost model: seconds predicted from counts of work and measured rates."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from clgraph.device.profile import DeviceRates, at


@dataclass(frozen=True)
class Gathers:
    """Independent random loads of 4 bytes out of ``working_set_bytes``."""

    count: float
    working_set_bytes: float


@dataclass(frozen=True)
class Atomics:
    """Read-modify-writes of one kind (a key of the rates) over ``n_words`` addresses.

    ``n_words=1`` is one hot word; ``n_items`` is then how many work-items meet on it.
    ``n_words=inf`` are words that each work-group has to itself, in lines it has just read.
    """

    count: float
    n_words: float
    operation: str = "cmpxchg_int32"
    n_items: float = 1 << 16


@dataclass(frozen=True)
class Work:
    """What one run of a strategy asks of the device.

    Attributes
    ----------
    launches, read_backs, grid_barriers : float
        Kernel launches, those the host waits for with a 4-byte read, and device-wide barriers.
    streamed_bytes : float
        Bytes read or written in order.
    gathers, atomics : tuple
        Random accesses, each group with its working set or number of addresses.
    chain_loads : float
        Longest chain of loads in which each address depends on the load before.
    chain_bytes : float
        Working set of that chain.
    locks : float
        Critical sections entered one after the other.
    """

    launches: float = 0.0
    read_backs: float = 0.0
    grid_barriers: float = 0.0
    streamed_bytes: float = 0.0
    gathers: tuple[Gathers, ...] = ()
    atomics: tuple[Atomics, ...] = ()
    chain_loads: float = 0.0
    chain_bytes: float = 1 << 20
    locks: float = 0.0

    def __add__(self, other: Work) -> Work:
        """Return the work of both, one after the other; the longer chain gives the working set of chains."""
        longer = self if self.chain_loads >= other.chain_loads else other
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        return Work(**sums, chain_bytes=longer.chain_bytes)

    def times(self, n: float) -> Work:
        """Return the work of *n* such runs."""
        scaled = {name: n * getattr(self, name) for name in _SUMS if name not in ("gathers", "atomics")}
        return replace(
            self, **scaled, gathers=tuple(replace(g, count=n * g.count) for g in self.gathers),
            atomics=tuple(replace(a, count=n * a.count) for a in self.atomics),
        )


_SUMS = [f.name for f in fields(Work) if f.name != "chain_bytes"]


@dataclass(frozen=True)
class Estimate:
    """Predicted seconds and their parts; the total takes the slower of traffic and the chain."""

    seconds: float
    parts: Mapping[str, float] = field(default_factory=dict)


def estimate(work: Work, rates: DeviceRates) -> Estimate:
    """Predict how long *work* takes on a device with these *rates*.

    Launches, read-backs and barriers add up; streaming, gathers and atomics share the memory
    system and add up; what is serial, a chain of loads and locks, hides behind them unless it is longer.
    """
    parts = {
        "launches": work.launches * rates.launch_seconds,
        "read_backs": work.read_backs * rates.read_back_seconds,
        "grid_barriers": work.grid_barriers * rates.grid_barrier_seconds if work.grid_barriers else 0.0,
        "streaming": work.streamed_bytes / rates.stream_bytes_per_second,
        "gathers": sum(g.count / at(rates.gathers_per_second, g.working_set_bytes) for g in work.gathers),
        "atomics": sum(_atomic_seconds(a, rates) for a in work.atomics),
        "chain": work.chain_loads * at(rates.dependent_load_seconds, work.chain_bytes),
        "locks": work.locks * rates.lock_seconds,
    }
    traffic = parts["streaming"] + parts["gathers"] + parts["atomics"]
    fixed = parts["launches"] + parts["read_backs"] + parts["grid_barriers"]
    return Estimate(fixed + max(traffic, parts["chain"] + parts["locks"]), parts)


def _atomic_seconds(atomics: Atomics, rates: DeviceRates) -> float:
    if atomics.n_words <= 1:
        curve = rates.same_address_atomics_per_second[atomics.operation]
        return atomics.count / at(curve, atomics.n_items)
    if math.isinf(atomics.n_words):
        return atomics.count / rates.group_address_atomics_per_second[atomics.operation]
    return atomics.count / at(rates.spread_atomics_per_second[atomics.operation], atomics.n_words)
