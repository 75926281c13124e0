"""Policies: rules that decide which device computes which items of a load next.

They do not use OpenCL.

A policy hands out ranges of items. :class:`clgraph.hetero.rounds.Round` asks the policy under a lock, and reports which
items were computed in which time. A round computes one load. A policy keeps its measurements from round to round.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

Range: TypeAlias = tuple[int, int]  # The first item of a range, and the item after its last.


@dataclass(frozen=True)
class Member:
    """A device as scheduling policies see it: its kind, speed and number of work-items."""

    # Speed relative to the other devices: the memory bandwidth in the device's profile, or the user's ratio.
    weight: float
    lanes: int = 1  # Number of work-items that the device runs at the same time.
    is_cpu: bool = True


def split(start: int, stop: int, weights: Mapping[int, float], grain: int) -> dict[int, Range]:
    """Cut a range of items in the ratio of *weights*, at multiples of *grain* items after *start*."""
    total, behind, first, found = sum(weights.values()), 0.0, start, {}
    for k, (device, weight) in enumerate(weights.items(), 1):
        behind += weight
        last = stop if k == len(weights) else min(stop, start + grain * round((stop - start) * behind / total / grain))
        found[device] = (first, max(first, last))
        first = max(first, last)
    return found


class Policy:
    """Base class of scheduling policies: measured speeds, a buffer of items
    per device, and items that failed devices left.
    """

    name: ClassVar[str]

    def __init__(self, members: Sequence[Member], training: float = 0.2) -> None:
        self.members = tuple(members)
        self.training = training
        self.living = set(range(len(members)))
        self.rates: dict[int, float] = {}  # Measured speeds in items per second, by device.
        self.steals = [0] * len(members)

    def begin(self, n_items: int, sub_load: int, grain: int) -> None:
        """Begin a round of *n_items* items in sub-loads of *sub_load* items.

        Ranges are cut at multiples of *grain* items.
        """
        self.n_items, self.sub_load, self.grain = n_items, sub_load, grain
        self.buffers: dict[int, Range] = {}
        self._returned: list[Range] = []
        self.steals = [0] * len(self.members)
        self.start()

    def start(self) -> None:
        """Prepare how this round's items are distributed among the devices.

        :meth:`begin` calls this method.
        """

    def take(self, device: int) -> Range | None:
        """Return the range of items that *device* computes next, or ``None`` if there is none for it at present."""
        return self.own(device) or self._take_returned() or self.steal(device)

    def own(self, device: int) -> Range | None:
        """Return the next range of the items that are assigned to *device*, or ``None`` if none is left."""
        raise NotImplementedError

    def steal(self, device: int) -> Range | None:
        """Return a range of items that were assigned to another device, or ``None`` if none can be taken."""
        return None

    def resting(self) -> set[int]:
        """Return the devices that get no items in this round unless others fail."""
        return set()

    def done(self, device: int, items: int, seconds: float) -> None:
        """Learn from *device* that it has computed *items* items of the load in *seconds* seconds."""

    def drop(self, device: int, *lost: Range) -> None:
        """Go on without *device*.

        The items in its buffer and the *lost* ranges of items go to the other devices.
        """
        self.living.discard(device)
        self._returned += [part for part in (*lost, self.buffers.pop(device, (0, 0))) if part[0] < part[1]]

    def end(self, items: Sequence[int], seconds: Sequence[float]) -> None:
        """Learn from a finished round how many items each device has computed, and in how many seconds."""
        self.rates |= {d: items[d] / seconds[d] for d in self.living if items[d] and seconds[d] > 0}

    def ratios(self) -> tuple[float, ...] | None:
        """Return the planned share of the items for each device, or ``None`` if this policy has no plan."""
        return self._shares(self.rates) if self.rates.keys() >= self.living else None

    def _shares(self, weights: Mapping[int, float]) -> tuple[float, ...]:
        total = sum(weights[d] for d in self.living)
        return tuple(weights[d] / total if d in self.living else 0.0 for d in range(len(self.members)))

    def speeds(self) -> dict[int, float]:
        """Return the measured speeds of all devices in use, or their weights until all of the devices are measured."""
        known = self.rates.keys() >= self.living
        return {d: self.rates[d] if known else self.members[d].weight for d in sorted(self.living)}

    def whole_sub_loads(self, items: float) -> int:
        """Return the number of *items*, rounded down to a multiple of the sub-load's size."""
        return int(items / self.sub_load) * self.sub_load

    def from_buffer(self, device: int, items: int) -> Range | None:
        """Take up to *items* items from the start of the buffer of *device*.

        Return ``None`` if the buffer is empty.
        """
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
    """A scheduling policy in which each idle device takes the next sub-load."""

    name = "greedy"

    def start(self) -> None:
        self._next = 0

    def own(self, device: int) -> Range | None:
        first = self._next
        self._next = min(self.n_items, first + self.packet(device))
        return (first, self._next) if first < self._next else None

    def packet(self, device: int) -> int:
        """Return the number of items that *device* takes from the load in one step."""
        return self.sub_load


class Guided(Greedy):
    """A scheduling policy whose packets shrink with the remaining items, in the ratio of the devices' speeds.

    The formula is from HGuided: R. Nozal, J. L. Bosque, R. Beivide, "EngineCL: Usability and performance in
    heterogeneous computing", Future Generation Computer Systems 107, 2020, with the constant 2 for each device.
    """

    name = "guided"

    def packet(self, device: int) -> int:
        speeds = self.speeds()
        share = speeds[device] / sum(speeds.values())
        items = (self.n_items - self._next) * share / (2 * len(speeds))
        return max(self.sub_load, math.ceil(items / self.grain) * self.grain)


class MinMin(Policy):
    """A scheduling policy that assigns each sub-load, before the round, to the device on which it should end first.

    The speeds known before the round predict the ends. Sub-loads are equal, so the rule of O. H. Ibarra and C. E. Kim,
    J. ACM 24, 1977, needs no search for the shortest sub-load.
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
    """A policy that gives each device one part of a load, in the ratio of
    the profiles' bandwidths or the user's ratios.
    """

    name = "static"

    def _weights(self) -> dict[int, float]:
        weights = {d: self.members[d].weight for d in sorted(self.living)}
        # If all devices with a share have failed, the remaining devices get equal shares.
        return weights if any(weights.values()) else dict.fromkeys(weights, 1.0)

    def start(self) -> None:
        weights = {d: weight for d, weight in self._weights().items() if weight}
        self.buffers = split(0, self.n_items, weights, self.grain)

    def resting(self) -> set[int]:
        return self.living - self.buffers.keys()

    def own(self, device: int) -> Range | None:
        return self.from_buffer(device, self.n_items)

    def ratios(self) -> tuple[float, ...]:
        return self._shares(self._weights())
