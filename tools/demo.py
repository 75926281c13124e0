"""Show clgraph at work on one graph by its own commands: devices, rates, statistics, predictions, times and the pick.

Without a graph file, a scale-free and a road-like graph of about 2**18 vertices are generated and written.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from pathlib import Path

from clgraph import generators
from clgraph.cli.main import guarded, main
from clgraph.cli.options import add_device
from clgraph.cli.terminal import busy
from clgraph.io import write

SCALE = 18


def run(args: argparse.Namespace) -> int:
    device = ["--device", args.device] if args.device else []
    with tempfile.TemporaryDirectory() as folder:
        paths = [args.graph]
        if args.graph is None:
            paths = [str(Path(folder) / name) for name in ("scale-free.mtx", "road-like.mtx")]
            with busy(f"writing {' and '.join(paths)}"):
                write(generators.rmat(SCALE, 8), paths[0])
                write(generators.road_like(1 << SCALE), paths[1])
        commands = [["devices"], ["probe", *device]]
        for path in paths:
            commands += [["info", path], ["bench", "connected_components", *device, "--graphs", path]]
        for command in commands:
            print(f"\n$ clgraph {shlex.join(command)}", flush=True)
            if code := main(command):
                return code
    print("-> every result was checked against the definition")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="tools/demo", description=str(__doc__).partition("\n")[0])
    parser.add_argument("graph", metavar="GRAPH_FILE", nargs="?", help="(default: generate two)")
    add_device(parser)
    sys.exit(guarded(run, parser.parse_args()))
