"""What a strategy does, as data that the engine runs and the cost model reads.

A recipe names the arrays of a run, the values that its kernels share, and its steps. What is launched is what is
predicted, since both come from the same list.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import DTypeLike

from clgraph.model.cost import Work


@dataclass(frozen=True)
class Array:
    """One array that a run needs on the device beside its input; what it holds at first is undefined.

    Attributes
    ----------
    size : int or str
        How many items; a name stands for the constant of that name in the recipe's kernel files.
    dtype : dtype
    """

    size: int | str
    dtype: DTypeLike


@dataclass(frozen=True)
class Phase:
    """One launch of a kernel.

    Attributes
    ----------
    kernel : str
        ``"<file>:<kernel>"``, the file below ``cl/``.
    items : int
        Work-items that it needs at least.
    work : Work
        What the launch asks of the device, the launch itself not counted.
    values : mapping of str to number
        Values of parameters that the recipe's scope does not have.
    max_groups : int, optional
        Most work-groups, for kernels with grid-stride loops.
    groups : int, optional
        How many work-groups, in place of *items*.
    """

    kernel: str
    items: int
    work: Work = field(default_factory=Work)
    values: Mapping[str, Any] = field(default_factory=dict)
    max_groups: int | None = None
    groups: int | None = None

    @property
    def source(self) -> str:
        return self.kernel.partition(":")[0]

    @property
    def name(self) -> str:
        return self.kernel.partition(":")[2]


@dataclass(frozen=True)
class Use:
    """A plan of the primitives as one step.

    Attributes
    ----------
    make : callable
        ``make(session, arrays)`` returns it; it has ``run()`` and, where it may fail, ``check()``.
    work : Work
        What it asks of the device, launches counted.
    """

    make: Callable[[Any, Mapping[str, Any]], Any]
    work: Work


Step: TypeAlias = Phase | Use


@dataclass(frozen=True)
class Recipe:
    """A strategy's run on one problem.

    Attributes
    ----------
    steps : tuple of Step
    arrays : mapping of str to Array
    values : mapping of str to number
        What several kernels have parameters for; the arrays of the input and of the recipe are in that scope, too.
    defines : mapping
        Of all kernel files.
    """

    steps: tuple[Step, ...]
    arrays: Mapping[str, Array] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    defines: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def work(self) -> Work:
        """What the whole run asks of the device: the sum of what its steps do."""
        return sum((launched(step) for step in self.steps), Work())


def launched(step: Step) -> Work:
    """Return what *step* asks of the device, its launches counted."""
    return step.work + Work(launches=1.0) if isinstance(step, Phase) else step.work
