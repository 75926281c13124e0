"""What an algorithm is: one value that feeds its public function, ``explain``, the command line and the benchmarks."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

from clgraph.arguments import checked_flag
from clgraph.model.strategy import Choice, Strategy, checked_options, choose
from clgraph.runtime.device_graph import GraphOnDevice, session_for
from clgraph.runtime.session import Session, SessionLike
from clgraph.runtime.timing import RunInfo, Seconds


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
    takes : {"graph", "ratings"}
    left_out : callable
        ``left_out(problem, session)`` returns the strategies that ``"auto"`` does not consider, and why; they run if
        they are asked for by name.
    """

    name: str
    strategies: Mapping[str, Strategy]
    problem: Callable[..., Any]
    answer: Callable[[Any, Any], Any]
    check: Callable[[Any, Any], None]
    takes: Literal["graph", "ratings"] = "graph"
    left_out: Callable[[Any, Session], Mapping[str, str]] = _none_left_out

    def choose(
        self, session: Session, problem: Any, strategy: str = "auto", *, price_all: bool = False
    ) -> Choice:
        """Return *strategy*, or for ``"auto"`` the one that the cost model predicts to be fastest.

        Unless *price_all* is set, a strategy that runs on the host is picked at once if no device could answer so soon.

        Raises
        ------
        UnsupportedStrategyError
            The name is unknown, or this device cannot run it, or it does not solve this problem.
        """
        left_out = self._left_out(problem, session) if isinstance(strategy, str) and strategy == "auto" else {}
        rates = session.profile.rates
        return choose(self.strategies, strategy, problem, session.facts, rates, left_out, price_all=price_all)

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
            The strategy has no such option.
        UnsupportedStrategyError
            As :meth:`choose`.
        VerificationError
            The check has failed.
        """
        verify, on, started = checked_flag("verify", verify), self.session(problem, session), time.perf_counter()
        choice = self.choose(on, problem, strategy)
        chosen = self.strategies[choice.strategy]
        options = checked_options(self.strategies, choice, options or {})
        if chosen.kind == "sequential":
            result = self._run_on_host(problem, choice, chosen.plan(on, problem, **options), started)
        else:
            with ExitStack() as leaving, on.measure(started) as recorder:
                plan = chosen.plan(on, problem, **options)
                leaving.callback(plan.release)
                plan.run()
                result = self.answer(problem, plan)
                told = {"details": plan.details, "balance": getattr(plan, "balance", None)}
            result.info = on.run_info(recorder, choice.strategy, chosen.kind, choice.seconds, **told)
        if verify:
            self.check(problem, result)
        return result

    def _run_on_host(self, problem: Any, choice: Choice, plan: Any, started: float) -> Any:
        """Run a plan of which no device knows, and return the result with its ``info``."""
        plan.run()
        result = self.answer(problem, plan)
        why = "asked for" if choice.requested != "auto" else choice.reason or "predicted to be the fastest"
        seconds = Seconds(time.perf_counter() - started, 0.0, 0.0, 0.0)
        result.info = RunInfo(choice.strategy, "sequential", "host", why, seconds, choice.seconds, {}, plan.details)
        return result
