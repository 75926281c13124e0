"""What a strategy does, as data that the engine runs and the cost model reads.

A recipe lists the steps of a run, and makes what they need beside the input: arrays, and values that kernels share.
What is launched is what is predicted, since both come from the same list.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any, TypeAlias, TypeGuard, TypeVar

from numpy.typing import DTypeLike

from clgraph.model.cost import Part, Work, total
from clgraph.model.record import record

NOTHING, LAUNCH, _READ_BACK = Work(), Work(launches=1.0), Work(read_backs=1.0)
_Made = TypeVar("_Made")
_ALL_ONE: Mapping[str, float] = MappingProxyType({})


@record
class Array:
    """One array that a run needs on the device beside its input.

    Attributes
    ----------
    size : int, str or callable
        How many items; text is an expression of the constants of the recipe's first kernel file, a callable is asked
        once there is a plan.
    dtype : dtype
    zeroed : bool
        Whether it holds zeros before the first run; else what it holds is undefined.
    """

    size: int | str | Callable[[], int]
    dtype: DTypeLike
    zeroed: bool = False


@record
class Phase:
    """One launch of a kernel.

    Attributes
    ----------
    kernel : str
        ``"<file>:<kernel>"``, the file below ``cl/``.
    items : int or callable
        Work-items that it needs at least; a callable is asked once there is a plan.
    work : Work
        What the launch asks of the device; the launch itself is not counted.
    values : mapping of str to number, str or callable
        Values of parameters that the recipe's scope does not have; text is another name in the scope, or an expression
        of the file's constants.
    max_groups : int or str, optional
        Most work-groups, for kernels with grid-stride loops; text is an expression of the file's constants.
    groups : int, optional
        How many work-groups, in place of *items*.
    status : str, optional
        ``"<array>[<expression of constants>]"``, the word to which the kernel writes why it could not go on.
    grows : str, optional
        An array of the recipe that gets longer if the kernel finds it full. The kernel has a parameter
        ``<array>_capacity`` for its length, writes ``STATUS_CAPACITY`` to its *status* word when there is no room, and
        is launched again with the array at least twice as long: what the array and all others hold stays, and the
        array with the status word is as it was before the launch. A :class:`Use` that reads such an array looks it up
        in ``plan.arrays`` when it runs.
    needed : str, optional
        A word beside *status* in which the kernel leaves how many items the array must have.
    defines : mapping
        Definitions of its kernel file beside the recipe's; ``WG_SIZE`` is the work-group size.
    """

    kernel: str
    items: int | Callable[[], int]
    work: Work = NOTHING
    values: Mapping[str, Any] = field(default_factory=dict)
    max_groups: int | str | None = None
    groups: int | None = None
    status: str | None = None
    grows: str | None = None
    needed: str | None = None
    defines: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return self.kernel.partition(":")[0]

    @property
    def name(self) -> str:
        return self.kernel.partition(":")[2]


@record
class Use:
    """A step that drives its launches itself: primitives, or a machine that decides by what the device has found.

    Attributes
    ----------
    make : callable
        ``make(plan)`` returns it. It has ``run()``; and ``rounds``, which is how many rounds the last run made, if
        rounds are *expected*.
    work : Work
        What it asks of the device beside its rounds; launches are counted.
    a_round : Work
        What a round asks of the device; launches are counted.
    expected : float
        How many rounds the cost model counts.
    name : str
        By which its part of a prediction is shown.
    """

    make: Callable[[Any], Any]
    work: Work = NOTHING
    a_round: Work = NOTHING
    expected: float = 0.0
    name: str = "other kernels"


@record
class Loop:
    """Rounds that the host drives, until one has left no work.

    Attributes
    ----------
    body : tuple of Phase
        The launches of a round.
    counter : str
        The parameter that gets the number of the round. The first round of a run has number 1, and a later loop
        goes on from where the one before has stopped.
    alive : str
        ``"<array>[<expression of constants>]"``, the word to which a round that has left work writes its number.
    most : int or str
        The run is given up after so many rounds; text is an expression of constants.
    expected : float
        How many rounds the cost model counts.
    """

    body: tuple[Phase, ...]
    counter: str
    alive: str
    most: int | str
    expected: float = 1.0


Step: TypeAlias = "Phase | Use | Loop | Recipe"


@record
class Setting:
    """What the kernels of a run find beside the rows of the graph, and what the run tells of itself.

    Attributes
    ----------
    arrays : mapping of str to Array
    values : mapping of str to number
        What several kernels have parameters for; the arrays of the input and of the setting are in that scope, too.
    defines : mapping
        Definitions of all kernel files.
    file_defines : mapping of str to mapping
        Definitions of one kernel file, by its name; ``WG_SIZE`` is its work-group size.
    details : mapping of str to object or callable
        What the run tells of itself in its ``info``; a callable is asked when it is told.
    found : mapping of str to str
        What it tells after ``Plan.check()``: ``"<array>[<expression of constants>]"``, a word that kernels write.
    work_group_size : int, optional
        The work-group size of all kernel files, in place of the tuned ones.
    inputs : mapping of str to callable
        What the host makes of the input beside the graph's rows, once there is a plan: ``make(session)`` returns an
        array on the device, or a number.
    prepare : callable, optional
        ``prepare(plan)`` makes what the steps go by, once, before they are bound, and returns it by name for the scope.
    """

    arrays: Mapping[str, Array] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    defines: Mapping[str, int | str] = field(default_factory=dict)
    file_defines: Mapping[str, Mapping[str, int | str]] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    found: Mapping[str, str] = field(default_factory=dict)
    work_group_size: int | None = None
    inputs: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    prepare: Callable[[Any], Mapping[str, Any]] | None = None


@record
class Recipe:
    """A strategy's run on one problem.

    Attributes
    ----------
    steps : tuple of Step
        A recipe among them is a part of the run with a setting of its own.
    setting : callable
        ``setting()`` returns the :class:`Setting` of the steps. A price needs the steps alone, and of the recipes that
        are made for a choice one gets a plan; so who makes a recipe leaves to this what no step's work depends on.
    preparation : Work
        What making the plan asks of the device.
    """

    steps: tuple[Step, ...]
    setting: Callable[[], Setting] = Setting
    preparation: Work = NOTHING

    @property
    def work(self) -> Work:
        """What a whole run asks of the device: the sum of what its steps do."""
        return total(_parts(self.steps))

    def weighted_work(self, weights: Mapping[str, float]) -> Work:
        """Return the work of a run where kernels take *weights* times as long as rates say; others have weight 1."""
        return total(_parts(self.steps, weights))

    def weighted_parts(self, weights: Mapping[str, float], runs: float = 1.0) -> list[Part]:
        """Return what a preparation and so many *runs* ask of the device, weighted as :meth:`weighted_work`."""
        parts = _parts(self.steps, weights, runs)
        if self.preparation is not NOTHING:
            parts.append((self.preparation, 1.0, 1.0))
        return parts

    def with_rounds(self, rounds: Iterable[float]) -> Recipe:
        """Return the recipe whose steps with rounds are expected to make *rounds*, one number for each such step."""
        left = iter(rounds)
        return replace(self, steps=tuple(
            replace(step, expected=next(left)) if has_rounds(step) else step for step in self.steps
        ))  # fmt: skip


def once(make: Callable[[], _Made]) -> Callable[[], _Made]:
    """Return a function that calls *make* the first time only: a size that plans ask for and predictions do not.

    To make one takes a tenth of what functools.cache takes, which is a twentieth of a choice.
    """
    found: list[_Made] = []

    def known() -> _Made:
        if not found:
            found.append(make())
        return found[0]

    return known


def has_rounds(step: Step) -> TypeGuard[Loop | Use]:
    """Tell whether the model counts rounds of *step*."""
    return isinstance(step, Loop) or (isinstance(step, Use) and step.expected > 0)


def _parts(steps: tuple[Step, ...], weights: Mapping[str, float] = _ALL_ONE, times: float = 1.0) -> list[Part]:
    """Return what *steps* ask of the device that are done so many *times*; launches of all are one part."""
    parts: list[Part] = []
    launches, read_backs = _collect(steps, weights.get, times, parts)
    if launches:
        parts.append((LAUNCH, launches, 1.0))
    if read_backs:
        parts.append((_READ_BACK, read_backs, 1.0))
    return parts


def _collect(
    steps: tuple[Step, ...], weight_of: Callable[[str, float], float], times: float, parts: list[Part]
) -> tuple[float, float]:
    """Append the works of *steps* to *parts*; return how many launches and read-backs they take."""
    launches = read_backs = 0.0
    for step in steps:
        if isinstance(step, Phase):
            launches += times
            if step.grows is not None:
                read_backs += times
            if step.work is not NOTHING:
                parts.append((step.work, times, weight_of(step.kernel, 1.0)))
        elif isinstance(step, Use):
            weight = weight_of(step.name, 1.0)
            parts.append((step.work, times, weight))
            if step.expected:
                parts.append((step.a_round, times * step.expected, weight))
        elif isinstance(step, Loop):
            often = times * step.expected
            inner = _collect(step.body, weight_of, often, parts)
            launches, read_backs = launches + inner[0], read_backs + inner[1] + often
        else:
            inner = _collect(step.steps, weight_of, times, parts)
            launches, read_backs = launches + inner[0], read_backs + inner[1]
    return launches, read_backs
