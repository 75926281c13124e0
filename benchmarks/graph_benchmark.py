"""The common part of the benchmarks of algorithms on graphs.

A row holds, beside what ``harness.py`` says, what the benchmark's ``fingerprint`` tells of the result, by which runs
are compared, and ``verified``, false on graphs above ``--check-limit`` until ``--reference`` has found the same. With
``--calls``, and from ``bench_cost_model.py``, rows have ``call_seconds`` and ``least_call_seconds``, median and least
of later calls, for which the model predicts ``predicted_call_seconds``.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import harness
import inputs
import numpy as np
from numpy.typing import NDArray

from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.errors import InputError, VerificationError
from clgraph.model.strategy import Choice, Strategy, choose
from clgraph.report import Row, read_rows, tabulate_rows, write_rows
from clgraph.runtime.session import Session

_MAX_WARM_UPS = 10  # calls, if the budget allows


def sha256(array: NDArray[Any]) -> str:
    """Return the first 16 digits of the hash of *array*'s bytes."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def numbering(session: Session, _problem: Any, plan: Any, _result: Any) -> dict[str, Any]:
    """Return the least device time of the kernels that number the answer after a run, as a field of its row."""
    return {"numbering_seconds": min(seconds.kernel for _, seconds in harness.recorded(session, plan.result))}


def varied(base: Strategy, changes: Mapping[str, Any], options: Mapping[str, Any]) -> Strategy:
    """Return the strategy with *changes* of the problem and *options* of the plan; its prediction stays."""

    def plan(session: Session, problem: Any) -> Any:
        return base.plan(session, replace(problem, **changes) if changes else problem, **options)

    return replace(base, plan=plan)


@dataclass(frozen=True)
class Host:
    """A function of another library, which runs on the host.

    Attributes
    ----------
    calls : callable
        ``calls(problem)`` converts the input, and returns ways to call the function; the quickest counts.
    describe : callable
        ``describe(problem, found)`` returns those fields of the row that the library's result has.
    """

    calls: Callable[[Any], Sequence[Callable[[], Any]]]
    describe: Callable[[Any, Any], dict[str, Any]] = field(default=lambda problem, found: {})


