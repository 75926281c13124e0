"""The strategies of colouring, each a function that returns its recipe."""
from __future__ import annotations

from dataclasses import replace

from clgraph.algorithms.coloring import distance_two, speculation, work
from clgraph.algorithms.coloring.jones_plassmann import jones_plassmann
from clgraph.algorithms.coloring.plan import ColoringPlan
from clgraph.algorithms.coloring.problem import ColoringProblem
from clgraph.algorithms.coloring.tuning import NOT_TUNED, Tuning
from clgraph.arguments import check_choice
from clgraph.device.facts import DeviceFacts
from clgraph.engine.planned import planned
from clgraph.errors import InputError
from clgraph.model.cost import Part
from clgraph.model.kernel_weights import weights_of
from clgraph.model.recipe import Recipe
from clgraph.model.strategy import Strategy


def speculative(
    problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning = NOT_TUNED, *, by: str = "vertex",
    long_row: int | None = None,
) -> Recipe:
    """*by*: who looks for conflicts at distance 1; *long_row*: a work-group takes longer rows at distance 2."""
    check_choice("by", by, ("vertex", "edge"))
    if problem.distance == 2:
        if by == "edge":
            raise InputError("by='edge' is of distance 1; at distance 2 vertices are coloured one by one")
        return distance_two.first_fit(problem, facts, tuning, long_row)
    if long_row is not None:
        raise InputError("long_row is of distance 2")
    return (speculation.by_edge if by == "edge" else speculation.by_vertex)(problem, facts, tuning)


def hash_repair(
    problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning = NOT_TUNED, *, hash: str | None = None,
    bits: int | None = None,
) -> Recipe:
    """*hash* and its *bits* are those of first colours; the defaults are from a sample of the entries."""
    from_hash = distance_two.from_hash if problem.distance == 2 else speculation.from_hash
    return from_hash(problem, facts, tuning, hash, bits)


def _at_distance_one(problem: ColoringProblem) -> str | None:
    return None if problem.distance == 1 else "it colours at distance 1 only"


def _work_of_any_hash(problem: ColoringProblem, facts: DeviceFacts) -> list[Part]:
    """Hashes are predicted alike, and to choose one takes a sample."""
    recipe = hash_repair(problem, facts, hash="identity")
    return recipe.weighted_parts(weights_of(facts))


STRATEGIES: dict[str, Strategy] = {
    "jones_plassmann": planned("online", jones_plassmann, ColoringPlan, unfit=_at_distance_one),
    "speculative": planned("online", speculative, ColoringPlan),
    "hash_repair": replace(planned("online", hash_repair, ColoringPlan), work=_work_of_any_hash),
}


def contenders(problem: ColoringProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """For callers that prefer few colours, strategies that often take more are not weighed."""
    if problem.distance == 2:
        if problem.prefer == "time":
            return "speculative", "hash_repair"
        return ("hash_repair",) if problem.hash_suffices else ("speculative",)
    if problem.prefer == "time" or (not problem.deterministic and work.first_fit_suffices(problem.stats, facts)):
        return "jones_plassmann", "speculative", "hash_repair"
    if problem.deterministic or not facts.is_cpu:
        return ("jones_plassmann",)
    return "jones_plassmann", "speculative"
