"""The Algorithm class: the object behind a public function, explain, the command line and benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from clgraph.arguments import checked_flag
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.wrapped import WrappedGraph, is_unread
from clgraph.device.facts import ANY_DEVICE, DeviceFacts
from clgraph.device.profile import DeviceRates
from clgraph.device.profile_files import generic_profile
from clgraph.engine.options import check_arguments, checked_options
from clgraph.engine.plan import Plan
from clgraph.engine.problem import admission
from clgraph.errors import InputError
from clgraph.model.cost import Estimate, estimate
from clgraph.model.strategy import Choice, Strategy, choose, obstacles, prices
from clgraph.runtime.driver.timing import RunInfo, Seconds
from clgraph.runtime.graphs.admission import admit
from clgraph.runtime.graphs.device_graph import GraphOnDevice
from clgraph.runtime.kept import key_of
from clgraph.runtime.session import Session, SessionLike, as_session

# Choices of strategies cached per graph. A caller that varies a setting (such as the seed) adds one per value.
MAX_CHOICES = 64


@dataclass(frozen=True)
class Algorithm:
    """An algorithm with its strategies.

    Its public function, ``explain``, its command and its benchmark use this object.

    Attributes
    ----------
    name : str
        The algorithm's name in Python, on the command line, in ``explain``, benchmarks and documents.
    strategies : mapping of str to Strategy
        All ways to run it. The user may name any of them.
    contenders : callable
        ``contenders(problem, facts)`` names the strategies that ``"auto"`` compares on a device, usually two to four.
    problem : callable
        ``problem(data, **settings)`` checks the user's input and settings, and returns the problem for plans and
        predictions.
    answer : callable
        ``answer(problem, plan)`` returns the result of a plan that has run; it has an attribute ``info``.
    check : callable
        ``check(problem, result)`` raises a :class:`VerificationError` if the result does not satisfy the definition.
    takes : {"graph", "ratings", "mesh"}
        The kind of its input.
    split_options : tuple of str
        Options that the public function takes together with ``devices=``; empty if it runs on one device only.
    """

    name: str
    strategies: Mapping[str, Strategy]
    contenders: Callable[[Any, DeviceFacts], Iterable[str]]
    problem: Callable[..., Any]
    answer: Callable[[Any, Any], Any]
    check: Callable[[Any, Any], None]
    takes: Literal["graph", "ratings", "mesh"] = "graph"
    split_options: tuple[str, ...] = ()

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise an :class:`InputError` unless all *options* belong to a strategy or to runs on several devices."""
        check_arguments(self.name, options, self.strategies, self.problem, self.split_options)

    def choose(self, session: Session, problem: Any, strategy: str = "auto") -> Choice:
        """Return the choice of *strategy*.

        For ``"auto"``, the cost model takes the contender that it predicts to be fastest.

        The host is chosen from sizes alone if it should finish before a device could answer. Otherwise a graph's
        statistics are computed first. For a matrix, which is wrapped for one call only, they are estimated from its
        sizes and a few entries.

        Raises
        ------
        UnsupportedStrategyError
            The name is unknown, or this device cannot run it, or it does not solve this problem.
        """
        facts, rates, graph = session.facts, session.profile.rates, getattr(problem, "graph", None)
        is_auto = isinstance(strategy, str) and strategy == "auto"
        if isinstance(graph, Graph) and not is_unread(problem):
            if not graph.is_measured and is_auto and (host := self._host_first(problem, facts, rates)) is not None:
                return host
            if not isinstance(strategy, str) or strategy != "host":
                if not graph.is_measured:
                    admit(session, graph)
                problem.measured(session)
        names = self.contenders(problem, facts) if is_auto else ()
        # A graph on the device is not copied to the host, so host strategies are left out.
        if isinstance(graph, GraphOnDevice):
            names = [name for name in names if self.strategies[name].kind != "sequential"]
        return choose(self.strategies, names, strategy, problem, facts, rates)

    def predictions(self, session: Session, problem: Any) -> tuple[dict[str, Estimate], dict[str, str]]:
        """Return the predicted times of all strategies that can run, fastest first, and why the others cannot."""
        facts = session.facts
        reasons = obstacles(self.strategies, self.strategies, problem, facts)
        if isinstance(getattr(problem, "graph", None), GraphOnDevice):
            on_host = (name for name, strategy in self.strategies.items() if strategy.kind == "sequential")
            reasons |= dict.fromkeys(on_host, "the graph is on the device")
        runs = [name for name in self.strategies if name not in reasons]
        return prices(self.strategies, runs, problem, facts, session.profile.rates), reasons

    def _host_first(self, problem: Any, facts: DeviceFacts, rates: DeviceRates) -> Choice | None:
        """Return the host strategy if the sizes alone show that it ends before any device could; else ``None``."""
        host = self.strategies.get("host")
        if host is None or host.unfit(problem) is not None:
            return None
        least, found = rates.call_seconds + rates.read_back_seconds, estimate(host.work(problem, facts), rates)
        if found.seconds >= least:
            return None
        reason = f"a call on {facts.name} takes at least {1e3 * least:.2g} ms"
        return Choice("host", "auto", {"host": found}, reason=reason)

    def _host_without_driver(self, problem: Any, strategy: str) -> Choice | None:
        """Return the host strategy if the caller named it or the graph is too small for any device; else ``None``.

        This method loads no driver. In every shipped profile, ``call_seconds`` is at least 0.15 ms, so the rates of a
        generic CPU show for which graphs the host is faster than any device.
        """
        graph = getattr(problem, "graph", None)
        if graph is None or isinstance(graph, GraphOnDevice) or not isinstance(strategy, str):
            return None
        if strategy == "host" and strategy in self.strategies:
            return choose(self.strategies, (), strategy, problem, ANY_DEVICE, _generic_rates())
        if strategy == "auto" and graph.is_small:
            return self._host_first(problem, ANY_DEVICE, _generic_rates())
        return None

    def solve(
        self,
        problem: Any,
        *,
        strategy: str = "auto",
        session: SessionLike = None,
        verify: bool = False,
        options: Mapping[str, Any] | None = None,
        output: str = "host",
    ) -> Any:
        """Choose a strategy for the problem, make its plan, run it, and return the result with its ``info``.

        Parameters
        ----------
        problem : object
            The problem that :attr:`problem` has returned.
        strategy : str
        session : Session, str, pyopencl Device, Context or CommandQueue, or None
        verify : bool
            Whether to check the result by :attr:`check`.
        options : mapping, optional
            The user's options for the strategy.
        output : {"host", "device"}
            Where the arrays of the answer are to be; see :func:`clgraph.engine.device_result.solve_there`.

        Raises
        ------
        InputError
            The strategy does not have such an option, or no strategy has.
        UnsupportedStrategyError
            As in :meth:`choose`.
        VerificationError
            The check failed.
        """
        if options:
            self.check_options(options)
            if alone := sorted(set(options) & set(self.split_options)):
                raise InputError(f"{', '.join(alone)}: allowed together with devices=[…]")
        verify, started = checked_flag("verify", verify), time.perf_counter()
        if type(output) is not str or output != "host":
            from clgraph.engine.device_result import solve_there

            return solve_there(self, problem, strategy, session, options or {}, output, verify=verify)
        on, choice = None, None
        if session is None and not options:
            choice = self._host_without_driver(problem, strategy)
        if choice is None:
            on = as_session(session, getattr(problem, "graph", None))
            choice = self.chosen(on, problem, strategy)
        given = checked_options(self.strategies, choice, options) if options else {}
        if on is None or self.strategies[choice.strategy].kind == "sequential":
            result = self._solve_on_host(on, problem, choice, started)
        else:
            result = self.solve_on_device(on, problem, choice, given, started)
        if verify:
            self.check(problem, result)
        return result

    def _solve_on_host(self, on: Session | None, problem: Any, choice: Choice, started: float) -> Any:
        with admission(None, problem) as problem:
            plan = self.strategies[choice.strategy].plan(on, problem)
            plan.run()
            result = self.answer(problem, plan)
        object.__setattr__(result, "info", _host_info(choice, time.perf_counter() - started, details=plan.details))
        return result

    def solve_on_device(
        self,
        on: Session,
        problem: Any,
        choice: Choice,
        given: Mapping[str, Any],
        started: float,
        answer: Callable[[Any, Any], Any] | None = None,
    ) -> Any:
        chosen = self.strategies[choice.strategy]
        is_unread = choice.reads_unchecked and not given
        with (
            on.driver,
            on.commands.measure(started) as recorder,
            admission(on, problem, checked=not is_unread) as problem,
            self._planned(on, problem, choice, given, is_unread=is_unread) as plan,
        ):
            plan.run()
            result = (answer or self.answer)(problem, plan)
            told = {"details": plan.details, "balance": getattr(plan, "balance", None)}
        object.__setattr__(result, "info", on.run_info(recorder, choice.strategy, chosen.kind, choice.seconds, **told))
        return result

    def chosen(self, on: Session, problem: Any, strategy: str = "auto") -> Choice:
        """Return the strategy that :meth:`choose` takes, cached per graph, or per sample of an unchecked matrix."""
        graph, known, seen = getattr(problem, "graph", None), None, None
        if not isinstance(graph, WrappedGraph):
            known = None if graph is None else on.kept.choices.setdefault(getattr(graph, "on_device", graph), {})
        elif not graph.is_checked:
            known, seen = on.kept.choices_of_matrices, graph.glimpse
        key: Hashable = None if known is None else key_of(self.name, strategy, problem.settings)
        if known is None or key is None:
            with on.driver:
                return self.choose(on, problem, strategy)
        key = key, seen
        based_on = on.profile, on.facts, *self.strategies.values()
        kept: tuple[Any, Choice] | None = known.get(key)
        if kept is None or kept[0] != based_on:
            if len(known) >= MAX_CHOICES:
                known.clear()
            with on.driver:
                known[key] = kept = based_on, self.choose(on, problem, strategy)
        return kept[1]

    @contextmanager
    def _planned(
        self, on: Session, problem: Any, choice: Choice, given: Mapping[str, Any], *, is_unread: bool
    ) -> Iterator[Any]:
        """Yield a cached or new plan for a ``with`` block.

        The plan is cached afterwards unless the block raises.

        A plan stays cached while its graph exists. The plan of an unchecked matrix is cached for the next matrix of
        the same size.
        """
        chosen, graph = self.strategies[choice.strategy], getattr(problem, "graph", None)
        before = on.memory.allocated_bytes
        make, owner, size = chosen.plan, getattr(graph, "on_device", graph), None
        if is_unread:
            assert chosen.unchecked is not None and graph is not None
            make = owner = chosen.unchecked.plan
            size = graph.n_vertices, graph.n_edges
        elif isinstance(graph, WrappedGraph):
            owner = None
        key = None if owner is None else key_of(chosen.plan, problem.settings, size, given or None)
        plan = None if key is None else on.kept.take(owner, key)
        if plan is not None and plan.fits(on):
            plan.attach(problem)
        else:
            plan = make(on, problem, **given)
            if not given and isinstance(plan, Plan):
                plan.predicted_seconds = choice.seconds[choice.strategy]
        try:
            yield plan
        except BaseException:
            plan.release()
            raise
        if key is None:
            plan.release()
            return
        plan.detach()
        plan.n_bytes = max(plan.n_bytes, on.memory.allocated_bytes - before)
        on.kept.put(owner, key, plan, plan.n_bytes)


def _host_info(choice: Choice, seconds: float, **told: Any) -> RunInfo:
    """Return the :class:`RunInfo` of a result that the host alone has computed."""
    why = "asked for" if choice.requested != "auto" else choice.reason or "predicted to be the fastest"
    return RunInfo(
        choice.strategy, "sequential", "host", why, Seconds(seconds, 0.0, 0.0, 0.0), choice.seconds, {}, **told
    )


@cache
def _generic_rates() -> DeviceRates:
    return generic_profile(ANY_DEVICE).rates
