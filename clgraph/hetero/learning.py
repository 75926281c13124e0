"""The policies that measure a device on a small part of a load and give it a share for all that is left."""
from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from clgraph.hetero.policies import Member, Policy, Range, split

_AGREE = 0.02  # two rounds agree when no share has moved by more
_LEAST_SECONDS = 2e-3  # what a device takes from a buffer is worth a launch
_THAW = 1.25  # ratios that are fixed are learned anew after a round in which one device took so much longer


def equal_finish(fits: Mapping[int, tuple[float, float]], n_items: float) -> dict[int, float]:
    """Return how many items each device gets so that all end at once, where *k* items take ``a + b * k`` seconds."""
    taking = dict(fits)
    while True:
        end = (n_items + sum(a / b for a, b in taking.values())) / sum(1 / b for _, b in taking.values())
        late = [device for device, (a, _) in taking.items() if a >= end]
        if not late:
            return {d: (end - a) / b if d in taking else 0.0 for d, (a, b) in fits.items()}
        for device in late:
            del taking[device]


def fit(runs: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return *a*, from 0 on, and *b*, above 0, of the line ``a + b * items`` through two runs (items, seconds)."""
    (few, short), (many, long) = runs[0], runs[-1]
    slope = (long - short) / (many - few) if many > few else 0.0
    if slope <= 0 or short < slope * few:  # noise: a line through the origin
        return 0.0, max(1e-12, sum(seconds for _, seconds in runs) / sum(items for items, _ in runs))
    return short - slope * few, slope


class Qilin(Policy):
    """Two training runs on each device, a line through them, and the split where the lines meet, for ever.

    After C.-K. Luk, S. Hong, H. Kim, "Qilin: Exploiting parallelism on heterogeneous multiprocessors with adaptive
    mapping", MICRO 2009. The items of the training runs are a part of the first load, and are not computed again.
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
    """Shares in the ratio of what the devices did so far; who is done steals from the buffers of the CPUs.

    In the first round each device gets a small load. While some have not ended theirs, the others go on with loads that
    double; then what is left is cut in the ratio of the speeds. A GPU gets its share at once, as one transfer and one
    launch. A CPU takes half of what its buffer still has, and the rest can be stolen. The ratios
    follow what each device did in a round, and are fixed when two rounds agree.
    """

    name = "hass"
    is_fixed = False  # whether two rounds have agreed

    def __init__(self, members: Sequence[Member], training: float = 0.2) -> None:
        super().__init__(members, training)
        self._fastest: dict[int, float] = {}  # items per second of the part in which a device was fastest

    def start(self) -> None:
        self._known: dict[int, float] = dict(self.rates) if self.rates.keys() >= self.living else {}
        self._size: dict[int, int] = {}  # of the load that each took last to be measured
        first = 0
        if not self._known:
            lanes = max(self.members[d].lanes for d in self.living)
            small = min(self.n_items // (4 * len(self.living)), max(lanes, self.sub_load))
            small = -(-max(1, small) // self.grain) * self.grain
            for device in sorted(self.living):
                self.buffers[device] = first, min(self.n_items, first + small)
                first = self.buffers[device][1]
            self._size = dict.fromkeys(self.living, small)
        self._rest = (first, self.n_items)
        self._taken = [0] * len(self.members)  # the last range that each took

    def own(self, device: int) -> Range | None:
        first, stop = self._rest
        if first < stop and self._known.keys() >= self.living:
            self.buffers = split(first, stop, {d: self._known[d] for d in sorted(self.living)}, self.grain)
            self._rest = (stop, stop)
        elif first < stop:
            if (small := self.from_buffer(device, self.n_items)) is not None:
                return small
            size = min(2 * self._size[device], (stop - first) // (2 * len(self.living)))
            self._size[device] = size = max(self.sub_load, -(-size // self.grain) * self.grain)
            self._rest = (min(stop, first + size), stop)
            return first, self._rest[0]
        first, stop = self.buffers.get(device, (0, 0))
        size = stop - first
        if self.members[device].is_cpu:
            size = min(size, max(self._least(device), self.whole_sub_loads(size / 2)))
        self._taken[device] = size
        return self.from_buffer(device, size)

    def _least(self, device: int) -> int:
        """Return how many items are worth a launch, by the fastest part so far: in small parts launches count."""
        return max(self.sub_load, self.whole_sub_loads(_LEAST_SECONDS * self._fastest.get(device, 0.0)))

    def steal(self, device: int) -> Range | None:
        """Take so much off the end of the longest buffer of a CPU that both would end at once."""
        left = {d: stop - first for d, (first, stop) in self.buffers.items() if self.members[d].is_cpu and d != device}
        if not left or not self._known.keys() >= self.living:
            return None
        victim = max(left, key=lambda d: left[d] / self._known[d])
        ahead = left[victim] + self._taken[victim] / 2  # it is in the middle of what it took last
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
        if self.is_fixed and max(busy) < _THAW * min(busy):
            return
        super().end(items, seconds)
        after = self.ratios()
        self.is_fixed = before is not None and after is not None and all(
            abs(new - old) <= _AGREE for new, old in zip(after, before, strict=True)
        )

    def drop(self, device: int, *lost: Range) -> None:
        super().drop(device, *lost)
        self.is_fixed = False
