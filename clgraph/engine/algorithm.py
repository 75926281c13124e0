"""What an algorithm is: one value that feeds its public function, ``explain``, the command line and the benchmarks."""
from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal

from clgraph.arguments import checked_flag
from clgraph.data.stats import FAR_DISTANCE
from clgraph.data.wrapped import WrappedGraph
from clgraph.device.facts import ANY_DEVICE, DeviceFacts
from clgraph.device.profile import DeviceRates, generic_profile
from clgraph.engine.learning import Run, Trials, call_seconds, learning_of
from clgraph.engine.options import check_arguments, checked_options
from clgraph.engine.plan import Plan
from clgraph.engine.problem import admission
from clgraph.engine.watching import RunsLongError, leaving_after, limit_seconds, second_best
from clgraph.errors import InputError
from clgraph.model.cost import Work
from clgraph.model.strategy import Choice, Guess, Strategy, choose, choose_at_once
from clgraph.runtime.device_graph import session_for
from clgraph.runtime.graph_on_device import GraphOnDevice
from clgraph.runtime.session import Session, SessionLike
from clgraph.runtime.timing import Recorder, RunInfo, Seconds

_MOST_CHOICES = 64  # that are kept with a graph: settings such as seeds may be many
_MOST_ITEMS = 2.5e5  # for each such call: in larger graphs there is no need to look where neighbours are
_LOOK_BYTES = 8.0


def _none_left_out(_problem: Any, _session: Session) -> dict[str, str]:
    return {}


