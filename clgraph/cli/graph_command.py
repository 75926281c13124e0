"""The GraphCommand class: a sub-command that runs an algorithm on a graph file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from clgraph.cli.options import (
    add_device,
    add_graph,
    add_json,
    add_output,
    add_plot,
    add_strategy,
    add_verify,
    check_plot,
    open_session,
    read_graph,
)
from clgraph.cli.terminal import busy, print_fields, print_json, run_fields
from clgraph.errors import InputError

if TYPE_CHECKING:
    from clgraph.data.graphs.graph import Graph
    from clgraph.runtime.session import Session


class Run(NamedTuple):
    """A finished run of a command: its arguments, its input and its result."""

    args: argparse.Namespace
    graph: Graph
    session: Session
    result: Any


@dataclass(frozen=True)
class Shown:
    """The output of a command: fields of a JSON document for ``--json``, and otherwise lines of text."""

    document: Mapping[str, Any]
    fields: Mapping[str, str]
    above: str = ""  # Text above the lines of the result.
    below: str = ""  # Text below the lines of the result.


@dataclass(frozen=True)
class GraphCommand:
    """The sub-command that runs one algorithm on a graph file.

    *add_settings* adds the algorithm's own options. *settings* converts them to keyword arguments of the public
    function. *prepare* returns the graph to pass to that function. *write* writes the output that *output* describes.
    """

    name: str  # The name of the algorithm, which is the command's name.
    help: str
    show: Callable[[Run], Shown]
    add_settings: Callable[[argparse.ArgumentParser], None]
    settings: Callable[[argparse.Namespace, Graph], Mapping[str, Any]] = field(default=lambda args, graph: {})
    prepare: Callable[[argparse.Namespace, Graph], Graph] = field(default=lambda args, graph: graph)
    output: str = ""  # Help text about the file that --output writes. If it is empty, the command has no --output.
    write: Callable[[str, Run], None] | None = None
    plot: str = ""  # Help text about the plot that --plot draws. If it is empty, the command has no --plot.

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_graph(parser)
        self.add_settings(parser)
        add_strategy(parser)
        add_device(parser)
        add_verify(parser)
        if self.output:
            add_output(parser, self.output)
        if self.plot:
            add_plot(parser, self.plot)
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        from clgraph.algorithms.table import find_function

        if self.plot:
            check_plot(args)
        if args.json and getattr(args, "output", None) == "-":
            raise InputError("--json and --output - both write to stdout: give --output a file")
        graph = self.prepare(args, read_graph(args.graph, args))
        settings = self.settings(args, graph)
        session = open_session(args)
        with busy(f"running on {session.facts.name}"):
            result = find_function(self.name)(
                graph, **settings, strategy=args.strategy, session=session, verify=args.verify
            )
        run, to = Run(args, graph, session, result), getattr(args, "output", None)
        if self.write is not None and to is not None:
            self.write(to, run)
        shown = self.show(run)
        if args.json:
            print_json({
                "graph": args.graph, "n_vertices": graph.n_vertices, "n_edges": graph.n_edges, **shown.document,
                "verified": args.verify, **result.info.as_dict(),
            })  # fmt: skip
        elif to != "-":
            if shown.above:
                print(shown.above, end="\n\n")
            verified = {"verified": "yes"} if args.verify else {}
            print_fields({**shown.fields, **run_fields(result.info, args.strategy), **verified})
            if shown.below:
                print(shown.below)
        return 0
