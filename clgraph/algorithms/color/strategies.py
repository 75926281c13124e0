"""The strategies of graph colouring, each a function that returns its recipe."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clgraph.algorithms.color import distance_two, prices, speculation
from clgraph.algorithms.color import jones_plassmann as at_distance_one
from clgraph.algorithms.color.best_of_orders import MAX_REPEATS, ORDERS, tries
from clgraph.algorithms.color.first_fit import FEW_UNITS, first_fit
from clgraph.algorithms.color.plan import ColoringPlan
from clgraph.algorithms.color.problem import MAX_PAIRS, ColoringProblem
from clgraph.arguments import check_choice
from clgraph.data.graphs.vertex_hashes import HASHES
from clgraph.data.graphs.wrapped import is_unread
from clgraph.device.facts import DeviceFacts
from clgraph.engine.planned import planned
from clgraph.errors import InputError
from clgraph.model.recipe import Recipe
from clgraph.model.strategy import Strategy
from clgraph.primitives.types import NOT_TUNED, Tuning


def jones_plassmann(problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning = NOT_TUNED) -> Recipe:
    """Return the recipe of a greedy colouring.

    At distance 2 it colours the square of the graph.
    """
    if problem.distance == 2:
        return tries(problem, tuning, (problem.order or "largest_first",))
    return at_distance_one.jones_plassmann(problem, facts, tuning)


def speculative(
    problem: ColoringProblem,
    facts: DeviceFacts,
    tuning: Tuning = NOT_TUNED,
    *,
    by: str = "vertex",
    long_row: int | None = None,
) -> Recipe:
    """Return the recipe of a speculative colouring, in which vertices with equal colours are coloured again.

    *by* is ``"vertex"`` or ``"edge"``: what a work-item checks at distance 1. At distance 2 a work-group processes each
    row with more than *long_row* entries.
    """
    check_choice("by", by, ("vertex", "edge"))
    if problem.distance == 2:
        if by == "edge":
            raise InputError("by='edge' is of distance 1; at distance 2 vertices are coloured one by one")
        return distance_two.recipe(problem, facts, tuning, long_row=long_row)
    if long_row is not None:
        raise InputError("long_row is of distance 2")
    return (speculation.by_edge if by == "edge" else speculation.by_vertex)(problem, facts, tuning)


def hash_repair(
    problem: ColoringProblem,
    facts: DeviceFacts,
    tuning: Tuning = NOT_TUNED,
    *,
    hash: str | None = None,
    bits: int | None = None,
) -> Recipe:
    """Return the recipe whose first colours are the low *bits* of *hash*.

    A sample of entries sets the default hash.
    """
    if hash is not None:
        check_choice("hash", hash, HASHES)
    from_hash = distance_two.from_hash if problem.distance == 2 else speculation.from_hash
    return from_hash(problem, facts, tuning, hash, bits)


def best_of_orders(problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning = NOT_TUNED) -> Recipe:
    """Return the colouring recipe that tries two greedy orders, other
    strategies, and recolourings of the best result.
    """
    return tries(problem, tuning, ORDERS, _others(problem, facts), MAX_REPEATS)


def best_of_two(problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning = NOT_TUNED) -> Recipe:
    """Return the colouring recipe that tries a fast and a greedy strategy by degree, or at distance 2 two fast ones."""
    return tries(problem, tuning, ORDERS[:1] if problem.distance == 1 else (), _others(problem, facts))


def _others(problem: ColoringProblem, facts: DeviceFacts) -> tuple[Callable[..., Recipe], ...]:
    """Return the colouring strategies to try in addition to greedy colourings.

    At distance 1 this is the fastest strategy of the device. A deterministic colouring tries none, because the choice
    would depend on the device.
    """
    if problem.distance == 2:
        return speculative, hash_repair
    if problem.deterministic:
        return ()
    return (first_fit if _has_few_cores(facts) else speculative if facts.is_cpu else jones_plassmann,)


def _has_few_cores(facts: DeviceFacts) -> bool:
    return facts.is_cpu and facts.compute_units <= FEW_UNITS


def _runs_on_gpu(facts: DeviceFacts) -> str | None:
    return None if facts.is_cpu else "one work-item colours all vertices, which takes a GPU too long"


def _has_distance_two(problem: ColoringProblem) -> str | None:
    return "it colours at distance 1" if problem.distance == 2 else None


def _has_square(problem: ColoringProblem) -> str | None:
    if problem.distance == 1 or problem.n_pairs <= MAX_PAIRS:
        return None
    return f"members of rows make {problem.n_pairs:.3g} pairs; at distance 2 it takes at most {MAX_PAIRS:.3g}"


def _tries_orders(problem: ColoringProblem) -> str | None:
    return _has_no_order(problem) or _has_square(problem)


def _has_no_order(problem: ColoringProblem) -> str | None:
    return None if problem.order is None else "it takes the best of several orders"


def _knows_order(problem: ColoringProblem) -> str | None:
    is_of_square = problem.bipartite and problem.order == "smallest_last"
    return "jones_plassmann alone takes columns in the order smallest_last" if is_of_square else None


def _one(recipe: Callable[..., Recipe], unfit: Callable[[ColoringProblem], str | None]) -> Strategy:
    return planned("online", recipe, ColoringPlan, partial(prices.work, strategy=recipe.__name__), unfit=unfit)


STRATEGIES: dict[str, Strategy] = {
    "best_of_orders": planned("online", best_of_orders, ColoringPlan, prices.best_of_orders, unfit=_tries_orders),
    "best_of_two": planned("online", best_of_two, ColoringPlan, prices.best_of_two, unfit=_has_no_order),
    "first_fit": planned(
        "online", first_fit, ColoringPlan, prices.first_fit, unsupported=_runs_on_gpu, unfit=_has_distance_two
    ),
    "jones_plassmann": _one(jones_plassmann, unfit=_has_square),
    "speculative": _one(speculative, unfit=_knows_order),
    "hash_repair": _one(hash_repair, unfit=_knows_order),
}


def contenders(problem: ColoringProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """Return the one colouring strategy that fulfils the setting ``prefer`` of the problem."""
    if problem.prefer == "colors" and _tries_orders(problem) is None:
        return ("best_of_orders",)
    if problem.prefer == "both" and problem.order is None:
        by_degree = problem.distance == 1 and not facts.is_cpu and problem.suitable_order == "largest_first"
        # best_of_two is not picked here, because it would run jones_plassmann twice.
        return ("jones_plassmann" if by_degree else "best_of_two",)
    if problem.prefer != "time":
        if _has_square(problem) is None and (problem.distance == 1 or problem.prefer == "colors"):
            return ("jones_plassmann",)
        return ("hash_repair" if problem.hash_suffices else "speculative",)
    if problem.deterministic:  # For a deterministic colouring, the choice of strategy must not depend on the device.
        return ("jones_plassmann" if problem.distance == 1 else "speculative",)
    if problem.distance == 1 and _has_few_cores(facts):
        return ("first_fit",)
    # On GPUs jones_plassmann and hash_repair are up to 1.4 times as fast as speculative in later calls.
    # Plans of jones_plassmann and hash_repair first read the rows on the host.
    # Reading the rows of 262,144 vertices took 1 to 11 ms on the host of an H100.
    # A matrix that was not read yet needs a new plan in each call.
    if facts.is_cpu or is_unread(problem):
        return ("speculative",)
    return ("jones_plassmann" if problem.distance == 1 else "hash_repair",)