@dataclass(frozen=True)
class GraphBenchmark:
    """How an algorithm is timed.

    Attributes
    ----------
    algorithm : Algorithm
    graphs : sequence of str
        Names of ``inputs.py``, which are measured by default.
    load : callable
        ``load(name, session=None)`` returns the graph, made on the device of *session* if it can be.
    problem : callable
        ``problem(name, graph, **settings)`` returns what is to be solved.
    fingerprint : callable
        ``fingerprint(problem, result)`` returns the fields of a row in which all strategies must agree.
    is_unique : bool
        Whether a result that has the same fingerprint as a right one is right.
    describe : callable
        ``describe(session, problem, plan, result)`` returns fields of a row in which strategies may differ.
    hosts : mapping of str to Host
        By the names of their rows, whose first words are the options that ask for them.
    oracle : callable, optional
        ``oracle(problem)`` returns the right result, sequentially on the host.
    variants : mapping of str to Strategy
        Strategies with options, and perhaps with problems of their own in ``plan.problem``; they are timed on request.
    settings : sequence of str
        Names of the settings of a problem, which are fields of its rows.
    label : callable
        ``label(name, **settings)`` returns the name of the input in its rows.
    """

    algorithm: Algorithm
    graphs: Sequence[str]
    load: Callable[..., Graph]
    problem: Callable[..., Any]
    fingerprint: Callable[[Any, Any], dict[str, Any]]
    is_unique: bool = True
    describe: Callable[[Session, Any, Any, Any], dict[str, Any]] = field(default=lambda *given: {})
    hosts: Mapping[str, Host] = field(default_factory=dict)
    oracle: Callable[[Any], Any] | None = None
    variants: Mapping[str, Strategy] = field(default_factory=dict)
    settings: Sequence[str] = ()
    label: Callable[..., str] = field(default=lambda name, **settings: name)

    def measure(
        self,
        session: Session,
        name: str,
        graph: Graph,
        *,
        strategies: Sequence[str] = (),
        check_limit: float = np.inf,
        hosts: Sequence[str] = (),
        repeats: int = harness.REPEATS,
        budget_seconds: float = 60.0,
        known: dict[str, Any] | None = None,
        calls: bool = False,
        **settings: Any,
    ) -> list[dict[str, Any]]:
        """Return one row for each strategy, or for those named, and for each of the *hosts*.

        The fingerprints must agree with *known*, a dict that earlier calls have filled; the first plan fills an empty
        one. With *calls*, later calls of strategies are timed, too.
        """
        problem, facts, rates = self.problem(name, graph, **settings), session.facts, session.profile.rates
        plans = {**self.algorithm.strategies, **{key: v for key, v in self.variants.items() if key in strategies}}
        unfit = {key: reason for key, strategy in plans.items() if (reason := strategy.unfit(problem)) is not None}
        if asked := [f"{key!r}: {unfit[key]}" for key in strategies if key in unfit]:
            raise InputError("; ".join(asked))
        plans = {key: strategy for key, strategy in plans.items() if key not in unfit}
        picked = self.algorithm.choose(session, problem).strategy
        choice = replace(choose(plans, plans, "auto", problem, facts, rates), strategy=picked)
        names = [picked if key == "auto" else key for key in strategies]
        verifier = Verifier(self, session, problem, graph.n_edges <= check_limit, known)
        timing = {"repeats": repeats, "budget_seconds": budget_seconds}
        rows = harness.time_strategies(session, problem, plans, choice, verifier, names=names, **timing)
        if calls:
            for row in rows:
                row |= self._call_seconds(session, problem, choice, row, **timing)
        rows = [{**row, **settings, **fields} for row, fields in zip(rows, verifier.fields, strict=True)]
        rows += [self._host_row(key, self.hosts[key], problem, settings, **timing) for key in hosts]
        for key in verifier.known:
            if len(values := {str(row[key]) for row in rows if key in row}) > 1:
                raise VerificationError(f"{name}: {key} is one of {sorted(values)}")
        return harness.described(rows, self.algorithm.name, self.label(name, **settings), graph)

    def _call_seconds(
        self, session: Session, problem: Any, choice: Choice, row: Row, repeats: int, budget_seconds: float
    ) -> dict[str, float]:
        """Time later calls: a kept plan is found, runs, and its answer comes to the host.

        The first calls do not count: memory of small answers is pinned from its eighth use on, and the strategy that is
        timed first would wait for that. Where a run takes more than the budget, a call takes no longer to speak of, and
        for variants there is no call.
        """
        name = row["strategy"]
        if row["repeats"] < min(2, repeats) or name in self.variants:
            return {}
        call = partial(self.algorithm.solve, problem, strategy=name, session=session)
        call()
        harness.timed_calls(call, _MAX_WARM_UPS - 1, budget_seconds)
        _, later = harness.timed_calls(call, repeats, budget_seconds)
        return {
            "call_seconds": statistics.median(later), "least_call_seconds": min(later),
            "predicted_call_seconds": choice.predicted[name].seconds,
        }  # fmt: skip

    def _host_row(
        self, strategy: str, host: Host, problem: Any, settings: Row, repeats: int, budget_seconds: float
    ) -> dict[str, Any]:
        """Time another library, which runs on one host thread."""
        with busy(f"timing {strategy}"):
            timed = [harness.timed_calls(call, repeats, budget_seconds) for call in host.calls(problem)]
        found, seconds = min(timed, key=lambda one: statistics.median(one[1]))
        return {"strategy": strategy, **harness.walls(seconds), **settings, **host.describe(problem, found)}

    def compare(self, paths: Sequence[str], workers: int | None) -> int:
        """Check rows, perhaps of another machine, against the oracle; say which agree: they become verified.

        What ``graph`` says after a comma is no part of the input's name.
        """
        assert self.oracle is not None
        rows = {path: [row for row in read_rows(path) if self._has_fingerprint(row)] for path in paths}
        first = {row["graph"]: row for group in reversed(rows.values()) for row in reversed(group)}
        if not first:
            raise InputError("no rows to compare with the reference")
        inputs.prepare((label.partition(",")[0] for label in first), workers)
        n_wrong = 0
        for label, known in first.items():
            name, settings = label.partition(",")[0], {key: known[key] for key in self.settings if key in known}
            with busy(f"checking {label}"):
                problem = self.problem(name, self.load(name), **settings)
                right = self.fingerprint(problem, self.oracle(problem))
            for path, group in rows.items():
                checked = [{**row, "verified": row | right == row} for row in group if row["graph"] == label]
                write_rows(path, checked)
                for row in checked:
                    print(f"{path}: {label} {row['strategy']} {'agrees' if row['verified'] else 'DIFFERS'}", flush=True)
                n_wrong += sum(not row["verified"] for row in checked)
        if n_wrong:
            raise VerificationError(f"{n_wrong} rows differ from the reference")
        return 0

    def _has_fingerprint(self, row: Mapping[str, Any]) -> bool:
        is_known = any(key.endswith("_sha256") for key in row)
        return row["benchmark"] == self.algorithm.name and "verified" in row and is_known


