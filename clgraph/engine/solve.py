"""From a checked input to an answer: choose a strategy, make its plan, run it, and say where the time went."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from clgraph.model.strategy import Choice, Strategy, checked_options
from clgraph.runtime.session import Session
from clgraph.runtime.timing import RunInfo

_Answer = TypeVar("_Answer")


def solve(
    session: Session, strategies: Mapping[str, Strategy], choose: Callable[[], Choice], inputs: tuple[Any, ...],
    options: Mapping[str, Any], answer: Callable[[Any], _Answer],
) -> tuple[_Answer, RunInfo]:
    """Run the strategy that is chosen on *session*.

    Parameters
    ----------
    session : Session
    strategies : mapping of str to Strategy
    choose : callable
        Returns the choice among them; the time it takes counts as the call's.
    inputs : tuple
        What plans take after the session.
    options : mapping
        The user's options of the strategy.
    answer : callable
        Makes the answer of the plan that has run.

    Returns
    -------
    answer : object
    info : RunInfo

    Raises
    ------
    InputError
        The strategy has no such option.
    """
    with session.measure() as recorder:
        choice = choose()
        strategy = strategies[choice.strategy]
        plan = strategy.plan(session, *inputs, **checked_options(strategies, choice, options))
        plan.run()
        found = answer(plan)
    info = session.run_info(
        recorder, choice.strategy, strategy.kind, choice.seconds, details=getattr(plan, "details", {}),
        balance=getattr(plan, "balance", None),
    )
    return found, info
