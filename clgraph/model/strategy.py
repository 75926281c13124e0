"""The Strategy class, and the choice among the strategies of an algorithm by predicted time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from clgraph.arguments import is_among, shown
from clgraph.data.graphs.wrapped import is_unread
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceRates
from clgraph.errors import UnsupportedStrategyError
from clgraph.model.cost import Estimate, Part, Work, estimate
from clgraph.model.recipe import Recipe

logger = logging.getLogger(__name__)
_ANSWER_BYTES = 4.0  # Bytes per vertex of the answer that a GPU sends to the host.
_BUS_BYTES_PER_SECOND = 8e9  # Bandwidth between a GPU and unpinned host memory, measured with an H200.
_CHECK_CALLS = 8.0  # The launches that check a matrix and compute its statistics take 8 times call_seconds.
_CHECK_BYTES = 56.0  # The launches that check a matrix move 56 bytes of memory per vertex and per entry.

Kind = Literal["online", "offline", "sequential"]


def runs_anywhere(_facts: DeviceFacts) -> str | None:
    """Return ``None``, which means that every device can run the strategy."""
    return None


def solves_all(_problem: Any) -> str | None:
    """Return ``None``, which means that the strategy can solve every problem."""
    return None


class Unchecked(NamedTuple):
    """The variant of a strategy for unchecked matrices on a CPU. Its kernels check the entries while they read them.

    Attributes
    ----------
    plan : callable
        ``plan(session, problem)`` compiles and allocates, and returns the plan.
    work : callable
        ``work(problem, facts)`` predicts the work from the sizes of the matrix and a few of its entries.
    """

    plan: Callable[[Any, Any], Any]
    work: Callable[[Any, DeviceFacts], Work]


@dataclass(frozen=True)
class Strategy:
    """A strategy, which is one way to run an algorithm, with its plan and its predicted work.

    Attributes
    ----------
    kind : {"online", "offline", "sequential"}
        An online strategy resolves conflicts while it runs, by atomics or locks. An offline strategy avoids them
        beforehand. A sequential strategy runs on one core of the host and needs no device.
    plan : callable
        ``plan(session, problem, **options)`` compiles and allocates, and returns the plan, whose ``run()`` may be
        called repeatedly. The options are its keyword-only parameters, except parameters that a partial has set.
    work : callable
        ``work(problem, facts)`` estimates the :class:`Work` of one run, or its parts, without a device.
    unsupported : callable
        ``unsupported(facts)`` returns the reason why a device cannot run the strategy, or ``None``.
    unfit : callable
        ``unfit(problem)`` returns the reason why the strategy cannot solve a problem of its algorithm, or ``None``.
    recipe : callable, optional
        ``recipe(problem, facts)`` returns the steps of a run, if the strategy is a :class:`Recipe`.
    answer : callable, optional
        ``answer(problem, facts)`` estimates the work of kernels that make the answer from the results of a run.
    unchecked : Unchecked, optional
        How a CPU runs the strategy on a matrix that has not been checked.
    """

    kind: Kind
    plan: Callable[..., Any]
    work: Callable[[Any, DeviceFacts], Work | list[Part]]
    unsupported: Callable[[DeviceFacts], str | None] = runs_anywhere
    unfit: Callable[[Any], str | None] = solves_all
    recipe: Callable[[Any, DeviceFacts], Recipe] | None = None
    answer: Callable[[Any, DeviceFacts], Work] | None = None
    unchecked: Unchecked | None = None

    def reads_unchecked(self, problem: Any, facts: DeviceFacts) -> bool:
        """Return whether the kernels of a run on *problem* would check the matrix while they read its entries."""
        if self.unchecked is None or not facts.is_cpu or not is_unread(problem):
            return False
        return problem.graph.n_vertices > 0 and not problem.graph.is_small


@dataclass(frozen=True)
class Choice:
    """The strategy that :func:`choose` has chosen, with the predicted times of the compared strategies.

    Attributes
    ----------
    strategy : str
        The name of the chosen strategy.
    requested : str
        ``"auto"``, or the strategy that the caller named.
    predicted : dict of str to Estimate
        The predicted times of all strategies compared, the fastest first.
    unsupported : dict of str to str
        Contenders that cannot run on this device or problem, with the reason.
    reason : str
        Why the choice was made without statistics; empty if they were used.
    reads_unchecked : bool
        Whether the kernels of the run check the matrix while they read its entries.
    """

    strategy: str
    requested: str
    predicted: Mapping[str, Estimate]
    unsupported: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    reads_unchecked: bool = False

    @property
    def seconds(self) -> dict[str, float]:
        """The predicted seconds of each compared strategy, by name, the fastest first."""
        return {name: estimated.seconds for name, estimated in self.predicted.items()}


def choose(
    strategies: Mapping[str, Strategy],
    contenders: Iterable[str],
    requested: str,
    problem: Any,
    facts: DeviceFacts,
    rates: DeviceRates,
) -> Choice:
    """Choose the strategy *requested*.

    For ``"auto"``, take the contender that is predicted to be the fastest.

    If no contender can run, all strategies that can run are compared.

    Parameters
    ----------
    strategies : mapping of str to Strategy
    contenders : iterable of str
        The strategies that ``"auto"`` compares.
    requested : str
    problem : object
        The argument of the strategies' plans.
    facts : DeviceFacts
    rates : DeviceRates

    Raises
    ------
    UnsupportedStrategyError
        The name is unknown, the device cannot run it, or it does not solve this problem.
    """
    if not is_among(requested, ("auto", *strategies)):
        raise UnsupportedStrategyError(f"unknown strategy {shown(requested)}; known: auto, {', '.join(strategies)}")
    names = tuple(contenders) if requested == "auto" else (requested,)
    unsupported = obstacles(strategies, names, problem, facts)
    if requested in unsupported:
        others = ", ".join(name for name in strategies if not obstacles(strategies, [name], problem, facts))
        raise UnsupportedStrategyError(f"{requested!r}: {unsupported[requested]}; others are {others or 'none'}")
    if len(unsupported) == len(names):
        unsupported |= obstacles(strategies, strategies, problem, facts)
        names = tuple(strategies)
    runs = [name for name in names if name not in unsupported]
    if not runs:
        why = "; ".join(f"{name}: {reason}" for name, reason in unsupported.items())
        raise UnsupportedStrategyError(f"no strategy can run on {facts.name}: {why}")
    predicted = prices(strategies, runs, problem, facts, rates)
    if logger.isEnabledFor(logging.INFO):
        logger.info("%s", {name: f"{e.seconds:.2e} s" for name, e in predicted.items()})
    pick = next(iter(predicted))
    is_unread = strategies[pick].reads_unchecked(problem, facts)
    return Choice(pick, requested, predicted, unsupported, reads_unchecked=is_unread)


def obstacles(
    strategies: Mapping[str, Strategy], names: Iterable[str], problem: Any, facts: DeviceFacts
) -> dict[str, str]:
    """Return the strategies among *names* that cannot run on this problem or this device, each with the reason."""
    found = {}
    for name in names:
        strategy = strategies[name]
        reason = strategy.unfit(problem)
        if reason is None and (reason := strategy.unsupported(facts)) is not None:
            reason = f"it cannot run on {facts.name}: {reason}"
        if reason is not None:
            found[name] = reason
    return found


def prices(
    strategies: Mapping[str, Strategy], names: Iterable[str], problem: Any, facts: DeviceFacts, rates: DeviceRates
) -> dict[str, Estimate]:
    """Return the predicted time of a call with each of the strategies *names*, the fastest first."""
    found = {name: priced(strategies[name], problem, facts, rates) for name in names}
    return dict(sorted(found.items(), key=lambda item: item[1].seconds))


def priced(strategy: Strategy, problem: Any, facts: DeviceFacts, rates: DeviceRates) -> Estimate:
    """Predict the time of a call with *strategy*.

    On a device, the time includes overhead of calls, copies and checks.
    """
    if strategy.kind == "sequential":
        return estimate(strategy.work(problem, facts), rates)
    if strategy.reads_unchecked(problem, facts):
        assert strategy.unchecked is not None
        return estimate(strategy.unchecked.work(problem, facts), rates, rates.call_seconds)
    graph: Any = getattr(problem, "graph", None)
    call = rates.call_seconds
    if strategy.answer is not None:
        call += estimate(strategy.answer(problem, facts), rates).seconds
    if graph is not None and not facts.is_cpu:
        call += _ANSWER_BYTES * graph.n_vertices / _BUS_BYTES_PER_SECOND
    if is_unread(problem):
        items = graph.n_vertices + graph.n_edges
        call += _CHECK_CALLS * rates.call_seconds + _CHECK_BYTES * items / rates.stream_bytes_per_second
        call += 0.0 if facts.is_cpu else graph.nbytes / _BUS_BYTES_PER_SECOND
    return estimate(strategy.work(problem, facts), rates, call)
