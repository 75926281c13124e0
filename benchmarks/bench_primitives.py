"""Time the device primitives beside CuPy (if importable) and numpy.

    benchmarks/bench_primitives.py --device nvidia --json primitives.json

A row is one primitive on one dtype and size: the median and least sum of its kernels' device times, items and bytes per
second (the bytes that must move: each input read and each output written once, for a sort once a pass), and the seconds
of every kernel. Each result is checked against numpy after it was timed.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import harness
import numpy as np

from clgraph.errors import VerificationError
from clgraph.primitives.compact import Compact
from clgraph.primitives.fill import Fill
from clgraph.primitives.reduce import Reduce
from clgraph.primitives.scan import Scan
from clgraph.primitives.segmented import SegmentedReduce, SegmentedSort
from clgraph.primitives.sort import Sort
from clgraph.runtime.session import Session

Array = np.ndarray[Any, Any]
_UNWRITTEN = 77


@dataclass
class Case:
    """One plan to time, the bytes it moves, and the check of its result."""

    primitive: str
    dtype: str
    n: int
    n_bytes: int
    plan: Any
    outputs: tuple[Any, ...]
    verify: Callable[[], None]


class Inputs:
    """Random host arrays and their device copies, made once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rng = np.random.default_rng(1)
        self._made: dict[tuple[str, int], tuple[Array, Any]] = {}

    def __call__(self, dtype: str, n: int) -> tuple[Array, Any]:
        if (dtype, n) not in self._made:
            host = self._rng.integers(0, 2**32, n, dtype=np.uint32)
            if dtype.endswith("64"):
                host = host.astype(np.uint64) << np.uint64(32) | host
            host = host.astype(np.float32) if dtype == "float32" else host.view(dtype)
            self._made[dtype, n] = host, self._session.upload(host)
        return self._made[dtype, n]


def _check(found: Array, wanted: Array) -> None:
    if found.shape != wanted.shape:
        raise VerificationError(f"{found.size} items; numpy finds {wanted.size}")
    if (wrong := found != wanted).any():
        at = int(wrong.argmax())
        raise VerificationError(f"item {at} is {found[at]}; numpy finds {wanted[at]}")


def _case(
    primitive: str, dtype: str, n: int, n_bytes: int, plan: Any, output: Any, wanted: Callable[[], Array]
) -> Case:
    """Return the case of a primitive with one output, which must be *wanted*."""
    return Case(primitive, dtype, n, n_bytes, plan, (output,), lambda: _check(output.get(), wanted()))


def scan_case(session: Session, inputs: Inputs, dtypes: str, n: int) -> Case:
    source_type, _, sum_type = dtypes.partition(">")
    host, source = inputs(source_type, n)
    target = session.empty(n, sum_type or source_type)
    plan, moved = Scan(session, source, target, inclusive=True), source.nbytes + target.nbytes
    return _case("scan", dtypes, n, moved, plan, target, lambda: np.cumsum(host, dtype=target.dtype))


def sort_case(session: Session, inputs: Inputs, dtype: str, n: int, pairs: bool = False) -> Case:
    host, source = inputs(dtype, n)
    target = session.empty(n, dtype)
    if not pairs:
        plan = Sort(session, source, target)
        return _case("sort", dtype, n, (2 * plan.n_passes + 1) * source.nbytes, plan, target, lambda: np.sort(host))
    index = session.upload(np.arange(n, dtype=np.uint32))
    order = session.empty(n, np.uint32)
    plan = Sort(session, source, target, index, order)
    moved = (2 * plan.n_passes + 1) * source.nbytes + 2 * plan.n_passes * index.nbytes

    def check() -> None:
        wanted = np.argsort(host, kind="stable")
        _check(order.get(), wanted)
        _check(target.get(), host[wanted])

    return Case("sort pairs", dtype, n, moved, plan, (target, order), check)


