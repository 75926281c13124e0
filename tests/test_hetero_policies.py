"""The rules by which devices share a load, on devices that exist only as speeds: time is counted, not measured."""

import heapq
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clgraph.errors import ClgraphError
from clgraph.hetero import POLICIES
from clgraph.hetero.learning import equal_finish, fit
from clgraph.hetero.policies import Member, Policy, split
from clgraph.hetero.rounds import Round

N = 100_000


class Machine:
    """Devices that take ``overhead + items / speed`` seconds for a part; one may break at its k-th part."""

    def __init__(self, speeds: Sequence[float], overhead: float = 0.0, breaks: dict[int, int] | None = None) -> None:
        self.speeds, self.overhead, self.breaks = speeds, overhead, dict(breaks or {})

    def cost(self, device: int, first: int, stop: int) -> float:
        return self.overhead + (stop - first) / self.speeds[device]

    def run(self, policy: Policy, n: int = N, sub_load: int = N // 100, grain: int = 1) -> float:
        """Let *policy* spread a load, check that each item is computed once, and return when all is done."""
        policy.begin(n, sub_load, grain)
        self.policy = policy
        items, seconds = [0] * len(self.speeds), [0.0] * len(self.speeds)
        computed = np.zeros(n, np.int64)
        busy: list[tuple[float, int, tuple[int, int], float]] = []
        idle, now = sorted(policy.living), 0.0
        while True:
            waiting = []
            for device in idle:
                if (part := policy.take(device)) is None:
                    waiting.append(device)
                else:
                    assert part[0] % grain == 0 and part[1] <= n, (part, grain)
                    assert part[1] % grain == 0 or part[1] == n, (part, grain)
                    taken = self.cost(device, *part)
                    heapq.heappush(busy, (now + taken, device, part, taken))
            if len(waiting) < len(idle):  # A part that one device took may change the parts of others.
                idle = waiting
                continue
            if not busy:
                break
            now, device, (first, stop), taken = heapq.heappop(busy)
            if self.breaks.get(device) == 0:
                policy.drop(device, (first, stop))
            else:
                computed[first:stop] += 1
                items[device] += stop - first
                seconds[device] += taken
                policy.done(device, stop - first, taken)
                waiting.append(device)
            if device in self.breaks:
                self.breaks[device] -= 1
            idle = waiting
        assert (computed == 1).all(), (policy.name, np.flatnonzero(computed != 1)[:5])
        policy.end(items, seconds)
        return now


class Disturbed(Machine):
    """The CPU takes what the GPU needs: while it has work, the GPU is slower by half."""

    def cost(self, device: int, first: int, stop: int) -> float:
        left, end = self.policy.buffers.get(1, (0, 0))
        return super().cost(device, first, stop) * (1.5 if device == 0 and left < end else 1.0)


class Disturbing(Machine):
    """The GPU's copies take what the CPU needs: in a round in which it takes part, the CPU is slower."""

    def cost(self, device: int, first: int, stop: int) -> float:
        return super().cost(device, first, stop) * (1.6 if device == 1 and self.policy._taken[0] else 1.0)


class Contended(Machine):
    """Devices share the memory of the host: each is slower by the factor if another one takes part in the round."""

    factor = 1.0

    def cost(self, device: int, first: int, stop: int) -> float:
        return super().cost(device, first, stop) * (self.factor if stop - first < N else 1.0)


class FewLongItems(Machine):
    """The GPU needs extra time for the first item: a tenth of its time for the whole load.

    So the GPU's time hardly depends on its share.
    """

    def cost(self, device: int, first: int, stop: int) -> float:
        return super().cost(device, first, stop) + (0.1 * N / self.speeds[0] if device == 0 and first == 0 else 0.0)


def members(*kinds: str, weight: float = 1.0) -> list[Member]:
    return [Member(weight, 1000 if kind == "gpu" else 4, kind == "cpu") for kind in kinds]


MACHINES = {
    "a GPU and a CPU": (("gpu", "cpu"), (9e6, 1e6)),
    "two GPUs and a CPU": (("gpu", "gpu", "cpu"), (9e6, 4e6, 5e5)),
    "unequal CPUs": (("cpu", "cpu"), (3e6, 1e6)),
    "a weak GPU": (("gpu", "cpu"), (1e6, 3e6)),
    "three CPUs": (("cpu", "cpu", "cpu"), (1e6, 1e6, 7e6)),
    "one": (("gpu",), (1e6,)),
}


@given(
    name=st.sampled_from(sorted(POLICIES)),
    n=st.integers(1, 5000),
    sub_loads=st.integers(1, 200),
    grain=st.integers(1, 40),
    speeds=st.lists(st.floats(1.0, 1e9), min_size=1, max_size=5),
    seed=st.integers(0, 99),
)
def test_every_item_is_done_at_any_speeds_and_failures(name, n, sub_loads, grain, speeds, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["gpu", "cpu"], len(speeds))
    breaks = {d: int(rng.integers(5)) for d in range(1, len(speeds)) if rng.random() < 0.5}  # one lives
    policy, machine = POLICIES[name](members(*kinds)), Machine(speeds, 1e-5, breaks)
    for _ in range(3):
        machine.run(policy, n, max(grain, round(n / sub_loads / grain) * grain), grain)
    assert 0 in policy.living


@pytest.mark.parametrize("overhead", [0.0, 2e-4])
@pytest.mark.parametrize("machine", MACHINES)
def test_hass_is_near_the_best_split_from_round_4_on(machine, overhead):
    kinds, speeds = MACHINES[machine]
    policy, counted = POLICIES["hass"](members(*kinds)), Machine(speeds, overhead)
    times = [counted.run(policy) for _ in range(8)]
    # The best split has one part a device, all of which end at once; a CPU's buffer costs it some more launches.
    taken = equal_finish({d: (overhead, 1 / speed) for d, speed in enumerate(speeds)}, N)
    best = max(overhead + k / speeds[d] for d, k in taken.items() if k)
    assert max(times[4:]) <= 1.05 * best + 6 * overhead * ("cpu" in kinds)


def test_hass_lets_a_cpu_rest_that_disturbs_the_gpu_and_calls_it_when_the_gpu_fails():
    policy, counted = POLICIES["hass"](members("gpu", "cpu")), Disturbed([9e6, 1e6])
    times = [counted.run(policy) for _ in range(8)]
    assert times[4:] == pytest.approx([N / 9e6] * 4) and policy.ratios() == (1.0, 0.0)
    counted.breaks = {0: 0}
    assert counted.run(policy) >= N / 1e6 and policy.living == {1}
    assert counted.run(policy) == pytest.approx(N / 1e6, rel=0.01)


def test_hass_lets_a_gpu_rest_whose_copies_disturb_the_cpu():
    policy, counted = POLICIES["hass"](members("gpu", "cpu")), Disturbing([0.9e6, 3e6])
    times = [counted.run(policy) for _ in range(8)]
    assert times[6:] == pytest.approx([N / 3e6] * 2) and policy.ratios() == (0.0, 1.0)


@pytest.mark.parametrize("n", [2, 4, 8])
def test_hass_takes_one_gpu_if_the_others_slow_it_down_and_all_for_larger_loads(n):
    policy, counted = POLICIES["hass"](members(*["gpu"] * n)), Contended([1e6] * n)
    counted.factor = 1.2 * n
    times = [counted.run(policy) for _ in range(6)]
    assert times[1] == pytest.approx(N / 1e6)  # the trial round
    assert times[3:] == pytest.approx([N / 1e6] * 3)
    assert sorted(policy.ratios()) == [0.0] * (n - 1) + [1.0]
    counted.factor = 1.0
    assert [counted.run(policy, 5 * N) for _ in range(3)][-1] == pytest.approx(5 * N / 1e6 / n, rel=0.02)
    assert min(policy.ratios()) > 0


@pytest.mark.parametrize(("n", "speed", "trials"), [(2, 1e6, 1), (8, 1e6, 1), (4, 1e3, 1), (8, 1e3, 0)])
def test_hass_takes_all_gpus_for_loads_that_are_bound_by_them(n, speed, trials):
    """A trial of one of eight GPUs is left out if it would take over a second."""
    policy, counted = POLICIES["hass"](members(*["gpu"] * n)), Machine([speed] * n)
    times = [counted.run(policy) for _ in range(6)]
    alone = pytest.approx(N / speed)
    assert sum(seconds == alone for seconds in times) == trials
    assert times[2:] == pytest.approx([N / speed / n] * 4, rel=0.02)


@pytest.mark.parametrize(("gain", "n_kept"), [(1.02, 1), (1.1, 2)])
def test_hass_keeps_two_gpus_only_if_they_gain_more_than_rounds_vary(gain, n_kept):
    policy, counted = POLICIES["hass"](members("gpu", "gpu")), Contended([1e6, 1e6])
    counted.factor = 2 / gain
    for _ in range(6):
        counted.run(policy)
    assert sum(share > 0 for share in policy.ratios()) == n_kept


def test_hass_keeps_the_shares_of_its_fastest_round():
    policy, counted = POLICIES["hass"](members("gpu", "cpu")), FewLongItems([9e6, 1e6])
    times = [counted.run(policy) for _ in range(8)]
    assert max(times[4:]) <= 1.02 * min(times)


@pytest.mark.parametrize("machine", MACHINES)
def test_hass_is_no_worse_than_its_peers(machine):
    kinds, speeds = MACHINES[machine]
    last = {}
    for name, kind in POLICIES.items():
        policy, counted = kind(members(*kinds)), Machine(speeds, 2e-4)
        last[name] = [counted.run(policy) for _ in range(6)][-1]
    assert last["hass"] <= 1.02 * min(last["greedy"], last["min_min"], last["static"])


def test_hass_fixes_its_ratios_and_learns_anew_when_a_device_gets_slower():
    policy, machine = POLICIES["hass"](members("gpu", "gpu")), Machine([3e6, 1e6])
    assert policy.ratios() is None
    for _ in range(3):
        machine.run(policy)
    assert policy.is_fixed and policy.ratios() == pytest.approx((0.75, 0.25), abs=0.01)
    machine.speeds = [1.02e6 * 3, 1e6]
    fixed = policy.ratios()
    machine.run(policy)
    assert policy.ratios() == fixed
    machine.speeds = [1e6, 1e6]
    for _ in range(3):
        machine.run(policy)
    assert policy.ratios() == pytest.approx((0.5, 0.5), abs=0.01)


def test_a_gpu_steals_from_a_cpu_that_has_become_slow_and_no_device_from_a_gpu():
    policy, machine = POLICIES["hass"](members("gpu", "cpu")), Machine([1e6, 1e6])
    for _ in range(3):
        machine.run(policy)
    machine.speeds = [1e6, 1e5]
    took = machine.run(policy)
    assert policy.steals[0] and not policy.steals[1]
    assert took < 0.75 * N / 2 / 1e5  # the time of the CPU's half
    machine.speeds = [1e5, 1e6]
    machine.run(policy)
    assert not policy.steals[1]


def test_a_gpu_gets_its_share_at_once_and_a_cpu_gets_sub_loads():
    policy = POLICIES["hass"](members("gpu", "cpu"))
    policy.rates = {0: 3.0, 1: 1.0}
    policy.begin(1000, 10, 1)
    assert policy.take(0) == (0, 750) and policy.take(1) == (750, 870)
    assert policy.buffers[1] == (870, 1000)


def test_what_is_stolen_begins_at_whole_grains():
    policy = POLICIES["hass"](members("gpu", "cpu"))
    policy.rates = {0: 1.0, 1: 1.0}
    policy.begin(1003, 8, 8)
    assert policy.take(0) == (0, 504) and policy.take(1) == (504, 752)
    first, stop = policy.take(0)
    assert policy.steals == [1, 0] and stop == 1003 and first % 8 == 0 and policy.buffers[1] == (752, first)


def test_qilin_trains_once_and_never_changes():
    policy, machine = POLICIES["qilin"](members("gpu", "cpu"), training=0.3), Machine([3e6, 1e6], 1e-3)
    first = machine.run(policy)
    assert policy.ratios() == pytest.approx((0.745, 0.255), abs=0.01)
    second = machine.run(policy)
    assert second < first
    best = equal_finish({0: (1e-3, 1 / 3e6), 1: (1e-3, 1e-6)}, N)
    assert second == pytest.approx(1e-3 + best[0] / 3e6, rel=0.01)
    machine.speeds = [1e6, 1e6]
    machine.run(policy)
    assert policy.ratios() == pytest.approx((0.745, 0.255), abs=0.01)


def test_greedy_min_min_and_guided_hand_out_what_they_should():
    greedy = POLICIES["greedy"](members("gpu", "cpu"))
    greedy.begin(25, 10, 1)
    assert [greedy.take(d) for d in (1, 0, 0, 1)] == [(0, 10), (10, 20), (20, 25), None]
    sizes = []
    guided = POLICIES["guided"](members("gpu", "cpu"))
    guided.rates = {0: 3.0, 1: 1.0}
    guided.begin(1600, 20, 1)
    while (part := guided.take(len(sizes) % 2)) is not None:
        sizes.append(part[1] - part[0])
    assert sizes[:2] == [300, 82] and min(sizes[:-1]) == 20 and sizes[::2] == sorted(sizes[::2], reverse=True)
    min_min = POLICIES["min_min"](members("gpu", "cpu"))
    min_min.rates = {0: 3.0, 1: 1.0}
    min_min.begin(400, 10, 1)
    assert min_min.take(1) == (300, 310) and min_min.take(0) == (0, 10)


def test_static_knows_the_profiles_alone():
    policy = POLICIES["static"]([Member(3.0), Member(1.0)])
    for speeds in ([1.0, 1.0], [1.0, 9.0]):
        Machine(speeds).run(policy)
        assert policy.ratios() == (0.75, 0.25)


def test_lines_are_fitted_and_meet_where_times_are_equal():
    assert fit([(10, 3.0), (20, 5.0)]) == pytest.approx((1.0, 0.2))
    for noisy in ([(10, 3.0), (20, 2.0)], [(10, 3.0), (20, 9.0)], [(10, 3.0)], [(5, 1.0), (5, 1.0)]):
        a, b = fit(noisy)
        assert a == 0 and b > 0
    assert equal_finish({0: (0.0, 1.0), 1: (0.0, 3.0)}, 40) == pytest.approx({0: 30, 1: 10})
    assert equal_finish({0: (0.0, 1.0), 1: (100.0, 1.0)}, 40) == pytest.approx({0: 40, 1: 0})
    assert split(0, 100, {0: 1.0, 2: 1.0, 5: 2.0}, 8) == {0: (0, 24), 2: (24, 48), 5: (48, 100)}


def test_a_policy_that_hands_out_nothing_is_an_error_and_no_hang():
    class Broken(Policy):
        name = "broken"

        def own(self, device):
            return None

    state = Round(Broken(members("cpu")), 10, 1, 1)
    assert state.take(0) is None
    assert isinstance(state.error, ClgraphError) and "broken" in str(state.error)
