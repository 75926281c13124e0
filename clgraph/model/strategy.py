"""Strategies of an algorithm, and the choice among them."""
from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from clgraph.arguments import is_among, shown
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceRates
from clgraph.errors import UnsupportedStrategyError
from clgraph.model.cost import Estimate, Part, Work, estimate
from clgraph.model.recipe import Recipe

logger = logging.getLogger(__name__)
_NOTHING = Work()
_ANSWER_BYTES, _BUS_BYTES_PER_SECOND = 4.0, 8e9  # of a vertex; of memory that is not pinned
_SURELY = 2.0  # times the best price, but for what comes beside the work: prices may be wrong
_GUESSED_CALLS = 3.0  # that a call without statistics takes: its plan is new

Kind = Literal["online", "offline", "sequential"]


def runs_anywhere(_facts: DeviceFacts) -> str | None:
    """Return no reason why a device could not run a strategy."""
    return None


def solves_all(_problem: Any) -> str | None:
    """Return no reason why a strategy could not solve a problem."""
    return None


@dataclass(frozen=True)
class Strategy:
    """One way to run an algorithm.

    Attributes
    ----------
    kind : {"online", "offline", "sequential"}
        Online resolves conflicts while it runs (atomics, locks); offline avoids them beforehand; sequential runs on one
        core of the host, and nothing is asked of the device.
    plan : callable
        ``plan(session, problem, **options)`` compiles and allocates; its ``run()`` may be called again. The options
        are its keyword-only parameters, except those that a partial has set.
    work : callable
        ``work(problem, facts)`` estimates the :class:`Work` of one run, or its parts, without a device.
    unsupported : callable
        ``unsupported(facts)`` is the reason a device cannot run it, or ``None``.
    unfit : callable
        ``unfit(problem)`` is the reason why it cannot solve a problem of its algorithm, or ``None``.
    recipe : callable, optional
        ``recipe(problem, facts)`` lists the launches of a run, where the strategy has such a list.
    answer : callable, optional
        ``answer(problem, facts)`` estimates the work of kernels that make an answer of what a run has found.
    least : callable, optional
        ``least(problem, facts)`` is a part of the work that takes no time to count, such as the rounds with the least
        that is done in them. Where it takes too long, nothing else is counted. Strategies that answer alike may share
        it.
    unchecked : callable, optional
        ``unchecked(session, problem)`` returns a plan for one call that reads a matrix which nobody has checked, and
        checks it on the way.
    """

    kind: Kind
    plan: Callable[..., Any]
    work: Callable[[Any, DeviceFacts], Work | list[Part]]
    unsupported: Callable[[DeviceFacts], str | None] = runs_anywhere
    unfit: Callable[[Any], str | None] = solves_all
    recipe: Callable[[Any, DeviceFacts], Recipe] | None = None
    answer: Callable[[Any, DeviceFacts], Work] | None = None
    least: Callable[[Any, DeviceFacts], list[Part]] | None = None
    unchecked: Callable[[Any, Any], Any] | None = None


