#!/usr/bin/env python3
"""Damage valid files of every kind that clgraph reads, and see that nothing worse than a ClgraphError comes of it.

    tools/fuzz_readers.py [--files N] [--reader NAME ...] [--seed S] [--first I] [--keep FOLDER]

Each file is read by a child process with a limit of memory and time. Right outcomes are "read" (what came of it is
valid, it is what a second reader finds in edge lists and ratings, and where a checksum covers the file it is what
was written) and "refused" (a ClgraphError). Anything else is
printed with the command that repeats it: a crash, a hang, more than MOST_SECONDS or MOST_BYTES, another exception, an
invalid result. The exit status is 1 if there was any.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import fuzzing  # first: later imports then find the clgraph of this checkout
import numpy as np
from fuzz_files import READERS, Reader

from clgraph.errors import ClgraphError

MOST_SECONDS = 10  # per file
MOST_BYTES = 1 << 30  # One file may add this much to the memory of the process.
BATCH = 2000  # files for one child
READ, REFUSED, FAILED = "read", "refused", "FAILED"


def damaged(reader: Reader, name: str, seed: int, number: int) -> tuple[bytes, int, bool]:
    """Return file *number*, the index of the original it was made from, and whether a checksum covers the damage."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
    which = int(rng.integers(len(reader.originals)))
    damage, is_covered = reader.damages[rng.integers(len(reader.damages))]
    content = reader.originals[which]
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        content = damage(content, rng)
    return content, which, is_covered


def outcomes(name: str, seed: int, numbers: range, folder: Path) -> Iterator[str]:
    """Read these files one after the other; yield the outcome of each, with the reason of a failure."""
    reader, file = READERS[name], folder / "file"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [reader.check_content(file, original) for original in reader.originals]
    for number in numbers:
        content, which, is_covered = damaged(reader, name, seed, number)
        started, peak = time.monotonic(), _peak_bytes()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                reader.check_content(file, content, expected[which] if is_covered else None)
            outcome = READ
        except ClgraphError as error:
            outcome = REFUSED
            if _ran_out_of_memory(error):
                outcome = f"{FAILED} refused only when memory ran out: {error}"
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            outcome = f"{FAILED} {type(error).__name__}: {error}"
        if (seconds := time.monotonic() - started) > MOST_SECONDS:
            outcome = f"{FAILED} {seconds:.0f} s"
        if (more := _peak_bytes() - peak) > MOST_BYTES:
            outcome = f"{FAILED} {more >> 20} MiB"
        yield " ".join(outcome.split())


def _ran_out_of_memory(error: BaseException | None) -> bool:
    """Return whether numpy asked for more than there was; Python's parser says MemoryError of mere depth."""
    while error is not None:
        if isinstance(error, MemoryError) and "allocate" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _peak_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _child(name: str, seed: int, numbers: range) -> None:
    """Print the outcome of each file, within a limit of memory."""
    fuzzing.limit_memory(2 * MOST_BYTES)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CLGRAPH_CACHE_DIR"] = folder
        for outcome in outcomes(name, seed, numbers, Path(folder)):
            print(outcome, flush=True)


def fuzz(name: str, seed: int, numbers: range, keep: Path | None = None) -> Counter[str]:
    """Have children read these files; print the failures and return the number of each outcome."""
    counts: Counter[str] = Counter()
    while numbers:
        batch = numbers[:BATCH]
        command = [sys.executable, __file__, "--child", "--reader", name, "--seed", str(seed)]
        command += ["--first", str(batch.start), "--files", str(len(batch))]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60 + BATCH / 4, check=False)
            lines, end = done.stdout.splitlines(), f"{FAILED} exit status {done.returncode}: {done.stderr[-500:]}"
        except subprocess.TimeoutExpired as expired:
            lines, end = (expired.stdout or b"").decode().splitlines(), f"{FAILED} hangs"
        if len(lines) < len(batch):
            lines.append(end)
        for number, outcome in zip(batch, lines, strict=False):
            counts[outcome.split()[0]] += 1
            if outcome.startswith(FAILED):
                print(f"--reader {name} --seed {seed} --first {number} --files 1: {outcome}", flush=True)
                if keep is not None:
                    (keep / f"{name}-{seed}-{number}").write_bytes(damaged(READERS[name], name, seed, number)[0])
        numbers = numbers[len(lines) :]
    return counts


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line *argv* and return its exit status."""
    parser = fuzzing.parser(__doc__)
    parser.add_argument("--files", type=int, default=40_000, help="how many of each kind (40,000)")
    parser.add_argument("--reader", action="append", choices=READERS, metavar="NAME", help=f"of {', '.join(READERS)}")
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the files that failed there")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    numbers = range(args.first, args.first + args.files)
    if args.child:
        _child(args.reader[0], args.seed, numbers)
        return 0
    if args.keep is not None:
        args.keep.mkdir(parents=True, exist_ok=True)
    total: Counter[str] = Counter()
    for name in args.reader or READERS:
        counts = fuzz(name, args.seed, numbers, args.keep)
        print(_line(name, counts), flush=True)
        total += counts
    print(_line("all", total))
    return 1 if total[FAILED] else 0


def _line(name: str, counts: Counter[str]) -> str:
    return f"{name:16} {counts[READ]:6} read, {counts[REFUSED]:6} refused, {counts[FAILED]:6} failed"


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
