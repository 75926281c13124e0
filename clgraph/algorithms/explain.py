"""Show what the cost model would choose and why, and how well it predicts each kernel."""
from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from numpy.typing import DTypeLike

from clgraph.algorithms.table import find_algorithm
from clgraph.arguments import Seed, checked_flag
from clgraph.data.networkx_graphs import Weight
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.problem import admission
from clgraph.errors import InputError
from clgraph.model.cost import Estimate, estimate
from clgraph.model.kernel_weights import weights_of
from clgraph.model.strategy import Choice
from clgraph.names import unknown_argument
from clgraph.runtime.session import Session, SessionLike
from clgraph.tables import milliseconds, table

_STRATEGIES = "", "strategy", "predicted ms", "of which ms", "against the pick"


class KernelCost(NamedTuple):
    """What one kernel of a strategy costs in all launches of a run.

    Attributes
    ----------
    kernel : str
    launches : float or None
        As many as the model counts; ``None`` if it does not know the kernel.
    predicted_seconds : float or None
    limit : str
        The greatest part of the predicted seconds: ``"launches"``, ``"streaming"``, ``"gathers"``, ``"atomics"``,
        ``"chain"``, or another of :func:`clgraph.model.cost.estimate`.
    measured_launches : int or None
        ``None`` if nothing was run, or the kernel was not launched.
    measured_seconds : float or None
        The sum of its times on the device.
    """

    kernel: str
    launches: float | None
    predicted_seconds: float | None
    limit: str
    measured_launches: int | None = None
    measured_seconds: float | None = None


@dataclass(frozen=True, repr=False)
class Explanation(Choice):
    """What :func:`explain` returns; ``print`` shows it as the tables of ``clgraph explain``.

    Attributes
    ----------
    strategy, requested, predicted, unsupported
        As in :class:`clgraph.model.strategy.Choice`.
    kernels : tuple of KernelCost
        The kernels of the strategy chosen, in the order of their first launches.
    algorithm, device, rates : str
        The names of the algorithm, of the device with its platform, and of the source of the rates.
    """

    kernels: tuple[KernelCost, ...] = ()
    algorithm: str = ""
    device: str = ""
    rates: str = ""

    def __repr__(self) -> str:
        return f"Explanation({self.strategy} of {len(self.predicted)} for {self.algorithm} on {self.device})"

    def __str__(self) -> str:
        shown = f"{self.algorithm} on {self.device}, rates: {self.rates}\n\n{table(_STRATEGIES, self._rows())}"
        shown += "".join(f"\n{line}" for line in self._left_out())
        if self.kernels:
            shown += f"\n\nKernels of {self.strategy}\n{table(*self._kernel_table())}"
        return shown

    def _repr_html_(self) -> str:
        shown = f"<p>{escape(f'{self.algorithm} on {self.device}, rates: {self.rates}')}</p>"
        shown += table(_STRATEGIES, self._rows(), "html")
        shown += "".join(f"<p>{escape(line)}</p>" for line in self._left_out())
        if self.kernels:
            shown += f"<p>Kernels of {self.strategy}</p>{table(*self._kernel_table(), 'html')}"
        return shown

    def _rows(self) -> list[list[object]]:
        best = self.predicted[self.strategy]
        return [
            ["->" if name == self.strategy else "", name, milliseconds(e.seconds), _parts(e), _why(e, best)]
            for name, e in self.predicted.items()
        ]

    def _left_out(self) -> list[str]:
        return [f"{name}: left out: {reason}" for name, reason in self.unsupported.items()]

    def _kernel_table(self) -> tuple[list[str], list[list[object]]]:
        is_measured = any(cost.measured_launches is not None for cost in self.kernels)
        names = ["kernel", "launches", "predicted ms", "limit", *(["launches made", "measured ms"] * is_measured)]
        return names, [_kernel(cost)[: len(names)] for cost in self.kernels]


def _kernel(cost: KernelCost) -> list[object]:
    launches = "" if cost.launches is None else f"{cost.launches:.3g}"
    predicted, measured = (
        "" if s is None else milliseconds(s) for s in (cost.predicted_seconds, cost.measured_seconds)
    )
    made = "" if cost.measured_launches is None else cost.measured_launches
    return [cost.kernel, launches, predicted, cost.limit, made, measured]


