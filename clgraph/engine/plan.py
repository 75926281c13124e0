"""A recipe on one device: allocated, compiled and bound once, run as often as wanted."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clgraph.graph import Graph
from clgraph.model.cost import estimate
from clgraph.model.recipe import Array, Phase, Recipe, Step
from clgraph.model.strategy import Kind, Strategy
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.program import Launch, Program
from clgraph.runtime.session import Session

PACED_SECONDS = 0.1  # a run that may take longer waits for each launch; Ctrl-C is heard between them


class Plan:
    """One recipe on one graph, ready to run; ``run()`` may be called again.

    Attributes
    ----------
    session : Session
    recipe : Recipe
    arrays : dict of str to DeviceArray
        Those of the recipe.
    scope : dict
        What kernels find by the names of their parameters: the graph's rows, the recipe's values and its arrays.

    Raises
    ------
    DeviceMemoryError
        The arrays do not fit on the device.
    """

    def __init__(self, session: Session, graph: Graph, recipe: Recipe) -> None:
        self.session, self.recipe = session, recipe
        rows = device_graph(session, graph)
        self._defines = {**rows.defines(), **recipe.defines}
        sizes = {name: self._size(array) for name, array in recipe.arrays.items()}
        bytes_each = {name: sizes[name] * np.dtype(array.dtype).itemsize for name, array in recipe.arrays.items()}
        session.check_memory(bytes_each)
        self.arrays: dict[str, DeviceArray] = {
            name: session.empty(sizes[name], array.dtype) for name, array in recipe.arrays.items()
        }
        self.scope: dict[str, Any] = {**rows.scope, **recipe.values, **self.arrays}
        self._paced = estimate(recipe.work, session.profile.rates).seconds > PACED_SECONDS
        self._steps = [self._prepared(step) for step in recipe.steps]

    def _size(self, array: Array) -> int:
        if isinstance(array.size, int):
            return array.size
        first = next((step.source for step in self.recipe.steps if isinstance(step, Phase)), None)
        return 0 if first is None else self.program(first).constant(array.size)

    def program(self, source: str) -> Program:
        """Return kernel file *source*, built as the recipe says."""
        return self.session.program(source, self._defines)

    def _prepared(self, step: Step) -> Callable[[], object]:
        if not isinstance(step, Phase):
            return step.make(self.session, self.scope).run  # type: ignore[no-any-return]
        program = self.program(step.source)
        items = step.items if step.groups is None else step.groups * program.work_group_size
        launch = program.bind(step.name, items, self.scope, max_groups=step.max_groups, **step.values)
        return lambda: self._launch(launch)

    def _launch(self, launch: Launch) -> None:
        event = launch()
        if self._paced:
            self.session.wait(event)

    def run(self) -> None:
        """Run the steps in order; nothing is read back."""
        for step in self._steps:
            step()


@dataclass(frozen=True)
class _Planned:
    """Makes plans of a recipe; its options are those of the recipe."""

    recipe: Callable[..., Recipe]
    kind: type[Plan]

    def __call__(self, session: Session, graph: Graph, **options: Any) -> Plan:
        return self.kind(session, graph, self.recipe(graph, session.facts, **options))

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.recipe)


def planned(kind: Kind, recipe: Callable[..., Recipe], plan: type[Plan]) -> Strategy:
    """Return the strategy that runs what ``recipe(graph, facts, **options)`` lists, as a *plan* of that type.

    What it is predicted to take is the work of that recipe, so its statistics are the graph itself.
    """
    return Strategy(kind, _Planned(recipe, plan), lambda graph, facts: recipe(graph, facts).work)