@dataclass(frozen=True)
class Algorithm:
    """One algorithm.

    Attributes
    ----------
    name : str
        Its name everywhere: in Python, on the command line, in ``explain``, in benchmarks and documents.
    strategies : mapping of str to Strategy
    problem : callable
        ``problem(data, **settings)`` checks the user's input and settings and returns the problem, which is what plans
        and predictions take.
    answer : callable
        ``answer(problem, plan)`` returns the result of a plan that has run; it has an attribute ``info``.
    check : callable
        ``check(problem, result)`` raises a :class:`VerificationError` if the result does not fit the definition.
    takes : {"graph", "ratings", "mesh"}
    left_out : callable
        ``left_out(problem, session)`` returns the strategies that ``"auto"`` does not consider, and why; they run if
        they are asked for by name. It may look at statistics, so it is not asked of strategies on the host.
    learns : bool
        Whether measured times may change what ``"auto"`` takes: all strategies must give the same answer.
    only_call : tuple of float
        What the only call on a graph takes at least on a device: as long as so many calls without their kernels, since
        its check, its statistics and a plan take more than to find them; and so many looks at each vertex and entry.
    guess : callable, optional
        ``guess(problem, facts)`` returns the :class:`Guess` for a graph that was only wrapped, or ``None``.
    split_options : tuple of str
        Options that its public function takes together with ``devices=``; empty if it runs on one device only.
    """

    name: str
    strategies: Mapping[str, Strategy]
    problem: Callable[..., Any]
    answer: Callable[[Any, Any], Any]
    check: Callable[[Any, Any], None]
    takes: Literal["graph", "ratings", "mesh"] = "graph"
    left_out: Callable[[Any, Session], Mapping[str, str]] = _none_left_out
    learns: bool = False
    only_call: tuple[float, float] = 12.0, 7.0
    guess: Callable[[Any, DeviceFacts], Guess | None] | None = None
    split_options: tuple[str, ...] = ()

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise an :class:`InputError` unless each option is one of some strategy, or of several devices."""
        check_arguments(self.name, options, self.strategies, self.problem, self.split_options)

    def choose(self, session: Session, problem: Any, strategy: str = "auto", *, whole: bool = False) -> Choice:
        """Return *strategy*, or for ``"auto"`` the one that the cost model predicts to be fastest.

        Strategies that surely take much longer are priced only if the *whole* table is wanted.

        Raises
        ------
        UnsupportedStrategyError
            The name is unknown, or this device cannot run it, or it does not solve this problem.
        """
        left_out = self._left_out(problem, session) if isinstance(strategy, str) and strategy == "auto" else {}
        facts, rates = session.facts, session.profile.rates
        return choose(self.strategies, strategy, problem, facts, rates, left_out, whole=whole)

    def choose_at_once(self, session: Session | None, problem: Any, strategy: str = "auto") -> Choice | None:
        """Return the choice of a strategy that has answered on the host before the device could, if there is one.

        ``None`` in place of *session* stands for a device that no driver has been asked for. A call on any device takes
        0.15 ms or more beside its kernels (``call_seconds`` of all profiles that are shipped), so a generic CPU's rates
        tell which graphs the host answers sooner.
        """
        graph = getattr(problem, "graph", None)
        if graph is None or isinstance(graph, GraphOnDevice):  # whose arrays come to the host by the device's queue
            return None
        n_items, is_unread = graph.n_vertices + graph.n_edges, isinstance(graph, WrappedGraph)
        calls, looks = self.only_call if is_unread else (1.0, 0.0)
        facts, rates = (ANY_DEVICE, _generic_rates()) if session is None else (session.facts, session.profile.rates)
        guesses = self.guess is not None and is_unread and session is not None
        guess = partial(self.guess, problem, facts) if self.guess is not None and guesses else None
        if guess is None and graph.n_vertices > FAR_DISTANCE and n_items > _MOST_ITEMS * calls:
            return None
        before = Work(streamed_bytes=_LOOK_BYTES * looks * n_items)
        return choose_at_once(self.strategies, strategy, problem, facts, rates, calls=calls, before=before, guess=guess)

    def _left_out(self, problem: Any, session: Session) -> Mapping[str, str]:
        left_out = self.left_out(problem, session)
        if not isinstance(getattr(problem, "graph", None), GraphOnDevice):
            return left_out
        away = {name: "the graph is on the device" for name, s in self.strategies.items() if s.kind == "sequential"}
        return {**left_out, **away}

    def session(self, problem: Any, session: SessionLike) -> Session:
        """Return *session*; where none is named, the one on which the problem's graph lives, or the default one."""
        return session_for(getattr(problem, "graph", None), session)

    def solve(
        self, problem: Any, *, strategy: str = "auto", session: SessionLike = None, verify: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        """Choose a strategy, make its plan, run it, and return the result with its ``info``.

        Parameters
        ----------
        problem : object
            What :attr:`problem` has returned.
        strategy : str
        session : Session, str, pyopencl Device, Context or CommandQueue, or None
        verify : bool
            Check the result by :attr:`check`.
        options : mapping, optional
            The user's options of the strategy.

        Raises
        ------
        InputError
            The strategy has no such option, or no strategy has.
        UnsupportedStrategyError
            As :meth:`choose`.
        VerificationError
            The check has failed.
        """
        if options:
            self.check_options(options)
            if alone := sorted(set(options) & set(self.split_options)):
                raise InputError(f"{', '.join(alone)}: allowed together with devices=[…]")
        verify, started = checked_flag("verify", verify), time.perf_counter()
        choice, on = None, None
        if session is None and not options:
            choice = self.choose_at_once(None, problem, strategy)
        if choice is None:
            on = self.session(problem, session)
            choice = None if options else self.choose_at_once(on, problem, strategy)
        if choice is not None and self.strategies[choice.strategy].kind == "sequential":
            with admission(None, problem) as problem:
                plan = self.strategies[choice.strategy].plan(on, problem)
                plan.run()
                result = self.answer(problem, plan)
            result.info = _host_info(choice, time.perf_counter() - started, details=plan.details)
            if verify:
                self.check(problem, result)
            return result
        assert on is not None
        is_guess = choice is not None
        with on.driver, on.measure(started) as recorder, admission(on, problem, checked=not is_guess) as problem:
            learning = learning_of(on) if self.learns and not options else None
            choice, trials = (choice, Trials()) if choice is not None else self._chosen(on, problem, strategy)
            predicted = ""
            if learning is not None and strategy == "auto":
                predicted = choice.strategy
                choice = learning.pick(self.name, choice, trials)
            left: dict[str, float] = {}
            is_watched = strategy == "auto" and not (options or is_guess) and (self.learns or self.takes == "ratings")
            while True:
                began = time.perf_counter()
                try:
                    with leaving_after(limit_seconds(choice, left) if is_watched else None):
                        result, run, told = self._run(on, problem, choice, options or {}, recorder)
                    break
                except RunsLongError:
                    left[choice.strategy] = time.perf_counter() - began
                    trials.seconds[choice.strategy] = math.inf  # nobody knows, and it is not to be left again
                    choice = replace(choice, strategy=second_best(choice, left) or choice.strategy)
            told["learned"] = predicted if predicted != choice.strategy and not left else ""
            if left:
                told["details"] = {**told["details"], "left": left}
        kind = self.strategies[choice.strategy].kind
        if kind == "sequential":
            result.info = _host_info(choice, time.perf_counter() - started, **told)
        else:
            result.info = on.run_info(recorder, choice.strategy, kind, choice.seconds, **told)
        if learning is not None:
            learning.note(self.name, choice, run.seconds(kind) + call_seconds(choice), trials)
        if verify:
            self.check(problem, result)
        return result

    def _run(
        self, on: Session, problem: Any, choice: Choice, options: Mapping[str, Any], recorder: Recorder
    ) -> tuple[Any, Run, dict[str, Any]]:
        """Run the strategy chosen; return its result, when it ran, and what its plan tells of it."""
        with self._planned(on, problem, choice, options) as plan:
            run = Run(recorder)
            plan.run()
            run.stop()
            result = self.answer(problem, plan)
            return result, run, {"details": plan.details, "balance": getattr(plan, "balance", None)}

    def _chosen(self, on: Session, problem: Any, strategy: str) -> tuple[Choice, Trials]:
        """Return what :meth:`choose` does, and what was measured of it; both are kept while the graph lives.

        Of a matrix the choice alone is kept, for those that have the same statistics.
        """
        graph, given = _kept_by(problem), getattr(problem, "graph", None)
        known_of = (given.stats, given.weight_dtype, given.weight_range) if isinstance(given, WrappedGraph) else ()
        key = None if given is None else _key(self.name, strategy, problem.settings, *known_of)
        if key is None:
            return self.choose(on, problem, strategy), Trials()
        known = on.kept.choices_of_matrices if graph is None else on.kept.choices.setdefault(graph, {})
        based_on = on.profile, on.facts, *self.strategies.values()
        kept: tuple[Any, Choice, Trials] | None = known.get(key)
        if kept is None or kept[0] != based_on:
            if len(known) >= _MOST_CHOICES:
                known.clear()
            known[key] = kept = based_on, self.choose(on, problem, strategy), Trials()
        return kept[1:] if graph is not None else (kept[1], Trials())

    @contextmanager
    def _planned(self, on: Session, problem: Any, choice: Choice, options: Mapping[str, Any]) -> Iterator[Any]:
        """Yield a plan that was kept, or a new one; it is kept while the graph lives, unless the block raises."""
        chosen, graph, before = self.strategies[choice.strategy], _kept_by(problem), on.allocated_bytes
        given = checked_options(self.strategies, choice, options) if options else {}
        is_unread = isinstance(getattr(problem, "graph", None), WrappedGraph) and not problem.graph.is_checked
        key = None if graph is None else _key(chosen.plan, problem.settings, given)
        plan = None if key is None else on.kept.take(graph, key)
        if plan is not None and plan.fits(on):
            plan.attach(problem)
        else:
            make = chosen.unchecked if is_unread and chosen.unchecked is not None else chosen.plan
            plan = make(on, problem, **given)
            if not given and isinstance(plan, Plan):
                plan.predicted_seconds = choice.seconds[choice.strategy]
        try:
            yield plan
        except BaseException:
            plan.release()
            raise
        if key is None or not isinstance(plan, Plan):
            plan.release()
            return
        plan.detach()
        plan.n_bytes = max(plan.n_bytes, on.allocated_bytes - before)
        on.kept.put(graph, key, plan, plan.n_bytes)


@cache
def _generic_rates() -> DeviceRates:
    return generic_profile(ANY_DEVICE).rates


def _host_info(choice: Choice, seconds: float, **told: Any) -> RunInfo:
    """Return what a result tells of a run in which no device had part."""
    why = "asked for" if choice.requested != "auto" else choice.reason or "predicted to be the fastest"
    return RunInfo(
        choice.strategy, "sequential", "host", why, Seconds(seconds, 0.0, 0.0, 0.0), choice.seconds, {}, **told
    )


def _kept_by(problem: Any) -> Any:
    """Return the object that lives as long as the problem's graph, also where that is on a device.

    ``None`` stands for a problem without a graph, and for a graph that is there for one call only.
    """
    graph = getattr(problem, "graph", None)
    return None if isinstance(graph, WrappedGraph) else getattr(graph, "on_device", graph)


def _key(*parts: Any) -> Hashable:
    """Return what tells one call on a graph from another; ``None`` if a part, such as an array, can be in no key."""
    try:
        key = tuple(map(_frozen, parts))
        hash(key)
    except Exception:  # what users give may be anything, such as a list that has itself as an item
        return None
    return key


def _frozen(value: Any) -> Hashable:
    """Return *value* with its type, since 1.0 equals 1 but is not allowed where 1 is."""
    if isinstance(value, Mapping):
        return tuple((name, _frozen(each)) for name, each in sorted(value.items()))
    return type(value), tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value
