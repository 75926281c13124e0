"""The command ``clgraph bench NAME …``, which runs a benchmark of the checkout."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from clgraph.errors import InputError
from clgraph.names import unknown_name

HELP = "run a benchmark (in a checkout)"
_FOLDER = Path(__file__).parents[2] / "benchmarks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="such as connected_components; none lists them")
    parser.add_argument(
        "arguments", metavar="...", nargs=argparse.REMAINDER, help="passed on; try: clgraph bench NAME --help"
    )


def run(args: argparse.Namespace) -> int:
    scripts = {path.stem.removeprefix("bench_"): path for path in sorted(_FOLDER.glob("bench_*.py"))}
    if not scripts:
        raise InputError("an installed package has no benchmarks; run this in a checkout of clgraph")
    if args.name is None:
        print("\n".join(scripts))
        return 0
    if args.name not in scripts:
        raise InputError(unknown_name("benchmark", args.name, scripts))
    return subprocess.call([sys.executable, str(scripts[args.name]), *args.arguments])
