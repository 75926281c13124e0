"""Recipes: the steps of a strategy, as data that the engine runs.

A recipe lists the steps of a run, and makes what they need beside the input: arrays, and values that kernels share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from numpy.typing import DTypeLike

from clgraph.model.record import record


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
        ``make(plan)`` returns it; it has ``run()``.
    """

    make: Callable[[Any], Any]


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
    """

    body: tuple[Phase, ...]
    counter: str
    alive: str
    most: int | str


Step: TypeAlias = "Phase | Use | Loop | Recipe"


@record
class Setting:
    """Everything a run's kernels get beside the rows of the graph, and the details that the run reports.

    Attributes
    ----------
    arrays : mapping of str to Array
    values : mapping of str to number
        Parameters that several kernels have; the arrays of the input and of the setting are in that scope, too.
    defines : mapping
        Definitions of all kernel files.
    file_defines : mapping of str to mapping
        Definitions of one kernel file, by its name; ``WG_SIZE`` is its work-group size.
    details : mapping of str to object or callable
        Details for the ``info`` of the run; a callable is called when the info is made.
    found : mapping of str to str
        What it tells after ``Plan.check()``: ``"<array>[<expression of constants>]"``, a word that kernels write.
    work_group_size : int, optional
        The work-group size of all kernel files, in place of the tuned ones.
    inputs : mapping of str to callable
        Further inputs, which the host makes when a plan is made: ``make(session)`` returns an array on the device, or
        a number.
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
        ``setting()`` returns the :class:`Setting` of the steps.
    """

    steps: tuple[Step, ...]
    setting: Callable[[], Setting] = Setting
