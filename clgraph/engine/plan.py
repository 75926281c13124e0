"""The Plan class: a recipe with allocated arrays and compiled kernels on one device, which can run repeatedly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.device.facts import DeviceFacts
from clgraph.engine.growth import Growth, capacity_of
from clgraph.model.cost import Part, Work, estimate
from clgraph.model.recipe import Loop, Phase, Recipe, Step, Use
from clgraph.primitives.look_back import LookBack
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch, Program
from clgraph.runtime.session import Session

PACED_SECONDS = 0.1  # In a run predicted to take over 0.1 s, the host waits after each launch, so that Ctrl-C works.


class Plan:
    """A recipe that is ready to run for one problem on one device.

    ``run()`` may be called repeatedly.

    Attributes
    ----------
    session : Session
    problem : object
        The problem to solve, with its graph.
    recipe : Recipe
    setting : Setting
        The recipe's values, definitions and arrays.
    arrays : dict of str to DeviceArray
        The recipe's arrays on the device.
    scope : dict
        Arguments of kernels, by the names of their parameters: the graph's rows, the recipe's values, inputs and
        arrays, and the lengths of these arrays.
    rounds : list of int
        The number of rounds of each loop in the last run.
    remade : callable
        ``remade(problem)`` returns the recipe of the same strategy and options for another problem; set by the
        strategy.
    used : list
        The objects that :class:`Use` steps have made, and the plans of recipes among the steps, in order.
    predicted_seconds : float
        The time of a run as the cost model predicts it; 0 without a prediction.
    n_bytes : int
        Upper bound on the bytes allocated for the plan; 0 if unknown.

    Raises
    ------
    DeviceMemoryError
        The arrays do not fit on the device.
    """

    remade: Callable[[Any], Recipe]
    price: Callable[[Any, DeviceFacts], Work | list[Part]] | None = None
    outer: Plan | None = None
    n_bytes = 0

    def __init__(self, session: Session, problem: Any, recipe: Recipe) -> None:
        self.session, self.problem, self.recipe = session, problem, recipe
        self.setting = setting = recipe.setting()
        self.rounds: list[int] = []
        self.used: list[Any] = []
        self._found: dict[str, int] = {}  # Details of the last run that kernels have written, by their names.
        self._counted = 0  # Number of rounds of this run so far, over all loops of the recipe.
        self._made_by = session.profile, session.facts
        first = next((step for step in recipe.steps if isinstance(step, Phase)), None)
        self._first = None if first is None else Phase(first.kernel, 0, defines=first.defines)
        defines, given = self._given()
        self._programs: dict[Any, Program] = {}
        self._defines = {**defines, **setting.defines}
        inputs = {name: make(session) for name, make in setting.inputs.items()}
        sizes = {name: self._number(self._first, array.size) for name, array in setting.arrays.items()}
        bytes_each = {name: sizes[name] * np.dtype(array.dtype).itemsize for name, array in setting.arrays.items()}
        if bytes_each:
            session.check_memory(bytes_each)
        self.arrays: dict[str, DeviceArray] = {
            name: (session.zeros if array.zeroed else session.empty)(sizes[name], array.dtype)
            for name, array in setting.arrays.items()
        }
        lengths = {capacity_of(name): array.size for name, array in self.arrays.items()}
        self.scope: dict[str, Any] = {**lengths, **given, **setting.values, **inputs, **self.arrays}
        if setting.prepare is not None:
            self.scope |= setting.prepare(self)
        self._statuses: list[tuple[str, str, int]] = []  # Names of kernel and array, and index, of each status word.
        self._launches: dict[Launch, Growth | None] = {}
        # A step that is listed twice in the recipe is prepared only once.
        distinct = {id(step): step for step in recipe.steps}
        prepared = {key: self._prepared(step) for key, step in distinct.items()}
        self._steps = [prepared[id(step)] for step in recipe.steps]

    @cached_property
    def predicted_seconds(self) -> float:
        if self.outer is not None:
            return self.outer.predicted_seconds
        if self.price is None:
            return 0.0
        return estimate(self.price(self.problem, self.session.facts), self.session.profile.rates).seconds

    def _given(self) -> tuple[Mapping[str, int | str], Mapping[str, Any]]:
        """Return the kernel definitions and arguments that pass the rows of the problem's graph to kernels."""
        rows = device_graph(self.session, self.problem.graph)
        return rows.defines(), rows.scope

    def _number(self, phase: Phase | None, value: Any) -> Any:
        """Return a *value* of a recipe as a number: a function is called, and a text is evaluated.

        Text is an expression of constants in the kernel file of *phase*. Without a phase, text counts as 0.
        """
        if callable(value):
            return value()
        if isinstance(value, str):
            return 0 if phase is None else self._program_of(phase).constant(value)
        return value

    def _place(self, phase: Phase, word: str) -> tuple[str, int]:
        """Return the array's name and the index in a *word* of the form ``"<array>[<expression>]"``."""
        array, _, expression = word.removesuffix("]").partition("[")
        return array, self._number(phase, expression)

    def program(self, source: str, defines: Mapping[str, int | str] = MappingProxyType({})) -> Program:
        """Return the compiled program of the kernel file *source*, with the recipe's definitions and with *defines*."""
        key = source, *defines.items()
        if key not in self._programs:
            merged = {**self._defines, **self.setting.file_defines.get(source, {}), **defines}
            self._programs[key] = self.session.program(source, merged, work_group_size=self.setting.work_group_size)
        return self._programs[key]

    def _program_of(self, phase: Phase) -> Program:
        return self.program(phase.source, phase.defines)

    def _prepared(self, step: Step) -> Callable[[], object]:
        if isinstance(step, Loop):
            return self._loop(step)
        if isinstance(step, Use):
            return self._use(step)
        if isinstance(step, Recipe):
            inner = Plan(self.session, self.problem, step)
            inner.outer = self
            self.used.append(inner)
            return inner.run
        launch = self.bound(step)
        return lambda: self._launch(launch)

    def bound(self, phase: Phase) -> Launch:
        """Return a launch of the kernel of *phase*, whose arguments come from the plan's arrays and values."""
        if phase.status is not None:
            self._statuses.append((phase.kernel, *self._place(phase, phase.status)))
        program = self._program_of(phase)
        items = phase.groups * program.work_group_size if phase.groups else self._number(phase, phase.items)
        most = self._number(phase, phase.max_groups)
        own = {
            name: self.scope[value] if isinstance(value, str) and value in self.scope else self._number(phase, value)
            for name, value in phase.values.items()
        }
        launch = program.bind(phase.name, items, self.scope, max_groups=most, **own)
        self._launches[launch] = self._growth(phase)
        return launch

    def _growth(self, phase: Phase) -> Growth | None:
        if phase.grows is None:
            return None
        assert phase.status is not None, f"{phase.kernel} has no status word in which to say that an array is full"
        array, status = self._place(phase, phase.status)
        needed = -1 if phase.needed is None else self._place(phase, phase.needed)[1]
        return Growth(self.arrays, self.scope, phase.grows, self.arrays[array], status, needed)

    def _launch(self, launch: Launch) -> None:
        if (growth := self._launches.get(launch)) is not None:
            growth.run(launch, self._launches)
            return
        event = launch()
        if self.predicted_seconds > PACED_SECONDS:
            self.session.wait(event)

    def _use(self, use: Use) -> Callable[[], object]:
        made = use.make(self)
        self.used.append(made)
        return made.run  # type: ignore[no-any-return]

    def _loop(self, loop: Loop) -> Callable[[], None]:
        self.scope[loop.counter] = 0
        launches = [self.bound(phase) for phase in loop.body]
        counted = [
            launch for launch, phase in zip(launches, loop.body, strict=True)
            if loop.counter in self._program_of(phase).parameters(phase.name)
        ]  # fmt: skip
        last, counter = loop.body[-1], loop.counter
        what = f"rounds of {last.kernel}"
        array, place = self._place(last, loop.alive)
        most = self._number(last, loop.most)

        def run() -> None:
            first = 1 + self._counted
            for number in range(first, first + most):
                for launch in counted:
                    launch.set(**{counter: number})
                for launch in launches:
                    self._launch(launch)
                if self.arrays[array].item(place) != number:
                    self._counted = number
                    self.rounds.append(number - first + 1)
                    return
            check_status(STATUS_STUCK, f"{most} {what}")

        return run

    def run(self) -> None:
        """Run the steps of the recipe in order.

        The host reads back only the words that decide whether a loop ends.

        Raises
        ------
        NoProgressError
            A loop reached its maximum number of rounds, and the last one left work.
        """
        self.rounds, self._counted = [], 0
        for step in self._steps:
            step()

    def detach(self) -> None:
        """Drop the plan's references to the problem and graph until :meth:`attach`, but keep launches and arrays."""
        self.problem = None
        if self.recipe.steps:
            self.recipe = Recipe(())
            self.setting = replace(self.setting, arrays={}, inputs={}, prepare=None)
        for part in self.used:
            if isinstance(part, Plan):
                part.detach()

    def attach(self, problem: Any) -> None:
        """Set the problem of the next run, which must have the same graph and settings as the problem before."""
        self.problem = problem
        for part in self.used:
            if isinstance(part, Plan):
                part.attach(problem)

    def fits(self, session: Session) -> bool:
        """Return whether *session* still has the device facts and the profile from which this plan was made."""
        return self._made_by[0] is session.profile and self._made_by[1] is session.facts

    def release(self) -> None:
        """Break the plan's reference cycles, so that its memory is freed when the last reference to the plan goes."""
        for part in self.used:
            if isinstance(part, Plan):
                part.release()
        self._steps, self.used, self._launches = [], [], {}

    def check(self) -> None:
        """Raise an error if a kernel's status word reports one, and store the details that the kernels wrote."""
        self.read()

    def read(self, *parts: tuple[DeviceArray, int, int]) -> list[NDArray[Any]]:
        """Check status words and store details as :meth:`check` does, and return the items ``start:stop`` of arrays.

        Each of *parts* is a tuple (array, start, stop). All parts are read with a single wait for the device.
        """
        looking = [(use, use.statuses()) for use in self.used if isinstance(use, LookBack)]
        for use in self.used:
            if hasattr(use, "check") and not isinstance(use, LookBack):
                use.check()
        first = self._first
        found = {} if first is None else {name: self._place(first, word) for name, word in self.setting.found.items()}
        # Only the needed range of each array is read, which is faster than reading the whole array.
        places: dict[str, list[int]] = {}
        for array, place in (*(status[1:] for status in self._statuses), *found.values()):
            places.setdefault(array, []).append(place)
        blocks = [(self.arrays[name], min(at), max(at) + 1) for name, at in places.items()]
        read = iter(self.session.read(*parts, *blocks, *(word for _, words in looking for word in words)))
        items = [next(read) for _ in parts]
        words = {name: next(read) for name in places}
        for use, statuses in looking:
            use.check([next(read) for _ in statuses])
        for kernel, array, place in self._statuses:
            check_status(int(words[array][place - min(places[array])]), kernel)
        self._found = {name: int(words[array][place - min(places[array])]) for name, (array, place) in found.items()}
        return items

    def word(self, word: str) -> int:
        """Read one *word* of device memory, given as ``"<array>[<expression>]"`` with a kernel file's constants."""
        assert self._first is not None
        array, place = self._place(self._first, word)
        return int(self.arrays[array].item(place))

    @property
    def details(self) -> dict[str, Any]:
        """The details of the plan's last run, which the ``info`` of its result reports."""
        told = [self.setting.details, *(getattr(use, "details", {}) for use in self.used), self._found]
        return {name: value() if callable(value) else value for each in told for name, value in each.items()}
