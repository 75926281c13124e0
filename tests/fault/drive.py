"""Makes every OpenCL call of some work fail in turn: ``LD_PRELOAD=clfault.so python drive.py WORK SHIM``.

Prints a JSON object: for each function, how many calls it got and what came of their failures. What must
not come of one is in ``bad``.
"""

import ctypes
import gc
import json
import logging
import re
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from clgraph.algorithms.bfs import bfs  # noqa: E402
from clgraph.algorithms.color import color  # noqa: E402
from clgraph.algorithms.color.conflicts import count_conflicts  # noqa: E402
from clgraph.algorithms.connected_components import connected_components  # noqa: E402
from clgraph.algorithms.factorization.factors import initial_factors  # noqa: E402
from clgraph.algorithms.factorization.training.learning_rates import make_schedule  # noqa: E402
from clgraph.algorithms.factorization.training.training import Factorization  # noqa: E402
from clgraph.algorithms.minimum_spanning_forest import minimum_spanning_forest  # noqa: E402
from clgraph.algorithms.partition import partition  # noqa: E402
from clgraph.algorithms.sssp import sssp  # noqa: E402
from clgraph.data.graphs.graph import Graph  # noqa: E402
from clgraph.data.ratings.ratings import Ratings  # noqa: E402
from clgraph.errors import ClgraphError, DeviceError  # noqa: E402
from clgraph.primitives.compact import Compact  # noqa: E402
from clgraph.primitives.scan import Scan  # noqa: E402
from clgraph.primitives.sort import Sort  # noqa: E402
from clgraph.runtime.devices import sub_devices  # noqa: E402
from clgraph.runtime.session import Session  # noqa: E402

OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY, MEM_OBJECT_ALLOCATION_FAILURE, BUILD_PROGRAM_FAILURE = -5, -6, -4, -11
_OBJECTS = ("Context", "CommandQueueWithProperties", "CommandQueue", "ProgramWithSource", "ProgramWithBinary")
SET_UP = {f"clCreate{what}": OUT_OF_HOST_MEMORY for what in _OBJECTS}  # These calls create a session and its programs.
SET_UP["clBuildProgram"] = BUILD_PROGRAM_FAILURE
_COMMANDS = ("NDRangeKernel", "ReadBuffer", "FillBuffer", "CopyBuffer", "MarkerWithWaitList", "Marker")
WORK = {f"clEnqueue{what}": OUT_OF_RESOURCES for what in _COMMANDS}
WORK |= dict.fromkeys(("clSetKernelArg", "clFlush", "clFinish", "clWaitForEvents"), OUT_OF_RESOURCES)
WORK |= dict.fromkeys(("clCreateKernel", "clGetEventInfo", "clGetEventProfilingInfo"), OUT_OF_HOST_MEMORY)
WORK |= dict.fromkeys(("clCreateBuffer", "clEnqueueWriteBuffer"), MEM_OBJECT_ALLOCATION_FAILURE)
# One line of code makes many of these in a row: the arguments of a kernel, the times of events. Each fifth is tried.
IN_ROWS = {"clSetKernelArg": 5, "clGetEventProfilingInfo": 5}
EVER = 2**31 - 1
PARTS: dict[Session, Session] = {}  # session -> a session on a part of its device
PLANS: dict[Session, tuple[Any, ...]] = {}  # session -> the plans and arrays of plans()


def scan(session: Session) -> np.ndarray:
    """Upload, fill, launch, measure and read back."""
    lengths = (np.arange(1001, dtype=np.int32) % 7)[1:]  # not aligned: CPU devices do not read it in place
    with session.measure():
        source = session.upload(lengths)
        target = session.zeros(lengths.size + 1, np.int64)
        Scan(session, source, target).run()
        return target.get()


def plans(session: Session) -> np.ndarray:
    """Run plans that look back, the same ones at each call, twice over."""
    if session not in PLANS:
        x = np.random.default_rng(6).integers(-3, 3, 1000).astype(np.int32)
        source, sums, kept, in_order = session.upload(x), *(session.empty(x.size, np.int32) for _ in range(3))
        sizes = {"WG_SIZE": 64, "ITEMS_PER_ITEM": 4}
        PLANS[session] = (
            Scan(session, source, sums, strategy="look_back", tuning=sizes),
            Compact(session, x.size, kept, predicate="f[i]", arrays={"f": source}, strategy="look_back", tuning=sizes),
            Sort(session, source, in_order, strategy="onesweep", end_bit=12, tuning={**sizes, "RADIX_BITS": 6}),
            (sums, kept, in_order),
        )
    *operations, results = PLANS[session]
    answers = []
    for _ in range(2):
        for array in results:
            array.fill(0)
        for plan in operations:
            plan.run_checked()
        answers += [array.get() for array in results]
    return np.concatenate(answers)


def components(session: Session) -> np.ndarray:
    """Run two strategies of connected components on a graph that is new to the session."""
    src, dst = np.random.default_rng(5).integers(300, size=(2, 250))
    graph = Graph.from_edges(src, dst, n=300)
    names = ("afforest", "degree_classes")
    return np.concatenate([connected_components(graph, strategy=name, session=session).labels for name in names])


def forests(session: Session) -> np.ndarray:
    """Find a spanning forest by the ranks of 64-bit weights, on a graph that is new to the session."""
    rng = np.random.default_rng(9)
    graph = Graph.from_edges(*rng.integers(30, size=(2, 50)), rng.integers(2**40, size=50), n=30)
    return minimum_spanning_forest(graph, strategy="edge_list", session=session, light_edges=0).edges