def reduce_case(session: Session, inputs: Inputs, dtype: str, n: int, operation: str) -> Case:
    host, source = inputs(dtype, n)
    if (dtype, operation) == ("float32", "sum"):  # small odd numbers: a sum in any order is exact, and none is lost
        host = (inputs("int32", n)[0] >> 24 | 1).astype(np.float32)
        source = session.upload(host)
    one = session.empty(1, dtype)
    in_type = {"dtype": host.dtype} if operation == "sum" else {}
    plan = Reduce(session, source, one, operation)
    wanted = partial(getattr(host, operation), keepdims=True, **in_type)
    return _case(f"reduce {operation}", dtype, n, source.nbytes, plan, one, wanted)


def compact_case(session: Session, inputs: Inputs, n: int) -> Case:
    host, source = inputs("uint32", n)
    kept = session.empty(n, np.int32)
    plan = Compact(session, n, kept, predicate="x[i] & 1u", arrays={"x": source})

    def check() -> None:
        _check(kept.get(0, plan.size.item()), np.flatnonzero(host & 1))

    return Case("compact half", "uint32", n, 6 * n, plan, (kept, plan.size), check)


def segmented_cases(session: Session, inputs: Inputs, n: int) -> Iterator[Case]:
    lengths = np.random.default_rng(2).integers(0, 33, n // 16)
    offsets = np.minimum(np.concatenate([[0], np.cumsum(lengths)]), n)
    offsets[-1] = n
    row_offsets = session.upload(offsets.astype(np.int32))
    host, values = inputs("int32", n)
    sums, in_rows = session.empty(lengths.size, np.int32), session.empty(n, np.int32)

    def wanted_sums() -> Array:
        total = np.concatenate([[0], np.cumsum(host, dtype=np.int64)])
        return (total[offsets[1:]] - total[offsets[:-1]]).astype(np.int32)

    def wanted_rows() -> Array:
        return host[np.lexsort((host, np.repeat(np.arange(lengths.size), np.diff(offsets))))]

    moved = values.nbytes + row_offsets.nbytes + sums.nbytes
    plan: Any = SegmentedReduce(session, row_offsets, values, sums)
    yield _case("segmented sum", "int32", n, moved, plan, sums, wanted_sums)
    plan = SegmentedSort(session, row_offsets, values, in_rows)
    yield _case("segmented sort", "int32", n, 2 * values.nbytes, plan, in_rows, wanted_rows)


def cases(session: Session, inputs: Inputs, n: int) -> Iterator[Case]:
    for dtypes in ("int32", "int32>int64", "int64"):
        yield scan_case(session, inputs, dtypes, n)
    filled = session.empty(n, np.int32)
    yield _case("fill", "int32", n, filled.nbytes, Fill(session, filled, 7), filled, lambda: np.full(n, 7, np.int32))
    for dtype, operation in (("int32", "sum"), ("float32", "sum"), ("float32", "max"), ("int64", "min")):
        yield reduce_case(session, inputs, dtype, n, operation)
    yield compact_case(session, inputs, n)
    yield from segmented_cases(session, inputs, n)
    for dtype in ("uint32", "float32", "uint64"):
        yield sort_case(session, inputs, dtype, n)
    yield sort_case(session, inputs, "uint32", n, pairs=True)


def measure(session: Session, case: Case, repeats: int, budget_seconds: float = 60.0) -> dict[str, Any]:
    """Return the row of *case*, timed and checked."""
    for array in case.outputs:  # their memory may still hold the answer of an earlier case
        array.fill(array.dtype.type(_UNWRITTEN))
    timing = harness.time_run(session, case.plan.run, repeats=repeats, budget_seconds=budget_seconds)
    if hasattr(case.plan, "check"):
        case.plan.check()
    with harness.naming(f"{case.primitive} of {case.n} {case.dtype}"):
        case.verify()
    seconds = timing.kernel_seconds, timing.least_kernel_seconds
    row = _row(case.primitive, case.dtype, case.n, "clgraph", case.n_bytes, *seconds)
    return {**row, "repeats": timing.repeats, "verified": True, "kernels": timing.kernels}


def _row(primitive: str, dtype: str, n: int, by: str, n_bytes: int, median: float, least: float) -> dict[str, Any]:
    rates = {"items_per_second": n / median, "gigabytes_per_second": 1e-9 * n_bytes / median}
    return {
        "primitive": primitive, "dtype": dtype, "n": n, "by": by, "seconds": median, "least_seconds": least, **rates,
    }  # fmt: skip


def yardsticks(session: Session, inputs: Inputs, n: int, repeats: int) -> Iterator[dict[str, Any]]:
    """Time numpy beside a CPU device, and CuPy, if it is installed, beside a GPU."""
    work: list[tuple[str, str, int, Callable[[Any, Array], Any]]] = [
        ("scan", "int32", 8 * n, lambda xp, x: xp.cumsum(x, dtype=x.dtype)),
        ("scan", "int64", 16 * n, lambda xp, x: xp.cumsum(x)),
        ("reduce sum", "int32", 4 * n, lambda xp, x: xp.sum(x, dtype=x.dtype)),
        ("sort", "uint32", 8 * n, lambda xp, x: xp.sort(x)),
        ("sort", "uint64", 16 * n, lambda xp, x: xp.sort(x)),
        ("sort pairs", "uint32", 16 * n, lambda xp, x: xp.argsort(x)),
    ]
    cupy = None
    if not session.facts.is_cpu:
        try:
            import cupy
            from cupyx.profiler import benchmark
        except ImportError:
            print("no CuPy here, so nothing to compare with")
            return
    for primitive, dtype, n_bytes, call in work:
        host, _ = inputs(dtype, n)
        if cupy is None:
            _, seconds = harness.timed_calls(partial(call, np, host), min(3, repeats), math.inf)
        else:
            times = benchmark(call, (cupy, cupy.asarray(host)), n_repeat=repeats, n_warmup=harness.WARM_UPS)
            seconds = times.gpu_times[0].tolist()
        by = "numpy" if cupy is None else "cupy"
        row = _row(primitive, dtype, n, by, n_bytes, statistics.median(seconds), min(seconds))
        yield {**row, "repeats": len(seconds)}


def _kernels(row: dict[str, Any]) -> str:
    times = row.get("kernels", {}).items()
    return ", ".join(f"{name} {count}x {1e3 * seconds:.3f}" for name, (count, seconds) in times)


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as text, milliseconds per kernel last."""
    columns: dict[str, harness.Column] = {name: name for name in ("primitive", "dtype", "n", "by")}
    columns |= {"ms": ("seconds", 1e3, ".4g"), "least ms": ("least_seconds", 1e3, ".4g")}
    columns |= {"Gitems/s": ("items_per_second", 1e-9, ".4g"), "GB/s": ("gigabytes_per_second", 1, ".4g")}
    return harness.table_of(({**row, "text": _kernels(row)} for row in rows), columns | {"ms of each kernel": "text"})


def main() -> int:
    parser = harness.parser(__doc__, graphs=False)
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="items (64 Mi and 16 Mi; CPU: 16 Mi)")
    args = parser.parse_args()
    session = Session(args.device)
    inputs = Inputs(session)
    sizes = args.sizes or ([1 << 24] if session.facts.is_cpu else [1 << 26, 1 << 24])
    rows = []
    for n in sizes:
        rows += [measure(session, case, args.repeats, args.budget) for case in cases(session, inputs, n)]
        rows += list(yardsticks(session, inputs, n, args.repeats))
        print(table([row for row in rows if row["n"] == n]), flush=True)
    if args.json:
        about = {"command": harness.command(), "device": session.facts.name, "driver": session.facts.driver_version}
        harness.write_document(args.json, {**about, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
