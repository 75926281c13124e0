"""The entry point of ``clgraph``: it parses arguments, runs a sub-command, and converts errors to exit codes.

A sub-command is a :class:`GraphCommand`, or a module of its name with ``HELP``, ``add_arguments(parser)`` and
``run(args) -> int``. It imports other modules only when it runs, so that ``clgraph --help`` loads neither numpy nor
OpenCL.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from clgraph import __version__, errors
from clgraph.cli.algorithms import GRAPH_COMMANDS
from clgraph.names import unknown_name

COMMANDS = (
    "devices", "doctor", "probe", "info", "convert", "connected_components", "strongly_connected_components",
    "minimum_spanning_forest", "bfs", "sssp", "color", "communities", "pagerank", "hits", "eigenvector_centrality",
    "katz_centrality", "triangles", "core_numbers", "maximal_independent_set", "maximal_matching", "partition",
    "hash_collisions", "factorization", "recommend",
    "refine", "explain", "bench", "report", "cache",
)  # fmt: skip
OK, FAILED, USAGE, NO_DEVICE, BAD_INPUT, DEVICE_MEMORY, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
_EPILOG = (
    "exit codes: 0 success, 1 failure, 2 wrong usage, 3 no usable device, 4 bad input, "
    "5 out of device memory, 130 interrupted"
)
# The first class in this table that fits an error gives the exit code.
_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (errors.NoDeviceError, NO_DEVICE),
    (errors.DeviceMemoryError, DEVICE_MEMORY),
    (errors.UnsupportedStrategyError, USAGE),
    (errors.InputError, BAD_INPUT),
    (OSError, BAD_INPUT),  # A file is missing, or it cannot be read or written.
    (KeyboardInterrupt, INTERRUPTED),
    (Exception, FAILED),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line *argv* and return its exit code."""
    parser, words = build_parser(), sys.argv[1:] if argv is None else argv
    command = next((word for word in words if not word.startswith("-")), None)
    if command not in (None, *COMMANDS):
        parser.error(unknown_name("command", str(command), COMMANDS))
    args = parser.parse_args(argv)
    return guarded(args.run, args)


def guarded(run: Callable[[argparse.Namespace], int], args: argparse.Namespace) -> int:
    """Return the exit code of ``run(args)``.

    An error becomes a line on stderr and an exit code of its own.
    """
    # If stderr was closed before Python started, sys.stderr is None, and print(file=None) would write to stdout.
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        return _failed("stdout is closed: redirect it to a file or to /dev/null", BAD_INPUT)
    text = ""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = run(args)
    except BrokenPipeError:  # The reader of the output, such as `head`, has closed the output.
        code = OK
    except (Exception, KeyboardInterrupt) as error:
        if getattr(args, "debug", False):
            raise
        text, code = _message(error), next(code for kind, code in _CODES if isinstance(error, kind))
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python flushes stdout again at exit, which would fail again, so stdout now leads to /dev/null.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            text, code = _message(error), BAD_INPUT
    return _failed(text, code) if text else code


def _failed(text: str, code: int) -> int:
    print(f"clgraph: {text}", file=sys.stderr)
    return code


def _show_warning(message: Warning | str, *where: object, **more: object) -> None:
    print(f"clgraph: warning: {message}", file=sys.stderr)


def build_parser() -> argparse.ArgumentParser:
    """Return the argument parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="clgraph", description="Irregular graph algorithms on any OpenCL device.", epilog=_EPILOG
    )
    parser.add_argument("--version", action="version", version=f"clgraph {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        entry: Any = GRAPH_COMMANDS.get(name) or importlib.import_module(f"clgraph.cli.{name}")
        about = entry.help if name in GRAPH_COMMANDS else entry.HELP
        command = commands.add_parser(name, help=about, description=f"{about}.", epilog=_EPILOG)
        command.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        entry.add_arguments(command)
        command.set_defaults(run=entry.run)
    return parser


def _message(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, errors.ClgraphError):
        return str(error)
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename or 'stdout'}: {error.strerror}"  # Only errors of files have a filename.
    return f"{type(error).__name__}: {error} (--debug shows where)"


if __name__ == "__main__":
    sys.exit(main())
