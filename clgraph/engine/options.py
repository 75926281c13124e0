"""The options of strategies: lists of their names, and checks of the options of a call."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from clgraph.arguments import shown
from clgraph.errors import InputError
from clgraph.model.strategy import Choice, Strategy
from clgraph.names import unknown_argument


def checked_options(strategies: Mapping[str, Strategy], choice: Choice, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the *options* of a call, or raise an error unless the plan of the chosen strategy takes all of them.

    Raises
    ------
    InputError
        The plan does not take an option; the message names the options that it takes. Or the caller named no
        strategy, so options are not allowed.
    """
    if not isinstance(options, Mapping):
        raise InputError(f"options = {shown(options)}; allowed: a dictionary of option names and values")
    if not options:
        return {}
    if choice.requested == "auto":
        having = strategies_by_option(strategies)
        owners = "; ".join(f"{option}: {', '.join(having.get(option, ['none']))}" for option in map(str, options))
        names = ", ".join(map(str, options))
        raise InputError(f"auto has no option {names}; name the strategy that has by strategy= ({owners})")
    name, known = choice.strategy, sorted(option_names(strategies[choice.strategy]))
    if unknown := sorted(str(option) for option in options if option not in known):
        raise InputError(f"{name} has no option {', '.join(unknown)}; it has {', '.join(known) or 'none'}")
    return dict(options)


def option_names(strategy: Strategy) -> list[str]:
    """Return the names of the options that the plan of *strategy* takes."""
    fixed = strategy.plan.keywords if isinstance(strategy.plan, partial) else {}
    parameters = inspect.signature(strategy.plan).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in fixed]


def strategies_by_option(strategies: Mapping[str, Strategy]) -> dict[str, list[str]]:
    """Return a dictionary from the name of each option to the names of the strategies that have the option."""
    found: dict[str, list[str]] = {}
    for name, strategy in strategies.items():
        for option in option_names(strategy):
            found.setdefault(option, []).append(name)
    return found


def check_arguments(
    function: str, options: Iterable[str], strategies: Mapping[str, Strategy], problem: Any, split: Iterable[str]
) -> None:
    """Raise an :class:`InputError` unless *function* takes all *options*.

    The message lists the allowed arguments.

    Options belong to *strategies*, or to runs on several devices (*split*). The keyword arguments of *problem* are
    settings of the function.
    """
    if not (given := set(options)):  # To list the options of all strategies takes 0.3 ms.
        return
    known = {*strategies_by_option(strategies), *split}
    if unknown := given - known:
        settings = [p.name for p in inspect.signature(problem).parameters.values() if p.kind is p.KEYWORD_ONLY]
        devices = ["devices"] if split else []
        raise InputError(
            unknown_argument(function, unknown, {*known, *settings, "strategy", "session", "verify", *devices})
        )
