"""Recipes: descriptions of the steps of a strategy as data.

The engine runs the steps.

A recipe lists the steps of a run, and describes the steps' arrays and the values that kernels share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from numpy.typing import DTypeLike

from clgraph.model.record import record


@record
class Array:
    """An array that the run of a strategy needs on the device, in addition to its input.

    Attributes
    ----------
    size : int, str or callable
        Number of items. Text is an expression of constants in the recipe's first kernel file. A callable is called
        when the plan is made.
    dtype : dtype
    zeroed : bool
        Whether the array is filled with zeros before the first run; otherwise its content is undefined.
    """

    size: int | str | Callable[[], int]
    dtype: DTypeLike
    zeroed: bool = False


@record
class Phase:
    """A step of a recipe: one launch of a kernel.

    Attributes
    ----------
    kernel : str
        ``"<file>:<kernel>"``, with the file's path below ``cl/``.
    items : int or callable
        Minimum number of work-items; a callable is called when the plan is made.
    values : mapping of str to number, str or callable
        Values of parameters that are not in the recipe's scope. Text is another name in the scope, or an expression
        of the file's constants.
    max_groups : int or str, optional
        Maximum number of work-groups, for kernels with grid-stride loops; text is an expression of the file's
        constants.
    groups : int, optional
        The number of work-groups, instead of *items*.
    status : str, optional
        ``"<array>[<expression of constants>]"``, the word to which the kernel writes an error code.
    grows : str, optional
        An array of the recipe that is lengthened if the kernel finds it full. The kernel has a parameter
        ``<array>_capacity`` for its length, and writes ``STATUS_CAPACITY`` to its *status* word if the array is full.
        It is then launched again with the array at least twice as long. Before this, the array with the status word
        gets back its values from before the first launch; all other arrays keep their contents. A :class:`Use` that
        reads such an array must look it up in ``plan.arrays`` when it runs.
    needed : str, optional
        A word in the array of *status*, to which the kernel writes the number of items that the array must have.
    defines : mapping
        Definitions for its kernel file besides the recipe's; ``WG_SIZE`` is the work-group size.
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
    """A step of a recipe that makes its launches itself: a primitive, or host code that reads results from the device.

    Attributes
    ----------
    make : callable
        ``make(plan)`` returns an object with a method ``run()``.
    """

    make: Callable[[Any], Any]


@record
class Loop:
    """A step of a recipe in which the host repeats a round of launches until a round leaves no work.

    Attributes
    ----------
    body : tuple of Phase
        The launches of a round.
    counter : str
        The parameter that gets the number of the round. The first round of a run has number 1; a later loop
        continues the numbering.
    alive : str
        ``"<array>[<expression of constants>]"``, the word to which a round writes its number if it leaves work.
    most : int or str
        Maximum number of rounds, after which the run fails; text is an expression of constants.
    """

    body: tuple[Phase, ...]
    counter: str
    alive: str
    most: int | str


Step: TypeAlias = "Phase | Use | Loop | Recipe"


@record
class Setting:
    """Arrays, values and definitions that the kernels of a recipe get besides the graph, and details for the report.

    Attributes
    ----------
    arrays : mapping of str to Array
    values : mapping of str to number
        Values of parameters, by name, for all kernels. Together with the arrays of the input and of the setting, they
        are the scope of the kernels' parameters.
    defines : mapping
        Definitions for all kernel files.
    file_defines : mapping of str to mapping
        Definitions for one kernel file, by its name; ``WG_SIZE`` is its work-group size.
    details : mapping of str to object or callable
        Details for the ``info`` of the run; a callable is called when the info is made.
    found : mapping of str to str
        Details that kernels write: each is a word, ``"<array>[<expression of constants>]"``, which ``Plan.check()``
        reads.
    work_group_size : int, optional
        The work-group size of all kernel files, instead of the tuned sizes.
    inputs : mapping of str to callable
        Further inputs, which the host makes when a plan is made: ``make(session)`` returns an array on the device, or
        a number.
    prepare : callable, optional
        ``prepare(plan)`` is called once, before the steps are bound, and returns further values by name for the scope.
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
    """The recipe of a strategy for one problem: the steps of its run.

    Attributes
    ----------
    steps : tuple of Step
        A step that is itself a recipe has its own setting.
    setting : callable
        ``setting()`` returns the :class:`Setting` of the steps.
    """

    steps: tuple[Step, ...]
    setting: Callable[[], Setting] = Setting
