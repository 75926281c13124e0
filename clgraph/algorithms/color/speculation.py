"""Recipes of speculative colourings at distance 1; ``cl/color/speculative.cl`` explains the algorithm."""

from __future__ import annotations

import math

import numpy as np

from clgraph.algorithms.color.first_fit import FEW_NEIGHBORS
from clgraph.algorithms.color.hash_choice import MOST_BITS, best_hash, default_bits
from clgraph.algorithms.color.problem import ColoringProblem
from clgraph.algorithms.color.vertex_orders import listing_rows, order_constant, rank_steps, sorting, vertex_order
from clgraph.arguments import checked_count
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array, Loop, Phase, Recipe, Setting, Step, Use
from clgraph.primitives.fill import Iota
from clgraph.primitives.types import Tuning, tuned_sizes

_SOURCE, _HUBS, _EDGES = (f"color/{name}.cl" for name in ("speculative", "speculative_hubs", "edge_rounds"))
_HASHES = "color/hash_colors.cl"
_SIZES = {"WG_SIZE": 256, "SMALL_DEGREE": 64, "HUB_DEGREE": 4096, "GROUPS_PER_UNIT": 4, "LINGER": 100}
_CPU_GROUP, _HUB_GROUP = 64, 256  # Least work-group size on CPUs, and greatest work-group size for rows of hubs.