def devices(session: Session) -> np.ndarray:
    """Split a graph over the device and a part of it, and merge components and forests."""
    if session not in PARTS:
        (PARTS[session],) = sub_devices(session.device, [1])
    team = [session, PARTS[session]]
    src, dst = np.random.default_rng(4).integers(300, size=(2, 250))
    graph = Graph.from_edges(src, dst, (src + dst) % 7, n=300)
    labels = connected_components(graph, devices=team, shares="equal", strategy="rem").labels
    return np.concatenate([labels, minimum_spanning_forest(graph, devices=team, shares="equal").edges])


def searches(session: Session) -> np.ndarray:
    """Search breadth-first, and find shortest paths, some edges of weight 0, on a graph that is new to the session."""
    graph = Graph.from_edges(range(40), range(1, 41), np.arange(40) % 3)
    paths = sssp(graph, 0, strategy="delta_stepping", predecessors=True, session=session)
    return np.concatenate([*paths, bfs(graph, 0, strategy="frontier", session=session).distances])


def colorings(session: Session) -> np.ndarray:
    """Repair a hash colouring at distance 2 of a graph that is new to the session, and count what it had to."""
    graph = Graph.from_edges(range(40), range(1, 41))
    options = {"strategy": "hash_repair", "hash": "gray", "bits": 1, "deterministic": True}
    colors = color(graph, distance=2, session=session, **options).colors
    return np.append(colors, count_conflicts(graph, np.arange(41) % 2, distance=2, session=session))


def partitions(session: Session) -> np.ndarray:
    """Partition a graph that is new to the session, on two levels."""
    src, dst = np.random.default_rng(8).integers(200, size=(2, 400))
    graph = Graph.from_edges(src, dst, n=200)
    return partition(graph, 2, strategy="gpu", coarsest=1, individuals=1, deterministic=True, session=session).parts


def factorization(session: Session) -> np.ndarray:
    """Train one epoch by an online and an offline strategy; no two ratings share a vertex, so any order is right."""
    rng = np.random.default_rng(7)
    ratings = Ratings.from_triples(range(40), rng.permutation(40), rng.normal(size=40))
    answers = []
    for name in ("node_locked", "diagonal"):
        engine = Factorization(session, ratings, rank=4, strategy=name)
        engine.model.set(initial_factors(40, 40, 4, scale=1.0, biases=False, rng=np.random.default_rng(8)))
        (epoch,) = engine.train(1, schedule=make_schedule("constant", 0.1))
        answers += [np.array([epoch.loss]), *(rows.ravel() for rows in engine.model.get()[:2])]
    return np.concatenate(answers)


class Driver:
    """Runs *work* with one function failing, on a session that lives on or a new one each time."""

    def __init__(self, work, shim: ctypes.CDLL, fresh: bool) -> None:
        self.work, self.shim, self.fresh = work, shim, fresh
        self.session = Session("pocl")
        self.expected = work(self.session)
        gc.collect()
        gc.freeze()  # live() is faster if its collections skip the objects that exist now

    def attempt(self) -> str:
        for program in self.session.programs.built.values():
            program.idle.clear()  # each attempt makes its kernels itself
        try:
            answer = self.work(Session("pocl") if self.fresh else self.session)
        except DeviceError as error:
            return type(error).__name__
        except ClgraphError as error:
            return f"{type(error).__name__}, which is no DeviceError"
        except Exception as error:
            return f"UNTYPED {type(error).__name__}: {str(error)[:200]}"
        return "right all the same" if np.array_equal(answer, self.expected) else "SILENTLY WRONG"

    def live(self) -> int:
        gc.collect()
        for session in (self.session, *PARTS.values()):
            session.release()
        gc.collect()
        return self.shim.clfault_live_memory_objects()

    def fail(self, function: str, code: int, first: int, last: int) -> tuple[str, int]:
        """Return what came of failing calls *first* to *last*, and how many calls there were."""
        before = self.live()
        self.shim.clfault_arm(function.encode(), first, last, code)
        outcome = self.attempt()
        failures, calls = self.shim.clfault_failures(), self.shim.clfault_calls()
        self.shim.clfault_disarm()
        if not failures and first < EVER:
            outcome = f"not reached, {outcome}"  # some calls depend on time: clGetEventInfo, clFlush
        if (leaked := self.live() - before) > 0:
            outcome += f", {leaked} buffers LEAKED"
        after = self.attempt()
        if after != "right all the same":
            outcome += f", and UNUSABLE afterwards: {after}"
        return outcome, calls


def main(name: str, shim: str) -> None:
    warnings.simplefilter("ignore")  # pyopencl warns of failures in its destructors
    logging.disable()
    library = ctypes.CDLL(shim)
    report: dict[str, object] = {}
    bad = []
    works = (scan, plans, components, forests, factorization, searches, colorings, partitions, devices)
    work = next(work for work in works if work.__name__ == name)
    for functions in (WORK, SET_UP) if work is scan else (WORK,):
        driver = Driver(work, library, fresh=functions is SET_UP)
        for function, code in functions.items():
            outcome, calls = driver.fail(function, code, EVER, EVER)
            if outcome != "right all the same":
                bad.append(f"{function} counted: {outcome}")
            # Each call fails once; and from some on, all later ones of its kind fail, too.
            tried = min(calls, 4) if function == "clGetEventInfo" else calls
            failures = [(n, n) for n in range(1, tried + 1, IN_ROWS.get(function, 1))]
            failures += [(n, EVER) for n in sorted({1, 2, tried // 2, tried} & set(range(1, tried + 1)))]
            outcomes = Counter(driver.fail(function, code, *failure)[0] for failure in failures)
            report[function] = {"calls": calls, **outcomes}
            bad += [f"{function}: {o} ({k} times)" for o, k in outcomes.items() if re.search(r"[A-Z]{3}", o)]
    print(json.dumps({"bad": bad, "report": report}))


if __name__ == "__main__":
    main(*sys.argv[1:])