@dataclass(frozen=True)
class Choice:
    """What :func:`choose` decided, and why.

    Attributes
    ----------
    strategy : str
        The pick.
    requested : str
        ``"auto"`` or the forced strategy.
    predicted : dict of str to Estimate
        Every strategy this device can run, fastest first, but for those in *at_least*.
    unsupported : dict of str to str
        Why the others cannot run, or do not answer as is asked for.
    reason : str
        Why nothing but the pick was priced; empty where all were.
    at_least : dict of str to float
        Seconds of a part of the work of strategies that take much longer than the pick by that part alone.
    """

    strategy: str
    requested: str
    predicted: Mapping[str, Estimate]
    unsupported: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    at_least: Mapping[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> dict[str, float]:
        """By strategy, fastest first; last those of which only the least is known."""
        return {**{name: estimated.seconds for name, estimated in self.predicted.items()}, **self.at_least}


def choose(
    strategies: Mapping[str, Strategy], requested: str, problem: Any, facts: DeviceFacts, rates: DeviceRates,
    left_out: Mapping[str, str] | None = None, *, whole: bool = False,
) -> Choice:
    """Return *requested*, or for ``"auto"`` the strategy predicted to be fastest.

    Parameters
    ----------
    strategies : mapping of str to Strategy
    requested : str
    problem : object
        What the strategies' plans take.
    facts : DeviceFacts
    rates : DeviceRates
    left_out : mapping of str to str, optional
        Strategies that are no alternatives to the others, and why.
    whole : bool
        Price also those strategies that cannot be fastest.

    Raises
    ------
    UnsupportedStrategyError
        The name is unknown, or this device cannot run it, or it does not solve this problem.
    """
    if not is_among(requested, ("auto", *strategies)):
        known = ", ".join(strategies)
        raise UnsupportedStrategyError(f"unknown strategy {shown(requested)}; known: auto, {known}")
    out, fit = {**(left_out or {})}, {}
    for name, s in strategies.items():  # most strategies have the defaults, which need no call
        if s.unfit is not solves_all and (unfit := s.unfit(problem)) is not None:
            if name == requested:
                others = ", ".join(other for other, s in strategies.items() if s.unfit(problem) is None)
                raise UnsupportedStrategyError(f"{requested!r}: {unfit}; others are {others}")
            out[name] = unfit
        elif s.unsupported is not runs_anywhere and (unsupported := s.unsupported(facts)) is not None:
            if name == requested:
                raise UnsupportedStrategyError(f"{requested!r} cannot run on {facts.name}: {unsupported}")
            out[name] = unsupported
        elif name not in out:
            fit[name] = s
    last = {} if whole else {name: s.least for name, s in fit.items() if s.least is not None and name != requested}
    first = {name: s for name, s in fit.items() if name not in last} if last else fit
    estimates = _prices(first, problem, facts, rates)
    at_least = {}
    if last:
        beside = [(found.seconds, found.parts.get("call", 0.0)) for found in estimates.values()]
        limit = min((_SURELY * (seconds - call) + call for seconds, call in beside), default=math.inf)
        bounds: dict[Any, float] = {}
        for name, least in last.items():
            if (bound := bounds.get(least)) is None:
                call = _call_seconds(fit[name].answer, problem, facts, rates)
                bound = bounds[least] = estimate(least(problem, facts), rates, call).seconds
            if bound > limit:
                at_least[name] = bound
        estimates |= _prices({name: fit[name] for name in last if name not in at_least}, problem, facts, rates)
    seconds = {name: found.seconds for name, found in estimates.items()}
    ranked = {name: estimates[name] for name in sorted(seconds, key=seconds.__getitem__)}
    picked = next(iter(ranked)) if requested == "auto" else requested
    if logger.isEnabledFor(logging.INFO):
        logger.info("%s: %s", picked, {name: f"{e.seconds:.2e} s" for name, e in ranked.items()})
    return Choice(picked, requested, ranked, out, at_least=at_least)


def priced(strategy: Strategy, problem: Any, facts: DeviceFacts, rates: DeviceRates) -> Estimate:
    """Predict what a call takes: the work, and on a device what comes beside it, with its answer, over a bus if any."""
    return _prices({"": strategy}, problem, facts, rates)[""]


def _prices(
    strategies: Mapping[str, Strategy], problem: Any, facts: DeviceFacts, rates: DeviceRates
) -> dict[str, Estimate]:
    """Predict what calls take; what comes beside their work is the same for strategies that answer alike."""
    beside: dict[Any, float] = {}
    found = {}
    for name, s in strategies.items():
        call = None
        if s.kind != "sequential" and (call := beside.get(s.answer)) is None:
            call = beside[s.answer] = _call_seconds(s.answer, problem, facts, rates)
        found[name] = estimate(s.work(problem, facts), rates, call)
    return found


def _call_seconds(
    answer: Callable[[Any, DeviceFacts], Work] | None, problem: Any, facts: DeviceFacts, rates: DeviceRates
) -> float:
    graph = None if facts.is_cpu else getattr(problem, "graph", None)
    seconds = 0.0 if graph is None else _ANSWER_BYTES * graph.n_vertices / _BUS_BYTES_PER_SECOND
    if answer is not None:
        seconds += estimate(answer(problem, facts), rates).seconds
    return rates.call_seconds + seconds


class Guess(NamedTuple):
    """A strategy on a device that has a plan for a matrix which nobody has checked or measured.

    Attributes
    ----------
    strategy : str
    work : Work
        A rough guess of what it asks.
    otherwise : Work
        What the strategy asks at least that statistics would choose, beside the statistics.
    """

    strategy: str
    work: Work
    otherwise: Work


def choose_at_once(
    strategies: Mapping[str, Strategy], requested: str, problem: Any, facts: DeviceFacts, rates: DeviceRates,
    *, calls: float = 1.0, before: Work = _NOTHING, guess: Callable[[], Guess | None] | None = None,
) -> Choice | None:
    """Return the choice of a sequential strategy that ends before any launch on the device could have been read back.

    One that is requested by name needs no prices of others, either. ``guess()`` returns a strategy on the device that
    needs nothing before its plan: if it takes less than to measure the graph and run another, the better of both is
    chosen.

    What has to be done before the first launch takes as long as so many *calls* without their kernels, and as the work
    *before* it. Nothing else is priced then, and of *problem* little is read but its sizes. ``None`` stands for no such
    strategy, and leaves all to :func:`choose`.
    """
    if not isinstance(requested, str):
        return None
    least = calls * rates.call_seconds + rates.read_back_seconds + estimate(before, rates).seconds
    offers: dict[str, Estimate] = {}
    at_once: dict[str, Estimate] = {}
    if guess is not None and (guessed := guess()) is not None and requested in ("auto", guessed.strategy):
        estimated = estimate(guessed.work, rates, _GUESSED_CALLS * rates.call_seconds)
        if estimated.seconds <= least + estimate(guessed.otherwise, rates).seconds:
            at_once[guessed.strategy] = estimated
    for name, strategy in strategies.items():
        if strategy.kind != "sequential" or requested not in ("auto", name) or strategy.unfit(problem) is not None:
            continue
        offers[name] = priced(strategy, problem, facts, rates)
        if requested == name or (not at_once and offers[name].seconds < least):
            reason = f"the least that a call on {facts.name} takes is {1e3 * least:.2g} ms"
            return Choice(name, requested, {name: offers[name]}, reason=reason)
    if not at_once:
        return None
    offers |= at_once
    ranked = dict(sorted(offers.items(), key=lambda item: item[1].seconds))
    return Choice(next(iter(ranked)), requested, ranked, reason="a guess by few entries")
