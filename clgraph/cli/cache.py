"""``clgraph cache``: what clgraph keeps in its cache directory, and how to be rid of it."""
from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from clgraph.cli.options import add_json
from clgraph.cli.terminal import print_json, print_table

HELP = "show or clear what is cached: profiles, kernels, graphs"
_FOLDERS = {"profiles": "profiles", "kernels": "pocl", "graphs": "graphs"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show", "clear"), nargs="?", default="show")
    parser.add_argument(
        "what", choices=(*_FOLDERS, "all"), nargs="?", default="all", help="part to clear (default: all)"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.runtime.cache import build_lock, cache_root

    folders = {name: cache_root() / folder for name, folder in _FOLDERS.items()}
    if args.action == "clear":
        for name, folder in folders.items():
            if args.what in (name, "all") and folder.exists():
                with build_lock():  # nobody compiles into it now
                    shutil.rmtree(folder)
    sizes = {name: _size(folder) for name, folder in folders.items()}
    if args.json:
        parts = {name: {"files": files, "bytes": n_bytes} for name, (files, n_bytes) in sizes.items()}
        print_json({"path": str(cache_root()), **parts})
        return 0
    print(f"{cache_root()}\n")
    print_table(
        ["cache", "files", "MiB"],
        [[name, files, f"{n_bytes / 2**20:.1f}"] for name, (files, n_bytes) in sizes.items()],
    )
    return 0


def _size(folder: Path) -> tuple[int, int]:
    """Return number and total size of the files under *folder*; others may be removing them."""
    files = n_bytes = 0
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                files, n_bytes = files + 1, n_bytes + path.stat().st_size
        except OSError:
            continue
    return files, n_bytes