class Verifier:
    """Checks the results of plans, which must all have the fingerprint *known*; the first result fills an empty one."""

    def __init__(
        self, benchmark: GraphBenchmark, session: Session, problem: Any, checked: bool, known: dict[str, Any] | None
    ) -> None:
        self._benchmark, self._session, self._problem, self._checked = benchmark, session, problem, checked
        self.known: dict[str, Any] = {} if known is None else known
        self.fields: list[dict[str, Any]] = []

    def __call__(self, plan: Any) -> None:
        benchmark, problem = self._benchmark, getattr(plan, "problem", self._problem)
        result = benchmark.algorithm.answer(problem, plan)
        if self._checked and not (self.known and benchmark.is_unique):
            benchmark.algorithm.check(problem, result)
        found = benchmark.fingerprint(problem, result)
        if not self.known:
            self.known.update(found)
        if found != self.known:
            raise VerificationError(f"the result, {found}, differs from that of the first strategy, {self.known}")
        more = benchmark.describe(self._session, problem, plan, result)
        self.fields.append({**found, **more, "verified": self._checked})


def main(
    benchmark: GraphBenchmark,
    module: str | None,
    *,
    add_options: Callable[[argparse.ArgumentParser], None] = lambda parser: None,
    cases: Callable[[argparse.Namespace], Sequence[Mapping[str, Any]]] = lambda args: [{}],
    finish: Callable[[argparse.Namespace, Session, str, Graph, list[dict[str, Any]]], None] = lambda *given: None,
    table: harness.Table = "rows",
    check_limit: int = 20_000_000,
) -> None:
    """Run the benchmark of the command line, and exit; *module* is its docstring.

    ``add_options(parser)`` adds options, ``cases(args)`` returns the settings to measure each graph with, and
    ``finish(args, session, name, graph, rows)`` adds to the rows of one case. *table* is as of :func:`harness.finish`.
    Results are checked up to *check_limit* stored entries by default.
    """
    plans = [*benchmark.algorithm.strategies, *benchmark.variants, "auto"]
    options = {key.split(",")[0] for key in benchmark.hosts}
    parser = harness.parser(module)
    add = parser.add_argument
    add("--on-device", action="store_true", help="make graphs on the device where it can, in place of files of them")
    add("--strategies", nargs="+", choices=plans, metavar="NAME", default=[], help="(default: all without options)")
    add("--calls", action="store_true", help="time later calls, with the answer on the host, too")
    for name in sorted(options - {"networkx"}):
        add(f"--{name}", action="store_true", help=f"time {name} too")
    if "networkx" in options:
        most = "time networkx too, on graphs of at most EDGES edges (2 million)"
        add("--networkx", metavar="EDGES", nargs="?", type=int, const=2_000_000, default=0, help=most)
    most = f"check the definition on graphs of at most N stored entries ({check_limit:,})"
    add("--check-limit", metavar="N", type=int, default=check_limit, help=most)
    if benchmark.oracle is not None:
        add("--reference", nargs="+", metavar="FILE", help="check the rows of these files; measure nothing")
    add_options(parser)

    def measured(args: argparse.Namespace, session: Session, name: str, graph: Graph) -> Iterator[list[dict[str, Any]]]:
        small = 0 < graph.n_edges <= 2 * getattr(args, "networkx", 0)
        wanted = {**{name: getattr(args, name) for name in options}, "networkx": small}
        for settings in cases(args):
            rows = benchmark.measure(
                session, name, graph, strategies=args.strategies, check_limit=args.check_limit,
                hosts=[key for key in benchmark.hosts if wanted[key.split(",")[0]]], repeats=args.repeats,
                budget_seconds=args.budget, calls=args.calls, **settings,
            )  # fmt: skip
            finish(args, session, name, graph, rows)
            yield rows

    def run(args: argparse.Namespace) -> int:
        if getattr(args, "reference", None):
            return benchmark.compare(args.reference, args.workers)
        rows = harness.measure_graphs(args, benchmark.graphs, benchmark.load, partial(measured, args), table)
        if not args.strategies:  # The best is only known if all ran.
            print(f"\nWhat picks cost:\n\n{tabulate_rows(rows, 'regret', 'github')}")
        return 0

    sys.exit(guarded(run, parser.parse_args()))
