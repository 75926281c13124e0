"""The cost model of factorisation ranks strategies as the study measured them on its two GPUs.

R. Kaleem et al., "Synchronization Trade-offs in GPU Implementations of Graph Algorithms", IPDPS 2016: on the Tesla
K40 the online strategies win, edge locking before node locking on power-law inputs, node locking on roads, the hybrid
before both; on the Radeon R9-290X the schedules by maximal matchings win by about 2; and diagonals beat matchings
on power-law inputs when the preprocessing is counted, once. The inputs have the study's sizes, scaled down.
"""

import math
from dataclasses import replace

import pytest
import ratings_inputs

from clgraph.algorithms.factorization import STRATEGIES, as_problem, prices
from clgraph.device.facts import DeviceFacts, Dialect
from clgraph.device.profile import load_profile
from clgraph.model.cost import estimate

K40 = DeviceFacts(
    "Tesla K40c", "NVIDIA Corporation", "NVIDIA CUDA", "", "", is_cpu=False, compute_units=15, sub_group_size=1,
    max_work_group_size=1024, local_mem_bytes=49152, global_mem_bytes=12 << 30, max_alloc_bytes=3 << 30,
    has_int64_atomics=True, has_fp64=True, dialect=Dialect(nvidia_sm=35),
)  # fmt: skip
R9_290X = replace(
    K40, name="Hawaii", vendor="Advanced Micro Devices", platform="AMD Accelerated Parallel Processing",
    compute_units=44, sub_group_size=64, max_work_group_size=256, local_mem_bytes=32768,
    dialect=Dialect("CL2.0", "SUB_GROUP_AMDGCN", "ATOMICS_C11", "LOADS_C11", has_grid_barrier=True),
)  # fmt: skip
INPUTS = {
    "power-law": {"STACK": 16, "IMDB": 16, "WIKI": 16, "BGG": 16, "CITP": 16, "POKEC": 16, "LIVEJ": 32, "NFLIX": 64},
    "road": {"CAL": 4, "E": 8, "W": 16, "CTR": 32},
}
ONLINE = ("edge_locked", "node_locked", "hybrid_locked")
OFFLINE = ("matching_edge", "matching_node", "subgraph_matching", "diagonal", "block_diagonal")
MATCHINGS = OFFLINE[:3]


@pytest.fixture(scope="module")
def problems():
    """Every input, for rank 16 and one sweep."""
    return {
        kind: [as_problem(ratings_inputs.load(name, scale=scale), n_sweeps=1) for name, scale in names.items()]
        for kind, names in INPUTS.items()
    }


def mean_seconds(problems, facts, *, once=False):
    """Geometric mean over *problems* of the seconds of a sweep of each strategy, or with its preprocessing."""
    rates = load_profile(facts).rates
    means = {}
    for name in ONLINE + OFFLINE:
        found = [getattr(prices, name)(problem, facts) for problem in problems]
        logs = [
            math.log(estimate(price.sweep, rates).seconds + once * estimate(price.preparation, rates).seconds)
            for price in found
        ]  # fmt: skip
        means[name] = math.exp(sum(logs) / len(logs))
    return means


def best(means, names):
    return min(means[name] for name in names)


def test_profiles_are_those_of_the_literature():
    assert load_profile(K40).device == "Tesla K40"
    assert load_profile(R9_290X).device == "Radeon R9-290X"


@pytest.mark.parametrize(("kind", "first", "second"), [
    ("power-law", "edge_locked", "node_locked"), ("road", "node_locked", "edge_locked"),
])  # fmt: skip
def test_on_the_k40_online_wins(problems, kind, first, second):
    means = mean_seconds(problems[kind], K40)
    assert means["hybrid_locked"] < means[first] < means[second]
    assert means[first] < best(means, OFFLINE)


@pytest.mark.parametrize("kind", INPUTS)
def test_on_the_r9_290x_matchings_win_by_about_two(problems, kind):
    means = mean_seconds(problems[kind], R9_290X)
    assert best(means, MATCHINGS) == best(means, OFFLINE)
    assert 1.5 <= best(means, ONLINE) / best(means, MATCHINGS) <= 2.5


@pytest.mark.parametrize("facts", [K40, R9_290X], ids=lambda facts: facts.name)
def test_diagonals_beat_matchings_on_power_law_inputs_once(problems, facts):
    means = mean_seconds(problems["power-law"], facts, once=True)
    assert means["diagonal"] < best(means, MATCHINGS)


def test_many_sweeps_pay_for_preprocessing(problems):
    problem = problems["power-law"][0]
    rates = load_profile(R9_290X).rates

    def pick(n_sweeps):
        wanted = replace(problem, n_sweeps=n_sweeps)
        whole = {name: STRATEGIES[name].work(wanted, R9_290X) for name in ONLINE + OFFLINE}
        return min(whole, key=lambda name: estimate(whole[name], rates).seconds)

    assert STRATEGIES[pick(1)].kind == "online"
    assert STRATEGIES[pick(1000)].kind == "offline"
