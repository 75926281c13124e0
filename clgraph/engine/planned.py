"""The function planned(), which makes a Strategy from a recipe."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from clgraph.device.facts import DeviceFacts
from clgraph.engine.plan import Plan
from clgraph.model.cost import Part, Work
from clgraph.model.recipe import Recipe
from clgraph.model.strategy import Kind, Strategy, Unchecked, runs_anywhere, solves_all
from clgraph.runtime.session import Session

_TUNING = "tuning"

Price: TypeAlias = Callable[[Any, DeviceFacts], Work | list[Part]]


@dataclass(frozen=True)
class _Planned:
    """A callable of a strategy that makes a plan from its recipe, for a session and a problem.

    Its signature shows the options of the recipe. It leaves out options that a ``functools.partial`` has set, and
    *tuning*, which is taken from the session.
    """

    recipe: Callable[..., Recipe]
    kind: type[Plan]
    price: Price

    @cached_property
    def takes_tuning(self) -> bool:
        return _TUNING in inspect.signature(self.recipe).parameters

    def __call__(self, session: Session, problem: Any, **options: Any) -> Plan:
        if self.takes_tuning:
            options[_TUNING] = session.profile.tuning
        plan = self.kind(session, problem, self.recipe(problem, session.facts, **options))
        plan.remade, plan.price = lambda other: self.recipe(other, session.facts, **options), self.price
        return plan

    @property
    def __signature__(self) -> inspect.Signature:
        whole, hidden = inspect.signature(self.recipe), {_TUNING, *getattr(self.recipe, "keywords", ())}
        return whole.replace(parameters=[p for p in whole.parameters.values() if p.name not in hidden])


def planned(
    kind: Kind,
    recipe: Callable[..., Recipe],
    plan: type[Plan],
    price: Price,
    unsupported: Callable[[DeviceFacts], str | None] = runs_anywhere,
    unfit: Callable[[Any], str | None] = solves_all,
    answer: Callable[[Any, DeviceFacts], Work] | None = None,
    unchecked: Unchecked | None = None,
) -> Strategy:
    """Return a strategy that runs the recipe ``recipe(problem, facts, **options)`` as a plan of class *plan*.

    ``price(problem, facts)`` predicts the work of a run with the default options. If a recipe computes with tuned
    sizes, it has an optional parameter *tuning*, which maps each kernel file to its tuned sizes.
    """
    return Strategy(kind, _Planned(recipe, plan, price), price, unsupported, unfit, recipe, answer, unchecked)
