#!/usr/bin/env python3
"""Call everything public with hostile arguments, and report calls that neither answer rightly nor refuse.

    tools/fuzz_arguments.py [--calls 5000] [--seed 0] [--device pocl]

Functions, constructors, methods and generators are found by the package's public names; their parameters by their
signatures, and the options of strategies by the signatures of their plans. All arguments of a call are good but one or
two. It passes if it raises a ClgraphError, or a TypeError for a wrong name or number of arguments, or if its answer
holds: algorithms verify theirs, graphs and ratings are checked again. A child process makes the calls, with limited
memory and time; one that dies is told with its call, and another goes on. The exit status is 1 if a call failed.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import fuzzing  # first: later imports then find the clgraph of this checkout
import numpy as np
from argument_targets import Target, good_values, targets
from hostile_values import HOSTILE, TWISTS

import clgraph as cg
from clgraph.arguments import shown
from clgraph.errors import ClgraphError, VerificationError
from clgraph.probing import api as probing

EXTRA_BYTES = 3 << 30  # The address space of a child may grow by this during the calls.
LONGEST_SECONDS = 60.0  # A call may have to compile a kernel.


class Call(NamedTuple):
    """A call to be made."""

    target: Target
    arguments: dict[str, Any]
    is_named_wrongly: bool

    def __str__(self) -> str:
        hostile = {k: v for k, v in self.arguments.items() if v is not self.target.good.get(k, self)}
        return f"{self.target.name}({', '.join(f'{k}={shown(v)}' for k, v in hostile.items())})"


def drawn(all_targets: list[Target], seed: int, number: int) -> Call:
    """Return a call: the first ones go through all parameters and options, whose values are random."""
    rng = random.Random(f"{seed} {number}")
    places: list[tuple[Target, dict[str, Any], str]] = [(t, {}, name) for t in all_targets for name in t.hostile]
    places += [(t, given, name) for t in all_targets for given, name in t.options]
    chosen, given, name = places[number] if number < len(places) else rng.choice(places)
    hostile = {name: rng.choice(HOSTILE)()}
    good = chosen.good.get(name)
    if isinstance(good, list | np.ndarray) and np.ndim(good) == 1 and rng.random() < 0.5:
        hostile = {name: rng.choice(TWISTS)(np.asarray(good))}
    if rng.random() < 0.2:
        hostile[rng.choice(chosen.hostile)] = rng.choice(HOSTILE)()
    if given and "strategy_options" in chosen.hostile:
        hostile["strategy_options"] = {name: hostile.pop(name)}
    arguments = {**chosen.good, **given, **hostile}
    is_named_wrongly = rng.random() < 0.02
    if is_named_wrongly:
        arguments["no_such_name"] = 1
    return Call(chosen, arguments, is_named_wrongly)


def check_answer(answer: Any) -> None:
    """Raise unless the arrays of a graph, of ratings or of a mesh are valid, also of several."""
    if isinstance(answer, cg.Graph):
        arrays = answer.row_offsets, answer.column_indices, answer.edge_weights
        cg.Graph(*arrays, answer.directed, answer.ids)
    elif isinstance(answer, cg.Ratings):
        arrays = answer.users, answer.items, answer.values
        cg.Ratings(*arrays, *answer.shape, answer.user_ids, answer.item_ids)
    elif isinstance(answer, cg.TriangleMesh):
        cg.TriangleMesh.from_arrays(answer.points, answer.triangles, answer.segments)
    elif type(answer) is tuple:
        for part in answer:
            check_answer(part)


def fault(call: Call) -> str | None:
    """Make the call; return the fault in its end, or ``None``."""
    try:
        answer = call.target.call(**call.arguments)
    except VerificationError as error:
        return f"wrong answer: {error}"
    except ClgraphError as error:
        return None if str(error) else "an error without a message"
    except Exception as error:
        is_right = call.is_named_wrongly and isinstance(error, TypeError) and "no_such_name" in str(error)
        return None if is_right else refusal(error)
    try:
        check_answer(answer)
    except ClgraphError as error:
        return f"wrong answer: {error}"
    return None


def refusal(error: Exception) -> str | None:
    """Return the fault of a refusal by another error, or ``None`` if scikit-learn's own checks made it."""
    frames = traceback.extract_tb(error.__traceback__)
    if any("sklearn" in Path(frame.filename).parts for frame in frames):
        return None
    ours = [frame for frame in frames if "clgraph" in Path(frame.filename).parts]
    at = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__} at {at}: {str(error)[:200]}"


def child(seed: int, first: int, last: int, device: str) -> None:
    """Make calls *first* to *last* - 1; print the number of each before it, and its fault after it."""
    probing.FULL, probing.save_profile = probing.QUICK, lambda *_: Path()  # a busy machine's rates are not kept
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        all_targets = targets(good_values(Path(directory), cg.Session(device)))
        fuzzing.limit_memory(EXTRA_BYTES)
        print("ready", flush=True)
        for number in range(first, last):
            call = drawn(all_targets, seed, number)
            print("call", number, call, flush=True)
            if (wrong := fault(call)) is not None:
                print("fault", wrong.replace("\n", " "), flush=True)
    print("end", flush=True)


def made(command: list[str], first: int, last: int) -> tuple[int, int]:
    """Have a child make calls from *first* on and print their faults; return the next call and how many failed."""
    process = subprocess.Popen([*command, "--child", str(first), str(last)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    number, call, faults, is_ready = first, "", 0, False
    timer = threading.Timer(LONGEST_SECONDS, process.kill)
    for line in process.stdout:
        word, _, rest = line.rstrip().partition(" ")
        if word == "ready":
            is_ready = True
        elif word == "call":
            timer.cancel()
            timer = threading.Timer(LONGEST_SECONDS, process.kill)
            timer.start()
            call, number = rest, int(rest.partition(" ")[0])
        elif word == "fault":
            faults += 1
            print(f"{call}: {rest}", flush=True)
    timer.cancel()
    if not is_ready:
        raise SystemExit("the calls with good arguments failed")
    if process.wait() != 0:
        faults += 1
        print(f"{call}: the process ended with {process.returncode}, or took {LONGEST_SECONDS} s", flush=True)
        return number + 1, faults
    return last, faults


def main() -> int:
    parser = fuzzing.parser(__doc__)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--child", type=int, nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.seed, *args.child, args.device)
        return 0
    next_call = n_faults = 0
    while next_call < args.calls:
        command = [sys.executable, __file__, "--seed", str(args.seed), "--device", args.device]
        next_call, more = made(command, next_call, args.calls)
        n_faults += more
    print(f"{args.calls} calls, {n_faults} faults")
    return int(n_faults > 0)


if __name__ == "__main__":
    sys.exit(main())
