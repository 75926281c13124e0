"""Scheduling policies that time each device on a small part of a load, and then divide the other items by speed."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence

from clgraph.hetero.policies import Greedy, Guided, Member, MinMin, Policy, Range, Static, split

_AGREE = 0.02  # Two rounds agree if no device's share of the items differs by more than this between them.
# Least time of work that a CPU takes from its buffer, or that a device steals, so that a launch pays off.
_LEAST_SECONDS = 2e-3
# Devices' shares are learned anew after a round in which one device was busy for 1.25 times another device's time.
# Devices' shares are also learned anew after a round that took 1.25 times the fastest round's time per item.
_THAW = 1.25
# A round that takes over 1.05 times the fastest round's time per item ends the learning of devices' shares.
_SLOWER = 1.05
# Several devices are kept only if they are over 1.04 times as fast as one. Times of rounds vary by about this much.
_LEAST_GAIN = 1.04
# Least share of the items that the GPUs (False) or the CPUs (True) need before a trial round runs only these devices.
# Devices with a smaller share would take too much time for a trial round alone.
_LEAST_SHARES = {False: 0.25, True: 0.5}
# A trial round runs the fastest device alone if it computes this share of the items, or needs this time for all items.
_LEAST_SHARE_OF_ONE, _MAX_SECONDS_OF_ONE = 0.25, 1.0
# Devices that rest are measured again at a load with over 4 times the items of the round that made them rest.
_GROWTH = 4


def equal_finish(fits: Mapping[int, tuple[float, float]], n_items: float) -> dict[int, float]:
    """Return the number of items of a load for each device with which all devices end together.

    *fits* has a pair (a, b) for each device, on which *k* items take ``a + b * k`` seconds.
    """
    taking = dict(fits)
    while True:
        end = (n_items + sum(a / b for a, b in taking.values())) / sum(1 / b for _, b in taking.values())
        late = [device for device, (a, _) in taking.items() if a >= end]
        if not late:
            return {d: (end - a) / b if d in taking else 0.0 for d, (a, b) in fits.items()}
        for device in late:
            del taking[device]


def fit(runs: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Fit a line ``seconds = a + b * items`` through the first and the last of *runs* (items, seconds).

    Return (a, b).

    *a* is at least 0, and *b* is above 0.
    """
    (few, short), (many, long) = runs[0], runs[-1]
    slope = (long - short) / (many - few) if many > few else 0.0
    # Noisy times give no line with a positive slope, so the fit uses a line through the origin.
    if slope <= 0 or short < slope * few:
        return 0.0, max(1e-12, sum(seconds for _, seconds in runs) / sum(items for items, _ in runs))
    return short - slope * few, slope


class Qilin(Policy):
    """A policy that fits a line of time over items to two training runs per device, and keeps the split that results.

    The algorithm is from C.-K. Luk, S. Hong, H. Kim, "Qilin: Exploiting parallelism on heterogeneous multiprocessors
    with adaptive mapping", MICRO 2009. The items of the training runs are a part of the first load, and are not
    computed again.
    """

    name = "qilin"

    def __init__(self, members: Sequence[Member], training: float = 0.2) -> None:
        super().__init__(members, training)
        self._fits: dict[int, tuple[float, float]] = {}

    def start(self) -> None:
        self._pending: dict[int, deque[Range]] = {d: deque() for d in self.living}
        self._runs: dict[int, list[tuple[int, float]]] = {d: [] for d in self.living}
        first = 0
        if not self._fits.keys() >= self.living:
            self._fits.clear()
            step = round(self.training * self.n_items / len(self.living) / 3 / self.grain) * self.grain
            for device in sorted(self.living):
                for size in (1, 2):
                    cut = min(self.n_items, first + size * max(step, self.grain))
                    if first < cut:
                        self._pending[device].append((first, cut))
                    first = cut
        self._rest = (first, self.n_items)

    def own(self, device: int) -> Range | None:
        if self._pending[device]:
            return self._pending[device].popleft()
        if self._rest[0] < self._rest[1] and self._fits.keys() >= self.living:
            fits = {d: self._fits[d] for d in sorted(self.living)}
            self.buffers = split(*self._rest, equal_finish(fits, self._rest[1] - self._rest[0]), self.grain)
            self._rest = (self.n_items, self.n_items)
        return self.from_buffer(device, self.n_items)

    def done(self, device: int, items: int, seconds: float) -> None:
        if device not in self._fits:
            self._runs[device].append((items, seconds))
            if not self._pending[device]:
                self._fits[device] = fit(self._runs[device])

    def drop(self, device: int, *lost: Range) -> None:
        super().drop(device, *lost, *self._pending.pop(device, ()))

    def ratios(self) -> tuple[float, ...] | None:
        if not self._fits.keys() >= self.living:
            return None
        return self._shares(equal_finish({d: self._fits[d] for d in self.living}, self.n_items))