def _parts(estimate: Estimate) -> str:
    """Name the parts of at least a twentieth of the whole, largest first."""
    large = sorted(estimate.parts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {milliseconds(s)}" for name, s in large if s > 0.05 * estimate.seconds)


def _why(estimate: Estimate, best: Estimate) -> str:
    if estimate is best:
        return "picked"
    more = {name: seconds - best.parts.get(name, 0.0) for name, seconds in estimate.parts.items()}
    part = max(more, key=more.__getitem__)
    return f"{estimate.seconds / best.seconds:.2f} x, {milliseconds(more[part])} ms more of {part}"


class Options(TypedDict, total=False):
    """Options of :func:`explain`: the settings of all algorithms, by which problems differ."""

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


def explain(
    algorithm: str, data: Any, *, strategy: str = "auto", measure: bool = False, session: SessionLike = None,
    **options: Unpack[Options],
) -> Explanation:
    """Return the candidates for *algorithm* on *data*, their predicted seconds, and why others are out.

    Parameters
    ----------
    algorithm : str
        A key of :data:`clgraph.algorithms.table.MODULES`.
    data : Graph, DeviceGraph, scipy sparse array or networkx graph
        "factorization" takes Ratings, a scipy sparse array or a tuple.
        "color" with ``bipartite=True`` also takes a matrix that is not square, as :func:`color_columns` does.
    strategy : str
        The one whose kernels are listed; ``"auto"`` is the model's choice.
    measure : bool
        Run that strategy twice, and tell the times of the kernels in the second run beside the predicted ones.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        The device; ``None`` takes the best one.
    **options
        What the prediction depends on. "factorization" has ``rank`` (16), ``n_sweeps`` (20), ``storage`` and
        ``biases``; "hash_collisions" has ``distance``, ``hashes`` and ``bit_widths``; "color" has ``distance``,
        ``bipartite``, ``order`` and ``deterministic``; searches have ``source``, which by default is the vertex of
        the largest degree.

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        The algorithm or an option is unknown, or *data* is not what it takes.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.

    Examples
    --------
    >>> import clgraph as cg
    >>> choice = cg.explain("factorization", ([0, 0, 1], [0, 1, 1], [4.0, 2.0, 5.0]), rank=8)
    >>> choice.strategy == min(choice.seconds, key=choice.seconds.get)
    True
    """
    measure = checked_flag("measure", measure)
    entry = find_algorithm(algorithm)
    known = [p.name for p in inspect.signature(entry.problem).parameters.values() if p.kind is p.KEYWORD_ONLY]
    if unknown := set(options) - set(known):
        beside = "strategy", "measure", "session"
        raise InputError(unknown_argument(f"explain of {algorithm}", unknown, {*known, *beside}))
    problem = entry.problem(data, **options)
    on = entry.session(problem, session)
    with admission(on, problem) as admitted:
        choice = entry.choose(on, admitted, strategy, whole=True)
        kernels = _kernels(entry, on, admitted, choice.strategy, measure)
    return Explanation(
        choice.strategy, choice.requested, choice.predicted, choice.unsupported, kernels=kernels, algorithm=algorithm,
        device=f"{on.facts.name} ({on.facts.platform})", rates=on.profile.origin,
    )


def _kernels(entry: Algorithm, session: Session, problem: Any, strategy: str, measure: bool) -> tuple[KernelCost, ...]:
    recipe, measured = entry.strategies[strategy].recipe, {}
    found: dict[str, KernelCost] = {}
    weights = weights_of(session.facts)
    for kernel, work in ({} if recipe is None else recipe(problem, session.facts).by_kernel(weights)).items():
        guess = estimate(work, session.profile.rates)
        found[kernel] = KernelCost(kernel, work.launches, guess.seconds, max(guess.parts, key=guess.parts.__getitem__))
    if measure:
        for _ in range(2):  # the first run compiles
            measured = entry.solve(problem, strategy=strategy, session=session).info.kernels
    for kernel, (launches, seconds) in measured.items():
        known = found.get(kernel, KernelCost(kernel, None, None, ""))
        found[kernel] = known._replace(measured_launches=launches, measured_seconds=seconds)
    return tuple(found.values())
