"""Explain the cost model's choice for an input: the predicted time of each strategy, and measured kernels if asked."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from numpy.typing import DTypeLike

from clgraph.algorithms.table import find_algorithm
from clgraph.arguments import Seed, checked_flag
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.problem import admission
from clgraph.errors import InputError
from clgraph.model.cost import Estimate
from clgraph.model.strategy import Choice
from clgraph.names import unknown_argument
from clgraph.runtime.session import Session, SessionLike, as_session
from clgraph.tables import milliseconds, table

_KERNELS = "kernel", "launches", "ms"
_STRATEGIES = "", "strategy", "predicted ms", "of which ms", "against the pick"


class KernelTime(NamedTuple):
    """Total time of one kernel over all its launches in a run.

    Attributes
    ----------
    kernel : str
    launches : int
    seconds : float
        Sum of the launches' device times.
    """

    kernel: str
    launches: int
    seconds: float


@dataclass(frozen=True, repr=False)
class Explanation(Choice):
    """The result of :func:`explain`.

    ``print`` shows it as the tables of ``clgraph explain``.

    Attributes
    ----------
    strategy, requested, reason, reads_unchecked
        As in :class:`clgraph.model.strategy.Choice`.
    predicted : dict of str to Estimate
        Predictions of all strategies that can run, the fastest first.
    unsupported : dict of str to str
        The other strategies, with the reason why each cannot run.
    contenders : tuple of str
        The strategies that ``"auto"`` compares. The others run only if they are named.
    kernels : tuple of KernelTime
        The kernels of the chosen strategy, in the order of their first launches; empty unless measured.
    algorithm, device, rates : str
        The name of the algorithm, the names of the device and its platform, and where the device's rates come from.
    """

    contenders: tuple[str, ...] = ()
    kernels: tuple[KernelTime, ...] = ()
    algorithm: str = ""
    device: str = ""
    rates: str = ""

    def __repr__(self) -> str:
        return f"Explanation({self.strategy} of {len(self.predicted)} for {self.algorithm} on {self.device})"

    def __str__(self) -> str:
        shown = f"{self.algorithm} on {self.device}, rates: {self.rates}\n\n{table(_STRATEGIES, self._rows())}"
        shown += "".join(f"\n{line}" for line in self._left_out())
        if self.kernels:
            shown += f"\n\nKernels of {self.strategy}\n{table(_KERNELS, self._kernel_rows())}"
        return shown

    def _repr_html_(self) -> str:
        shown = f"<p>{escape(f'{self.algorithm} on {self.device}, rates: {self.rates}')}</p>"
        shown += table(_STRATEGIES, self._rows(), "html")
        shown += "".join(f"<p>{escape(line)}</p>" for line in self._left_out())
        if self.kernels:
            shown += f"<p>Kernels of {self.strategy}</p>{table(_KERNELS, self._kernel_rows(), 'html')}"
        return shown

    def _rows(self) -> list[list[object]]:
        best = self.predicted[self.strategy]
        return [
            ["->" if name == self.strategy else "", name, milliseconds(e.seconds), _parts(e), _why(e, best)]
            for name, e in self.predicted.items()
        ]

    def _left_out(self) -> list[str]:
        return [f"{name}: left out: {reason}" for name, reason in self.unsupported.items()]

    def _kernel_rows(self) -> list[tuple[str, int, str]]:
        return [(name, launches, milliseconds(seconds)) for name, launches, seconds in self.kernels]


def _parts(estimate: Estimate) -> str:
    """List the parts of a predicted time that take more than 5 % of it, the largest part first."""
    large = sorted(estimate.parts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {milliseconds(s)}" for name, s in large if s > 0.05 * estimate.seconds)


def _why(estimate: Estimate, best: Estimate) -> str:
    if estimate is best:
        return "picked"
    more = {name: seconds - best.parts.get(name, 0.0) for name, seconds in estimate.parts.items()}
    part = max(more, key=more.__getitem__)
    return f"{estimate.seconds / best.seconds:.2f} x, {milliseconds(more[part])} ms more of {part}"


class Options(TypedDict, total=False):
    """The keyword options of :func:`explain`: the problem settings of all algorithms together."""

    source: Any
    max_depth: int | None
    limit: float | None
    predecessors: bool
    weight: Weight
    dtype: DTypeLike | None
    maximum: bool
    distance: int
    order: str | None
    deterministic: bool
    bipartite: bool
    balanced: bool
    prefer: str
    seed: Seed
    hashes: int | Iterable[str]
    bit_widths: Iterable[int]
    rank: int
    n_sweeps: int
    storage: Literal["float32", "float16"]
    biases: bool
    n_parts: int
    imbalance: float
    vertex_weights: Any
    target_weights: Any
    matching: str
    contraction: str
    refinement: str
    effort: str
    alpha: float
    beta: Any
    normalized: bool
    personalization: Any
    dangling: Any
    initial: Any
    tol: float
    max_iter: int
    method: str
    objective: str
    resolution: float
    max_levels: int
    iterations: int
    include: Iterable[Any] | None


def explain(
    algorithm: str,
    data: Any,
    *,
    strategy: str = "auto",
    measure: bool = False,
    session: SessionLike = None,
    **options: Unpack[Options],
) -> Explanation:
    """Return the predicted time of each strategy for *algorithm* on *data*, and why some strategies cannot run.

    Parameters
    ----------
    algorithm : str
        A key of :data:`clgraph.algorithms.table.MODULES`.
    data : Graph, DeviceGraph, scipy sparse array or networkx graph
        "factorization" takes Ratings, a scipy sparse array or a tuple.
        "color" with ``bipartite=True`` also takes a matrix that is not square, as :func:`color_columns` does.
    strategy : str
        The strategy whose kernels are measured. ``"auto"`` is the model's choice.
    measure : bool
        Run that strategy twice and report the kernel times of the second run.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    **options
        Settings that the prediction depends on. "factorization" has ``rank`` (16), ``n_sweeps`` (20), ``storage`` and
        ``biases``; "hash_collisions" has ``distance``, ``hashes`` and ``bit_widths``; "color" has ``distance``,
        ``bipartite``, ``order`` and ``deterministic``; "bfs" and "sssp" have ``source``, by default a vertex of the
        largest degree.

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        The algorithm or an option is unknown, or *data* has a type that the algorithm does not accept. "refine_mesh" is
        not known here, since it takes a mesh.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.

    Examples
    --------
    >>> import clgraph as cg
    >>> choice = cg.explain("factorization", ([0, 0, 1], [0, 1, 1], [4.0, 2.0, 5.0]), rank=8)
    >>> choice.strategy == min(choice.contenders, key=choice.seconds.get)
    True
    """
    measure = checked_flag("measure", measure)
    entry = find_algorithm(algorithm)
    known = [p.name for p in inspect.signature(entry.problem).parameters.values() if p.kind is p.KEYWORD_ONLY]
    if unknown := set(options) - set(known):
        beside = "strategy", "measure", "session"
        raise InputError(unknown_argument(f"explain of {algorithm}", unknown, {*known, *beside}))
    problem = entry.problem(data, **options)
    on = as_session(session, getattr(problem, "graph", None))
    choice = entry.choose(on, problem, strategy)
    with admission(on, problem) as admitted:
        predicted, reasons = entry.predictions(on, admitted)
        kernels = _kernels(entry, on, admitted, choice.strategy) if measure else ()
    return Explanation(
        choice.strategy,
        choice.requested,
        predicted,
        reasons,
        choice.reason,
        choice.reads_unchecked,
        tuple(choice.predicted),
        kernels,
        algorithm,
        f"{on.facts.name} ({on.facts.platform})",
        on.profile.origin,
    )


def _kernels(entry: Algorithm, session: Session, problem: Any, strategy: str) -> tuple[KernelTime, ...]:
    """Run *strategy* twice and return the time of each kernel in the second run.

    The first run also compiles the kernels.
    """
    for _ in range(2):
        measured = entry.solve(problem, strategy=strategy, session=session).info.kernels
    return tuple(KernelTime(name, *times) for name, times in measured.items())
