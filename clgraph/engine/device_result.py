"""Answers that stay in the memory of a device, which calls with ``output="device"`` return."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from clgraph.arguments import check_choice
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.wrapped import WrappedGraph
from clgraph.engine.options import checked_options
from clgraph.engine.result import Result
from clgraph.errors import InputError
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.graphs.device_graph import GraphOnDevice, device_graph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session, SessionLike, as_session


class DeviceResult:
    """An answer whose arrays are on the device, as ``pyopencl.array.Array`` of the session's queue.

    It has the attributes of the same call's result on the host, such as ``distances``, and it unpacks like that one.
    The arrays are the caller's: no later call changes them. A kernel that the caller enqueues on another queue has to
    wait for ``session.queue``.

    Attributes
    ----------
    info : RunInfo
        What ran, where, and how long it took.
    """

    info: RunInfo

    def __init__(self, answer: Result) -> None:
        self._answer = answer
        vars(self).update(zip(answer._fields, answer, strict=True))  # type: ignore[attr-defined,call-overload]
        vars(self).update(vars(answer))

    def __iter__(self) -> Any:
        return iter(self._answer)  # type: ignore[call-overload]

    def __repr__(self) -> str:
        return f"DeviceResult({', '.join(f'{name}: {type(value).__name__}' for name, value in self._shown())})"

    def _shown(self) -> list[tuple[str, Any]]:
        return [*zip(self._answer._fields, self._answer, strict=True)]  # type: ignore[attr-defined,call-overload]

    def get(self) -> Any:
        """Return the result that the same call with ``output="host"`` returns; copies the arrays to the host."""
        values = [value.get() if hasattr(value, "base_data") else value for _, value in self._shown()]
        return self._answer._with(values, {**vars(self._answer), "info": self.info})


def solve_there(
    algorithm: Any,
    problem: Any,
    strategy: str,
    session: SessionLike,
    options: Mapping[str, Any],
    output: Any,
    *,
    verify: bool,
) -> DeviceResult:
    """Solve the problem by a strategy of the device, and return the answer in device memory.

    *algorithm* is an :class:`~clgraph.engine.algorithm.Algorithm`, and the other parameters are those of its
    ``solve()``. The graph is copied to the device first, unless it is there.

    Raises
    ------
    InputError
        *output* is not "device", or the host was named as the strategy.
    """
    started = time.perf_counter()
    check_choice("output", output, ("host", "device"))
    on = as_session(session, problem.graph)
    with on.driver:
        problem = _moved(problem, on)
    choice = algorithm.chosen(on, problem, strategy)
    if algorithm.strategies[choice.strategy].kind == "sequential":
        raise InputError(f"output = 'device': the strategy {choice.strategy!r} makes its answer on the host")
    given = checked_options(algorithm.strategies, choice, options) if options else {}

    def answer(problem: Any, plan: Any) -> DeviceResult:
        values = [_copied(on, value) if isinstance(value, DeviceArray) else value for value in plan.on_device()]
        return DeviceResult(algorithm.answer(problem, SimpleNamespace(result=lambda: values)))

    result: DeviceResult = algorithm.solve_on_device(on, problem, choice, given, started, answer)
    if verify:
        algorithm.check(problem, result.get())
    return result


def _moved(problem: Any, session: Session) -> Any:
    """Return *problem* with its graph on the device of *session*, where no strategy of the host is chosen."""
    graph = problem.graph
    if isinstance(graph, GraphOnDevice):
        return problem
    whole = as_graph(graph.matrix) if isinstance(graph, WrappedGraph) else graph
    return replace(problem, graph=device_graph(session, whole, weights=True).as_graph())


def _copied(session: Session, source: DeviceArray) -> Any:
    """Return a copy of *source*, because the plan changes *source* in its next run."""
    import pyopencl.array

    made = session.empty(source.size, source.dtype)
    made.copy_from(source)
    return pyopencl.array.Array(session.queue, (source.size,), source.dtype, data=made.buffer)
