"""Find the strongly connected components of a directed graph."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.strongly_connected_components.plan import StrongPlan
from clgraph.algorithms.strongly_connected_components.problem import StrongProblem, as_problem
from clgraph.algorithms.strongly_connected_components.strategies import STRATEGIES, contenders
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.engine.result import VertexResult
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _StrongComponents(NamedTuple):
    n_components: int
    labels: NDArray[np.int32]


class StrongComponents(VertexResult, _StrongComponents):
    """Result of :func:`strongly_connected_components`; unpacks as ``n_components, labels``.

    Attributes
    ----------
    n_components : int
    labels : int32 array, shape (n_vertices,)
        The component number of each vertex. Components are numbered in the order of their smallest vertices.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo
    _VALUES = "labels", "component"


class Options(TypedDict, total=False):
    """Keyword options of :func:`strongly_connected_components`, whose docstring describes each option."""

    rounds: int


def strongly_connected_components(
    graph: Any,
    *,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    output: str = "host",
    **options: Unpack[Options],
) -> StrongComponents:
    """Find the strongly connected components of *graph*."""
    problem = as_problem(graph)
    result: StrongComponents = ALGORITHM.solve(
        problem, strategy=strategy, session=session, verify=verify, options=options, output=output
    )
    return result


def _answer(problem: StrongProblem, plan: StrongPlan | HostPlan) -> StrongComponents:
    result = StrongComponents(*plan.result())
    result.graph = problem.graph
    return result


def _check(problem: StrongProblem, result: StrongComponents) -> None:
    from clgraph.reference.strongly_connected_components import check_strong_components

    check_strong_components(problem.graph, result.n_components, result.labels)


ALGORITHM = Algorithm("strongly_connected_components", STRATEGIES, contenders, as_problem, _answer, _check)
