"""How much time the cost model's picks lose: time of the pick / time of the best strategy.

    benchmarks/bench_cost_model.py                       # measure small graphs here
    benchmarks/bench_cost_model.py --results FILE …      # from rows measured before, of any algorithm
"""
from __future__ import annotations

import argparse
import sys

import harness
import inputs
from bench_connected_components import BENCHMARK

from clgraph.cli.main import guarded
from clgraph.report import by_benchmark, read_rows, tabulate_rows
from clgraph.runtime.session import Session


def run(args: argparse.Namespace) -> int:
    if args.results:
        rows = [row for path in args.results for row in read_rows(path)]
        for benchmark, group in by_benchmark(rows).items():
            print(f"{benchmark}:\n\n{tabulate_rows(group, 'regret', 'github')}\n")
        return 0
    graphs = args.graphs or list(inputs.SMALL)
    inputs.prepare(graphs, args.workers)
    session = Session(args.device)
    origin = harness.provenance(session)
    rows = []
    for name in graphs:
        measured = BENCHMARK.measure(
            session, name, inputs.load(name), repeats=args.repeats, budget_seconds=args.budget
        )
        rows += [{**row, **origin} for row in measured]
        session.release()
    harness.finish(args, rows, "regret")
    return 0


if __name__ == "__main__":
    parser = harness.parser(str(__doc__).partition("\n")[0])
    parser.add_argument("--results", nargs="+", metavar="FILE", help="use these rows; measure nothing")
    sys.exit(guarded(run, parser.parse_args()))