def tile_stride(facts: DeviceFacts, n: int) -> int:
    """Return a stride that visits each tile of *n* vertices once.

    On GPUs, tiles visited in a row are far apart.
    """
    n_tiles = -(-n // facts.sub_group_size)
    step = 1 if facts.is_cpu else max(1, round(n_tiles * order_constant("GOLDEN") / 2**32))
    while math.gcd(step, n_tiles) > 1:
        step += 1
    return step


def by_vertex(problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning) -> Recipe:
    """Return the colouring recipe in which each vertex first takes the least colour that looks free.

    Vertices are taken in an order, or hubs first if there is no order. By default CPUs use the order that suits the
    graph. CPUs colour few vertices at a time, so the order saves colours, except on grids and roads. GPUs use no order
    by default, because they colour most vertices at the same time; this costs roads one more colour. A deterministic
    colouring uses no order by default either.
    """
    stats, n = problem.stats, problem.stats.n_vertices
    order = problem.order
    if order is None and not problem.deterministic and facts.is_cpu and stats.mean_degree >= FEW_NEIGHBORS:
        order = problem.suitable_order
    if order is None:
        assign = Phase(f"{_SOURCE}:assign_all", n, values={"stride": tile_stride(facts, n)})
        return _recipe(problem, facts, tuning, Recipe((assign,)), assigns_hubs=True)
    steps = (
        Use(lambda plan: Iota(plan.session, plan.arrays["one_list"])),
        Phase(f"{_SOURCE}:order_keys", n),
        sorting("keys", "keys_in_order", "one_list", "other_list"),
        Phase(f"{_SOURCE}:assign_listed", n, values={"list": "other_list"}),
    )
    first = Recipe(steps, lambda: Setting({name: Array(n, np.uint32) for name in ("keys", "keys_in_order")}))
    return _recipe(problem, facts, tuning, first, order=order)


def by_edge(problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning) -> Recipe:
    """Return the colouring recipe in which rounds over all edges find and check the first colours."""
    stats, order = problem.stats, problem.order or "largest_first"
    n, m, limit = stats.n_vertices, stats.n_edges, 32 * facts.compute_units
    colored = {"picked": "tentative"}
    a_round = (
        Phase(f"{_EDGES}:forbid_colors", m, max_groups=limit),
        Phase(f"{_EDGES}:pick_colors", n, values=colored),
        Phase(f"{_EDGES}:drop_losers", m, values=colored, max_groups=limit),
        Phase(f"{_EDGES}:list_open", n),
    )
    steps = (
        Phase(f"{_EDGES}:list_sources", n * facts.sub_group_size, max_groups=limit),
        Phase(f"{_EDGES}:open_vertices", n, values=colored),
        *rank_steps(problem.graph, order, problem.seed),
        Loop(a_round, "round", "state[STATE_ALIVE]", max(1, n)),
    )
    words = Array(n, np.uint32)
    first = Recipe(steps, lambda: Setting(
        arrays={"sources": Array(m, np.int32), **dict.fromkeys(("forbidden", "bases", "ranks"), words)},
        found={"edge_rounds": "state[STATE_EDGE_ROUNDS]"},
    ))  # fmt: skip
    return _recipe(problem, facts, tuning, first, order=order, two_buffers=True, checks=False)


def from_hash(
    problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning, name: str | None, bits: int | None
) -> Recipe:
    """Return the colouring recipe whose first colours are the low *bits* of the hash function *name*.

    By default *name* is the candidate with the fewest collisions in a sample of the entries.
    """
    graph = problem.graph
    bits = default_bits(graph) if bits is None else checked_count("bits", bits, MOST_BITS)
    name = best_hash(graph, bits) if name is None else name
    values = {"mask": (1 << bits) - 1, "colors": "tentative"}
    first = Recipe(
        (Phase(f"{_HASHES}:hash_vertices", graph.n_vertices, values=values),),
        lambda: Setting(
            file_defines={_HASHES: {"N_HASHES": 1, "HASH_LIST(X)": f"X(0, {name})"}},
            details={"hash": name, "bits": bits},
        ),
    )
    return _recipe(problem, facts, tuning, first)


def _recipe(
    problem: ColoringProblem,
    facts: DeviceFacts,
    tuning: Tuning,
    first: Recipe,
    *,
    order: str | None = None,
    two_buffers: bool = False,
    assigns_hubs: bool = False,
    checks: bool = True,
) -> Recipe:
    """Return the recipe that runs *first* to get first colours, checks the colours, and recolours the losers in rounds.

    With *two_buffers* no vertex sees the colours that other vertices take in the same round. Deterministic colours
    need this. Hubs get their first colours, and are checked, by kernels of their own.
    """
    stats, n = problem.stats, problem.stats.n_vertices
    order = order or problem.order or "largest_first"
    group = {"WG_SIZE": max(_CPU_GROUP, facts.sub_group_size)} if facts.is_cpu else {}
    sizes = tuned_sizes(facts, tuning, _SOURCE, _SIZES, group)
    limit = sizes.pop("GROUPS_PER_UNIT") * facts.compute_units
    hub_group, hub_degree = min(_HUB_GROUP, facts.max_work_group_size), sizes["HUB_DEGREE"]
    has_hubs = stats.max_degree > hub_degree
    n_hubs = int(np.count_nonzero(problem.graph.degrees > hub_degree)) if has_hubs else 0
    steps: list[Step] = [Phase(f"{_SOURCE}:start", n)]
    # With two buffers, the steps in *first* compute the ranks of the vertices.
    if order == "smallest_last" and not two_buffers:
        steps += rank_steps(problem.graph, order, problem.seed)
    if has_hubs:
        steps.append(listing_rows(n, "hubs", f"> {hub_degree}"))
        if assigns_hubs:
            steps.append(Phase(f"{_HUBS}:assign_hubs", n_hubs * hub_group))
    steps += first.steps
    if has_hubs and checks:
        steps.append(Phase(f"{_HUBS}:check_hubs", n_hubs * hub_group))
    if checks:
        steps.append(Phase(f"{_SOURCE}:check_all", n))
    steps.append(_rounds(n, facts, limit))
    own_buffer, by = two_buffers or problem.deterministic, vertex_order(problem.graph, order, problem.seed)
    of_first = first.setting()
    return Recipe(tuple(steps) if n else (), lambda: Setting(
        arrays={
            "colors": Array(n, np.int32), "state": Array("STATE_WORDS", np.uint32), "one_list": Array(n, np.int32),
            "other_list": Array(n, np.int32), "hubs": Array(n_hubs, np.int32),
            "ranks": Array(n if order == "smallest_last" else 1, np.uint32),
            **({"tentative": Array(n, np.int32)} if own_buffer else {}), **of_first.arrays,
        },
        values={"n": n, "m": stats.n_edges, "n_hubs": n_hubs, "order": by._asdict()},
        file_defines={_SOURCE: sizes, _HUBS: {"WG_SIZE": hub_group}, **of_first.file_defines},
        prepare=None if own_buffer else lambda plan: {"tentative": plan.arrays["colors"]},
        details=of_first.details,
        found={"conflicts": "state[STATE_CONFLICTS]", "rounds": "state[STATE_ROUNDS]", **of_first.found},
    ))  # fmt: skip


def _rounds(n: int, facts: DeviceFacts, limit: int) -> Step:
    """Return the step that runs all rounds.

    Each round recolours the vertices whose colours collide.
    """
    if facts.dialect.has_grid_barrier:
        return Phase(f"{_SOURCE}:rounds", n, max_groups=limit, status="state[STATE_STATUS]")
    assign, check = (Phase(f"{_SOURCE}:{name}", n, max_groups=limit) for name in ("assign_round", "check_round"))
    return Loop((assign, check), "round", "state[STATE_ALIVE]", max(1, n))