class HASS(Policy):
    """A policy that shares items in the ratio of the devices' speeds so far.

    A device without work steals from CPUs.

    In the first round, each device gets a small load. Until all devices have ended their first loads, faster devices go
    on with loads that double. Then the remaining items are divided in the ratio of the speeds. A GPU gets its share at
    once, as one transfer and one launch. A CPU takes half of the items that its buffer still has, and any other device
    that does not rest may steal the other half.

    The ratios follow the speeds of the devices in each round. They are fixed when two rounds agree, or when a round
    took longer than an earlier one. A device may slow the others down, because all share the host's memory and a CPU
    copies for the GPUs. Therefore the second round is a trial of the fastest device alone. Before the ratios are fixed,
    the GPUs compute a trial round alone, and the CPUs compute one alone if they had most items. The other devices rest
    if a trial round was the best round: the fastest one, or a round of one device if several gain less than 4 %.
    """

    name = "hass"
    is_fixed = False  # True after the learned ratios have stopped changing.

    def __init__(self, members: Sequence[Member], training: float = 0.2) -> None:
        super().__init__(members, training)
        # The highest speed of each device in any part of a load, in items per second.
        self._fastest: dict[int, float] = {}
        self._learn_anew()

    def _learn_anew(self) -> None:
        # The devices that compute alone in each trial round to come, and in the trial rounds so far.
        self.is_fixed, self._alone, self._tried = False, list[frozenset[int]](), set[frozenset[int]]()
        self._n_shared = 0  # Number of rounds in which the devices got items by their speeds.
        # Seconds per item of the fastest round; and of the best round, in which several devices must gain something,
        # with the number of items that each device computed in it.
        self._least_seconds, self._best_seconds, self._best = math.inf, math.inf, dict[int, float]()

    def start(self) -> None:
        if self.is_fixed and not all(self._best.values()) and self.n_items > _GROWTH * sum(self._best.values()):
            self.rates.clear()
            self._learn_anew()
        self._known: dict[int, float] = dict(self.rates) if self.rates.keys() >= self.living else {}
        self._is_first = not self._known
        if self._alone:
            self._known |= dict.fromkeys(self.living - self._alone[0], 0.0)
        self._size: dict[int, int] = {}  # The number of items in the last measuring load of each device.
        first = 0
        if self._is_first:
            most = self.n_items // (4 * len(self.living))
            for device in sorted(self.living):
                small = min(most, max(self.members[device].lanes, self.sub_load))
                self._size[device] = -(-max(1, small) // self.grain) * self.grain
                self.buffers[device] = first, min(self.n_items, first + self._size[device])
                first = self.buffers[device][1]
        self._rest = (first, self.n_items)
        self._taken = [0] * len(self.members)  # The number of items that each device took last.

    def resting(self) -> set[int]:
        return {d for d in self.living if self._known.get(d) == 0.0}

    def own(self, device: int) -> Range | None:
        first, stop = self._rest
        if first < stop and self._known.keys() >= self.living:
            # A device of speed 0 is meant to rest, so it is left out.
            speeds = {d: self._known[d] for d in sorted(self.living) if self._known[d]}
            self.buffers, self._rest = split(first, stop, speeds, self.grain), (stop, stop)
        elif first < stop:
            if (small := self.from_buffer(device, self.n_items)) is not None:
                return small
            size = min(2 * self._size[device], (stop - first) // (2 * len(self.living)))
            self._size[device] = size = max(self.sub_load, -(-size // self.grain) * self.grain)
            self._rest = (min(stop, first + size), stop)
            return first, self._rest[0]
        first, stop = self.buffers.get(device, (0, 0))
        size = stop - first
        if self.members[device].is_cpu and any(self._known.get(d, 1.0) for d in self.living if d != device):
            # Other devices may steal the rest of the items in this device's buffer.
            size = min(size, max(self._least(device), self.whole_sub_loads(size / 2)))
        self._taken[device] = size
        return self.from_buffer(device, size)

    def _least(self, device: int) -> int:
        """Return the least number of items for which a launch on *device* pays off.

        The highest speed of *device* so far is used, because the cost of a launch makes small parts seem slow.
        """
        return max(self.sub_load, self.whole_sub_loads(_LEAST_SECONDS * self._fastest.get(device, 0.0)))

    def steal(self, device: int) -> Range | None:
        """Take items from the end of the CPU buffer that lasts longest, such that both devices should end together."""
        left = {d: stop - first for d, (first, stop) in self.buffers.items() if self.members[d].is_cpu and d != device}
        if not left or not self._known.keys() >= self.living:
            return None
        victim = max(left, key=lambda d: left[d] / self._known[d])
        # The device from which items are stolen is assumed to be halfway through the last range of items that it took.
        ahead = left[victim] + self._taken[victim] / 2
        share = self._known[device] / (self._known[device] + self._known[victim])
        stolen = min(self.whole_sub_loads(left[victim]), self.whole_sub_loads(ahead * share))
        if stolen < self._least(device):
            return None
        first, stop = self.buffers[victim]
        cut = first + (stop - stolen - first) // self.grain * self.grain
        self.buffers[victim] = (first, cut)
        self.steals[device] += 1
        return cut, stop

    def done(self, device: int, items: int, seconds: float) -> None:
        speed = items / max(seconds, 1e-9)
        self._fastest[device] = max(speed, self._fastest.get(device, 0.0))
        if self._rest[0] < self._rest[1]:
            self._known[device] = speed

    def end(self, items: Sequence[int], seconds: Sequence[float]) -> None:
        before, busy = self.ratios(), [seconds[d] for d in self.living if items[d]]
        if self._is_first or not busy:
            super().end(items, seconds)
            if self._is_first and self.rates.keys() >= self.living:
                self._plan_trials([self._fastest_alone()])
            return
        taken = max(busy) / sum(items)
        if self.is_fixed:
            if max(busy) < _THAW * min(busy) and taken < _THAW * self._least_seconds:
                return
            self._learn_anew()
        self._n_shared += not self._alone
        is_slower = taken > _SLOWER * self._least_seconds and self._n_shared > 1
        self._least_seconds = min(taken, self._least_seconds)
        if (compared := taken * (_LEAST_GAIN if len(busy) > 1 else 1.0)) < self._best_seconds:
            self._best_seconds, self._best = compared, {d: float(items[d]) for d in self.living}
        if self._alone:
            del self._alone[0]
            self.is_fixed = not self._alone and self._n_shared > 0
        else:
            super().end(items, seconds)
            after = self.ratios()
            agree = (
                before is not None
                and after is not None
                and all(abs(new - old) <= _AGREE for new, old in zip(after, before, strict=True))
            )
            if agree or is_slower:
                kinds = [
                    frozenset(d for d in self.living if self.members[d].is_cpu == is_cpu)
                    for is_cpu, least in _LEAST_SHARES.items()
                    if sum((after or ())[d] for d in self.living if self.members[d].is_cpu == is_cpu) > least
                ]
                self._plan_trials([*kinds, self._fastest_alone()])
                self.is_fixed = not self._alone
        if self.is_fixed:
            self.rates |= self._best

    def ratios(self) -> tuple[float, ...] | None:
        if self._alone and self.rates.keys() >= self.living:
            return self._shares({d: self.rates[d] * (d in self._alone[0]) for d in self.living})
        return super().ratios()

    def _fastest_alone(self) -> frozenset[int]:
        """Return the fastest device, or no device if this trial would take too long, or one device had a trial."""
        speeds = {d: self.rates[d] for d in self.living}
        fastest = max(speeds, key=speeds.__getitem__)
        share, seconds = speeds[fastest] / sum(speeds.values()), self.n_items / max(speeds[fastest], 1e-9)
        is_short = share >= _LEAST_SHARE_OF_ONE or seconds <= _MAX_SECONDS_OF_ONE
        return frozenset([fastest] if is_short and all(len(team) > 1 for team in self._tried) else ())

    def _plan_trials(self, teams: Sequence[frozenset[int]]) -> None:
        """Plan a trial round for each of *teams* that is new, if it is a part of all devices."""
        self._alone = [team for team in dict.fromkeys(teams) if 0 < len(team) < len(self.living)]
        self._alone = [team for team in self._alone if team not in self._tried]
        self._tried |= {*self._alone}

    def drop(self, device: int, *lost: Range) -> None:
        super().drop(device, *lost)
        self._learn_anew()
        for speeds in (self.rates, self._known):
            if speeds.keys() >= self.living and not any(speeds[d] for d in self.living):  # All rested.
                speeds.update(dict.fromkeys(self.living, 1.0))


POLICIES: dict[str, type[Policy]] = {policy.name: policy for policy in (HASS, Greedy, MinMin, Qilin, Static, Guided)}
