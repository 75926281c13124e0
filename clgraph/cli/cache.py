"""The command ``clgraph cache``, which shows or clears the cache directory."""

from __future__ import annotations

import argparse
import contextlib
import shutil
from pathlib import Path

from clgraph.cli.options import add_json
from clgraph.cli.terminal import print_json, print_table

HELP = "show or clear what is cached: profiles, kernels, graphs, verdicts of self-tests"
_FILES = {
    "profiles": ("profiles/**/*",),
    "kernels": ("pocl/**/*", "pyopencl/**/*", "gpu/**/*"),
    "graphs": ("graphs/**/*", "*.clgraph"),
    "tests": ("self-tests/*.json", "drivers/*.json"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show", "clear"), nargs="?", default="show")
    parser.add_argument("what", choices=(*_FILES, "all"), nargs="?", default="all", help="part to clear (default: all)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.runtime.programs.cache import build_lock, remove_unused
    from clgraph.user_cache import cache_root

    if args.action == "clear":
        with build_lock():  # While this process holds the lock, no process writes compiled kernels into the cache.
            for name in _FILES if args.what == "all" else (args.what,):
                if name == "kernels":
                    remove_unused()
                    for folder in ("pyopencl", "gpu"):
                        shutil.rmtree(cache_root() / folder, ignore_errors=True)
                    continue
                for path in _files(cache_root(), name):
                    path.unlink(missing_ok=True)
    sizes = {name: _sizes(_files(cache_root(), name)) for name in _FILES}
    if args.json:
        parts = {name: {"files": len(found), "bytes": sum(found)} for name, found in sizes.items()}
        print_json({"path": str(cache_root()), **parts})
        return 0
    print(f"{cache_root()}\n")
    print_table(
        ["cache", "files", "MiB"],
        [[name, len(found), f"{sum(found) / 2**20:.1f}"] for name, found in sizes.items()],
    )
    return 0


def _files(root: Path, name: str) -> list[Path]:
    return [path for pattern in _FILES[name] for path in root.glob(pattern) if path.is_file()]


def _sizes(files: list[Path]) -> list[int]:
    sizes = []
    for path in files:
        with contextlib.suppress(OSError):  # Another process has removed the file, so the file is left out.
            sizes.append(path.stat().st_size)
    return sizes
