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
import inspect
import os
import random
import subprocess
import sys
import tempfile
import threading
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import fuzzing  # first: later imports then find the clgraph of this checkout
import numpy as np
from hostile_values import HOSTILE, TWISTS
from scipy.spatial import Delaunay

import clgraph as cg
from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.arguments import shown
from clgraph.errors import ClgraphError, VerificationError
from clgraph.probing import api as probing

EXTRA_BYTES = 3 << 30  # The address space of a child may grow by this during the calls.
LONGEST_SECONDS = 60.0  # A call may have to compile a kernel.
OF_PLANS = {"wait", "program", "check_memory", "run_info"}


class Target(NamedTuple):
    """Something to call, good values for the parameters that need one, and all parameters and options."""

    name: str
    call: Callable[..., Any]
    good: dict[str, Any]
    hostile: tuple[str, ...]
    options: tuple[tuple[dict[str, Any], str], ...]


def good_values(directory: Path, session: Any) -> dict[str, Any]:
    """Return values by name of a parameter, or of a function and its parameter; others go by the annotation."""
    graph = cg.generators.random_weights(cg.generators.rmat(5, 4, seed=1), 1)
    ratings = cg.generators.planted_ratings(9, 9, 60)
    rows = (session.upload(array) for array in (graph.row_offsets, graph.column_indices))
    on_device = cg.DeviceGraph.from_arrays(session, *rows, directed=False)
    path = directory / "edges.txt"
    path.write_text("0 1 2.5\n1 2 3\n", encoding="ascii")
    planar = cg.PlanarGraph.from_arrays([[0, 0], [2, 0], [2, 1], [0, 1]], [[0, 1], [1, 2], [2, 3], [3, 0]])
    cg.write_planar_graph(planar, directory / "planar.poly")
    cg.write_mesh(planar.triangulate(), directory / "mesh.ele")
    return {
        "graph": graph, "data": graph, "source": 0, "matrix": graph.to_scipy(), "path": path, "session": session,
        "src": [0, 1], "dst": [1, 2], "row_offsets": [0, 1, 2], "column_indices": [1, 0], "algorithm": "bfs",
        "users": [0, 1], "items": [0, 1], "values": [1.0, 2.0], "ids": [0], "user": 0, "vertex": 0,
        "colors": np.arange(graph.n_vertices), "parts": np.arange(graph.n_vertices) % 4, "n_parts": 4,
        "SplitGraph:parts": [[on_device]], "hash": "murmur3", "bits": 3, "n_ratings": 20,
        "X": ratings, "ratings": ratings, "n_users": 9, "n_items": 9, "document": session.profile.to_json(),
        "dtype": np.int32, "host": np.arange(5), "verify": True, "callback": lambda *_: True,  # True ends a fit
        "mesh": planar.triangulate(), "write_planar_graph:graph": planar, "points": planar.points,
        "segments": planar.segments, "triangles": [[0, 1, 2], [0, 2, 3]], "triangulation": Delaunay(planar.points),
        "read_planar_graph:path": directory / "planar.poly", "write_planar_graph:path": directory / "planar.poly",
        "read_mesh:path": directory / "mesh.ele", "write_mesh:path": directory / "written.vtu",
        "write_mesh:cell_data": {"heat": [1.0, 2.0]},
    }  # fmt: skip


def good_value(name: str, parameter: inspect.Parameter, known: dict[str, Any]) -> Any:
    for key in (f"{name}:{parameter.name}", parameter.name):
        if key in known:
            return known[key]
    by_type = {"int": 4, "float": 0.5, "bool": False, "str": "x", "ArrayLike": [0, 1], "Seed": 1}
    return by_type.get(str(parameter.annotation).split(" | ")[0], known["graph"])


def is_ours(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).startswith("clgraph")


def public() -> Iterator[tuple[str, Any]]:
    """Yield all public names with their objects; a module gives its functions."""
    for name in cg.__all__:
        found = getattr(cg, name)
        if isinstance(found, types.ModuleType):
            yield from ((f"{name}.{inner}", getattr(found, inner)) for inner in found.__all__)
        elif callable(found):
            yield name, found


def options_of(module: types.ModuleType, known: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the options that a function of *module* hands on, each with the arguments that it belongs to."""
    for name in MODULES if hasattr(module, "find_algorithm") else ():
        entry = find_algorithm(name)
        data = {"ratings": known["X"], "mesh": known["mesh"]}.get(entry.takes, known["graph"])
        yield from (({"algorithm": name, "data": data}, option) for option in keyword_only(entry.problem))
    for name, strategy in getattr(module, "STRATEGIES", {}).items():
        yield from (({"strategy": name}, option) for option in keyword_only(strategy.plan))


def keyword_only(function: Any) -> list[str]:
    fixed = getattr(function, "keywords", {})  # A partial has these already.
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in fixed]


def target(name: str, call: Callable[..., Any], known: dict[str, Any]) -> Target:
    parameters = inspect.signature(call).parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    good = {p.name: good_value(name, p, known) for p in named if p.default is p.empty or p.name == "session"}
    names, options = tuple(p.name for p in named), ()
    good |= {key: known[key] for key in ("verify", "callback") if key in names}
    module = sys.modules[call.__module__]
    if len(named) < len(parameters):
        options = tuple(options_of(module, known))
    if "strategy_options" in names:  # an estimator, which looks at the arguments of its constructor when it fits
        options = tuple(options_of(sys.modules[str(module.__package__)], known))
        stop = known["callback"]
        return Target(name, lambda **given: call(**given).fit(known["X"], callback=stop), good, names, options)
    return Target(name, call, good, names, options)


def targets(known: dict[str, Any]) -> list[Target]:
    """Return everything public: functions, constructors that check, and methods of the answers of good calls."""
    found, samples = [], {type(value): value for value in known.values() if is_ours(type(value))}
    classes = [known_class for _, known_class in public() if inspect.isclass(known_class)]
    for name, thing in public():
        if inspect.isclass(thing) and holds_anything(thing):
            continue
        found.append(target(name, thing, known))
        made = found[-1].call(**found[-1].good)
        samples.setdefault(type(made), made)
        if name.startswith("generators.") and "session" in found[-1].good:  # no session: the host makes the graph
            here = {key: value for key, value in found[-1].good.items() if key != "session"}
            found.append(found[-1]._replace(good=here))
    for kind in classes:
        sample = samples.get(kind)
        for inner in dir(kind):
            method = inspect.getattr_static(kind, inner)
            is_static = isinstance(method, classmethod | staticmethod)
            if inner[0] == "_" or inner in OF_PLANS or not (is_static or inspect.isfunction(method)):
                continue
            if is_ours(method) and (is_static or sample is not None):
                found.append(target(f"{kind.__name__}.{inner}", getattr(kind if is_static else sample, inner), known))
    return found


def holds_anything(kind: type) -> bool:
    """Whether this is a tuple or a dataclass whose constructor checks nothing: a result, not an input."""
    return issubclass(kind, tuple) or kind.__init__.__code__.co_filename == "<string>"  # type: ignore[misc]


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
        cg.Graph(*arrays, answer.directed, answer.labels)
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
