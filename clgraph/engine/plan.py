"""A recipe on one device: allocated, compiled and bound once, run as often as wanted."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Work, estimate
from clgraph.model.recipe import Array, Loop, Phase, Recipe, Step, Use, has_rounds
from clgraph.model.strategy import Kind, Strategy, runs_anywhere, solves_all
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.failure import STATUS_TIMEOUT, check_status
from clgraph.runtime.program import Launch, Program
from clgraph.runtime.session import Session

PACED_SECONDS = 0.1  # a run that may take longer waits for each launch; Ctrl-C is heard between them


class Plan:
    """One recipe on one problem, ready to run; ``run()`` may be called again.

    Attributes
    ----------
    session : Session
    problem : object
        It has the graph.
    recipe : Recipe
    arrays : dict of str to DeviceArray
        Those of the recipe.
    scope : dict
        What kernels find by the names of their parameters: the graph's rows, the recipe's values, inputs and arrays.
    rounds : list of int
        How many rounds each step of the last run made, of those steps that have rounds.
    used : list
        What the steps that drive their launches themselves have made, in order.

    Raises
    ------
    DeviceMemoryError
        The arrays do not fit on the device.
    """

    def __init__(self, session: Session, problem: Any, recipe: Recipe) -> None:
        self.session, self.problem, self.recipe = session, problem, recipe
        self._found: dict[str, int] = {}
        self.rounds: list[int] = []
        self.used: list[Any] = []
        self._counted = 0  # rounds of all loops of this run
        defines, given = self._given()
        self._programs: dict[str, Program] = {}
        self._defines = {**defines, **recipe.defines}
        inputs = {name: make(session) for name, make in recipe.inputs.items()}
        sizes = {name: self._size(array) for name, array in recipe.arrays.items()}
        bytes_each = {name: sizes[name] * np.dtype(array.dtype).itemsize for name, array in recipe.arrays.items()}
        session.check_memory(bytes_each)
        self.arrays: dict[str, DeviceArray] = {
            name: (session.zeros if array.zeroed else session.empty)(sizes[name], array.dtype)
            for name, array in recipe.arrays.items()
        }
        self.scope: dict[str, Any] = {**given, **recipe.values, **inputs, **self.arrays}
        if recipe.prepare is not None:
            self.scope |= recipe.prepare(self)
        self._paced = estimate(recipe.work, session.profile.rates).seconds > PACED_SECONDS
        self._statuses: list[tuple[Phase, str, int]] = []  # a launch, and the array and the place of its word
        distinct = {id(step): step for step in recipe.steps}  # a step that is there twice is bound once
        prepared = {key: self._prepared(step) for key, step in distinct.items()}
        self._steps = [prepared[id(step)] for step in recipe.steps]

    def _given(self) -> tuple[Mapping[str, int | str], Mapping[str, Any]]:
        """Return the definitions and the arguments that all kernels get for the input: the rows of its graph."""
        rows = device_graph(self.session, self.problem.graph)
        return rows.defines(), rows.scope

    def _first(self) -> Phase | None:
        return next((step for step in self.recipe.steps if isinstance(step, Phase)), None)

    def _size(self, array: Array) -> int:
        first = self._first()
        if isinstance(array.size, int):
            return array.size
        return 0 if first is None else self._number(first, array.size)

    def _number(self, phase: Phase, value: Any) -> Any:
        """Return *value*; text is an expression of the constants that the kernel file of *phase* defines."""
        return self.program(phase.source).constant(value) if isinstance(value, str) else value

    def _place(self, phase: Phase, word: str) -> tuple[str, int]:
        """Return the array and the index of *word*, which is ``"<array>[<expression>]"``."""
        array, _, expression = word.removesuffix("]").partition("[")
        return array, self._number(phase, expression)

    def program(self, source: str) -> Program:
        """Return kernel file *source*, built as the recipe says."""
        if source not in self._programs:
            defines = {**self._defines, **self.recipe.file_defines.get(source, {})}
            self._programs[source] = self.session.program(
                source, defines, work_group_size=self.recipe.work_group_size
            )
        return self._programs[source]

    def _prepared(self, step: Step) -> Callable[[], object]:
        if isinstance(step, Loop):
            return self._loop(step)
        if isinstance(step, Use):
            return self._use(step)
        launch = self._bound(step)
        return lambda: self._launch(launch)

    def _bound(self, phase: Phase) -> Launch:
        if phase.status is not None:
            self._statuses.append((phase, *self._place(phase, phase.status)))
        program = self.program(phase.source)
        items = phase.items if phase.groups is None else phase.groups * program.work_group_size
        own = {
            name: self.scope[value] if isinstance(value, str) and value in self.scope else self._number(phase, value)
            for name, value in phase.values.items()
        }
        return program.bind(phase.name, items, self.scope, max_groups=phase.max_groups, **own)

    def _launch(self, launch: Launch) -> None:
        event = launch()
        if self._paced:
            self.session.wait(event)

    def _use(self, use: Use) -> Callable[[], object]:
        made = use.make(self)
        self.used.append(made)
        if not has_rounds(use):
            return made.run  # type: ignore[no-any-return]

        def run() -> None:
            made.run()
            self.rounds.append(made.rounds)

        return run

    def _loop(self, loop: Loop) -> Callable[[], None]:
        self.scope[loop.counter] = 0
        launches = [self._bound(phase) for phase in loop.body]
        counted = [
            launch for launch, phase in zip(launches, loop.body, strict=True)
            if loop.counter in self.program(phase.source).parameters(phase.name)
        ]  # fmt: skip
        last = loop.body[-1]
        array, place = self._place(last, loop.alive)
        most = self._number(last, loop.most)

        def run() -> None:
            first = 1 + self._counted
            for number in range(first, first + most):
                for launch in counted:
                    launch.set(**{loop.counter: number})
                for launch in launches:
                    self._launch(launch)
                if self.arrays[array].item(place) != number:
                    self._counted = number
                    self.rounds.append(number - first + 1)
                    return
            check_status(STATUS_TIMEOUT, f"{most} rounds of {last.kernel}")

        return run

    def run(self) -> None:
        """Run the steps in order; of what they leave only the word is read back after which a loop ends.

        Raises
        ------
        DeviceTimeoutError
            A loop made the most rounds that it may, and the last one left work.
        """
        self.rounds, self._counted = [], 0
        for step in self._steps:
            step()

    def check(self) -> None:
        """Raise what kernels have written to the status words of their phases, and of what the steps use.

        What the run has found is among the :attr:`details` afterwards.
        """
        for use in self.used:
            if hasattr(use, "check"):
                use.check()
        first = self._first()
        found = {} if first is None else {name: self._place(first, word) for name, word in self.recipe.found.items()}
        names = {array for _, array, _ in self._statuses} | {array for array, _ in found.values()}
        blocks = {array: self.arrays[array].get() for array in names}
        for phase, array, place in self._statuses:
            check_status(int(blocks[array][place]), phase.kernel)
        self._found = {name: int(blocks[array][place]) for name, (array, place) in found.items()}

    @property
    def details(self) -> dict[str, Any]:
        """What the last run tells of itself, for its ``info``."""
        told = [self.recipe.details, *(getattr(use, "details", {}) for use in self.used), self._found]
        return {name: value for each in told for name, value in each.items()}


@dataclass(frozen=True)
class _Planned:
    """Makes plans of a recipe; its options are those of the recipe.

    A recipe that has a parameter ``tuning`` gets there what the device's profile has of sizes.
    """

    recipe: Callable[..., Recipe]
    kind: type[Plan]

    def __call__(self, session: Session, problem: Any, **options: Any) -> Plan:
        tuning = (session.profile.tuning,) if "tuning" in self.__signature__.parameters else ()
        return self.kind(session, problem, self.recipe(problem, session.facts, *tuning, **options))

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.recipe)


def planned(
    kind: Kind, recipe: Callable[..., Recipe], plan: type[Plan],
    unsupported: Callable[[DeviceFacts], str | None] = runs_anywhere,
    unfit: Callable[[Any], str | None] = solves_all,
) -> Strategy:
    """Return the strategy that runs what ``recipe(problem, facts, **options)`` lists, as a *plan* of that type.

    What it is predicted to take is the work of that recipe and of its preparation.
    """

    def work(problem: Any, facts: DeviceFacts) -> Work:
        listed = recipe(problem, facts)
        return listed.preparation + listed.work

    return Strategy(kind, _Planned(recipe, plan), work, unsupported, unfit)
