"""Who computes which items of a load next: the rules, without any device.

A policy hands out ranges of items. :class:`clgraph.hetero.rounds.Round` asks it under a lock, and tells it what has
been done in which time. A round is one load; a policy lives on from round to round, with what it has measured.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

Range: TypeAlias = tuple[int, int]  # the first item, and the one behind the last


@dataclass(frozen=True)
class Member:
    """What a policy knows of a device."""

    weight: float  # its speed beside that of the others, as the profiles have it
    lanes: int = 1  # work-items that it runs at once
    is_cpu: bool = True


def split(start: int, stop: int, weights: Mapping[int, float], grain: int) -> dict[int, Range]:
    """Cut a range in the ratio of *weights*; cuts are whole numbers of *grain* items from *start* on."""
    total, behind, first, found = sum(weights.values()), 0.0, start, {}
    for k, (device, weight) in enumerate(weights.items(), 1):
        behind += weight
        last = stop if k == len(weights) else min(stop, start + grain * round((stop - start) * behind / total / grain))
        found[device] = (first, max(first, last))
        first = max(first, last)
    return found


class Policy:
    """What all policies share: measured rates, buffers of the devices, and ranges that a device has given back."""

    name: ClassVar[str]

    def __init__(self, members: Sequence[Member], training: float = 0.2) -> None:
        self.members = tuple(members)
        self.training = training
        self.living = set(range(len(members)))
        self.rates: dict[int, float] = {}  # items per second, of devices that have been measured
        self.steals = [0] * len(members)

    def begin(self, n_items: int, sub_load: int, grain: int) -> None:
        """Begin a round of *n_items*, in sub-loads of so many; cuts stand at whole numbers of *grain*."""
        self.n_items, self.sub_load, self.grain = n_items, sub_load, grain
        self.buffers: dict[int, Range] = {}
        self._returned: list[Range] = []
        self.steals = [0] * len(self.members)
        self.start()

    def start(self) -> None:
        """Prepare what the devices will get in this round."""

    def take(self, device: int) -> Range | None:
        """Return what *device* computes next, or ``None`` while there is nothing for it."""
        return self.own(device) or self._take_returned() or self.steal(device)

    def own(self, device: int) -> Range | None:
        """Return the next part of what is meant for *device*."""
        raise NotImplementedError

    def steal(self, device: int) -> Range | None:
        """Return a part of what was meant for others."""
        return None

    def done(self, device: int, items: int, seconds: float) -> None:
        """Hear that *device* has computed *items* in *seconds*."""

    def drop(self, device: int, *lost: Range) -> None:
        """Go on without *device*: what it had in its buffer, and the *lost* ranges, go to the others."""
        self.living.discard(device)
        self._returned += [part for part in (*lost, self.buffers.pop(device, (0, 0))) if part[0] < part[1]]

    def end(self, items: Sequence[int], seconds: Sequence[float]) -> None:
        """Learn from a whole round what each device did, in which time."""
        self.rates |= {d: items[d] / seconds[d] for d in self.living if items[d] and seconds[d] > 0}

    def ratios(self) -> tuple[float, ...] | None:
        """Return the shares that are planned for the devices, or ``None`` if there is no plan."""
        return self._shares(self.rates) if self.rates.keys() >= self.living else None

    def _shares(self, weights: Mapping[int, float]) -> tuple[float, ...]:
        total = sum(weights[d] for d in self.living)
        return tuple(weights[d] / total if d in self.living else 0.0 for d in range(len(self.members)))

    def speeds(self) -> dict[int, float]:
        """Return the measured rates of all who live, or their weights in the profiles until all are measured."""
        known = self.rates.keys() >= self.living
        return {d: self.rates[d] if known else self.members[d].weight for d in sorted(self.living)}

    def whole_sub_loads(self, items: float) -> int:
        """Return *items*, rounded down to whole sub-loads."""
        return int(items / self.sub_load) * self.sub_load

    def from_buffer(self, device: int, items: int) -> Range | None:
        """Take the first *items* out of the buffer of *device*."""
        first, stop = self.buffers.get(device, (0, 0))
        if first >= stop:
            return None
        cut = min(stop, first + items)
        self.buffers[device] = (cut, stop)
        return first, cut

    def _take_returned(self) -> Range | None:
        if not self._returned:
            return None
        first, stop = self._returned.pop()
        cut = min(stop, first + self.sub_load)
        if cut < stop:
            self._returned.append((cut, stop))
        return first, cut


class Greedy(Policy):
    """A device that is idle takes the next sub-load."""

    name = "greedy"

    def start(self) -> None:
        self._next = 0

    def own(self, device: int) -> Range | None:
        first = self._next
        self._next = min(self.n_items, first + self.packet(device))
        return (first, self._next) if first < self._next else None

    def packet(self, device: int) -> int:
        """Return how many items *device* takes at once."""
        return self.sub_load


class Guided(Greedy):
    """Packets shrink with what is left, and a device's packet is as large as its part in the speed of all.

    The formula is that of HGuided: R. Nozal, J. L. Bosque, R. Beivide, "EngineCL: Usability and performance in
    heterogeneous computing", Future Generation Computer Systems 107, 2020, with the constant 2 for each device.
    """

    name = "guided"

    def packet(self, device: int) -> int:
        speeds = self.speeds()
        share = speeds[device] / sum(speeds.values())
        items = (self.n_items - self._next) * share / (2 * len(speeds))
        return max(self.sub_load, math.ceil(items / self.grain) * self.grain)


class MinMin(Policy):
    """Each sub-load goes where it ends first by the rates known before the round, and stays there.

    Sub-loads are equal, so the rule of O. H. Ibarra and C. E. Kim, J. ACM 24, 1977, needs no search for the least.
    """

    name = "min_min"

    def start(self) -> None:
        speeds = self.speeds()
        ends = [(self.sub_load / speed, device) for device, speed in speeds.items()]
        counts = dict.fromkeys(speeds, 0)
        heapq.heapify(ends)
        for _ in range(-(-self.n_items // self.sub_load)):
            end, device = ends[0]
            counts[device] += 1
            heapq.heapreplace(ends, (end + self.sub_load / speeds[device], device))
        first = 0
        for device, count in counts.items():
            stop = min(self.n_items, first + count * self.sub_load)
            self.buffers[device] = (first, stop)
            first = stop

    def own(self, device: int) -> Range | None:
        return self.from_buffer(device, self.sub_load)


class Static(Policy):
    """Each device gets one part, in the ratio of the profiles alone."""

    name = "static"

    def _weights(self) -> dict[int, float]:
        weights = {d: self.members[d].weight for d in sorted(self.living)}
        # All devices with a share have failed: the others share equally.
        return weights if any(weights.values()) else dict.fromkeys(weights, 1.0)

    def start(self) -> None:
        self.buffers = split(0, self.n_items, self._weights(), self.grain)

    def own(self, device: int) -> Range | None:
        return self.from_buffer(device, self.n_items)

    def ratios(self) -> tuple[float, ...]:
        return self._shares(self._weights())
