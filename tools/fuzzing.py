"""The common part of the fuzzers: limits of a child process, options, and the counts of all ends."""

from __future__ import annotations

import argparse
import resource
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]


def limit_memory(more_bytes: int) -> None:
    """Let the address space of this process grow by at most *more_bytes*; leave no core dumps."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])  # in use
    limit = pages * resource.getpagesize() + more_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def parser(module: str | None) -> argparse.ArgumentParser:
    """Return a parser with the seed; *module* is a docstring."""
    made = argparse.ArgumentParser(description=module, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--seed", type=int, default=0)
    return made


def print_ends(ends: Counter[str]) -> None:
    for end, times in ends.most_common():
        print(f"{times:8} {end}")
