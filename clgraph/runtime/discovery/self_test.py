"""A self-test of a device, run in a child process before the device's first use: does the device compute correctly?

Some drivers crash the process, and some compilers generate wrong code. So each device runs ``cl/probe/self_test.cl``
once per driver, processor and version of this package. The verdict is stored.

The shipped profiles of CPUs are per runtime. Processors with the same runtime differ most in atomics: by a factor of
two between servers of two vendors. So the test of a CPU also times an atomic operation.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph import __version__
from clgraph.device.facts import DeviceFacts
from clgraph.runtime.discovery.child import STARTED, kept_verdict, run_child
from clgraph.runtime.discovery.query import enumerate_devices, query_facts
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.programs.pocl_cpu import processor
from clgraph.runtime.programs.source import build_input
from clgraph.user_cache import cache_dir

logger = logging.getLogger(__name__)

SOURCE = "probe/self_test.cl"
TIMEOUT_SECONDS = 60.0
_N_ITEMS, _GROUP = 1024, 64
# The timed kernel: work-items per compute unit, operations of each, distance between the words of two groups, and runs.
# The fastest run of the timed kernel counts, because other processes may use the cores.
_TIMED_ITEMS, _TURNS, _STRIDE, _RUNS = 1 << 14, 16, 64, 40
_PROCESSOR = ("vendor_id", "cpu family", "model", "model name", "flags")
_verdicts: dict[cl.Device, dict[str, Any]] = {}


def verdict(device: cl.Device, *, timeout: float = TIMEOUT_SECONDS) -> dict[str, Any]:
    """Return the result of the self-test of *device*.

    The test is run if no result is stored.

    Returns
    -------
    dict
        ``"reason"``: why the device must not be used, or None. ``"build_seconds"`` and ``"run_seconds"``: times of a
        test that ran to its end. ``"exchanges_per_second"``: for a CPU that works, the rate of compare-and-exchange
        attempts if each work-group has its own words.
    """
    if device not in _verdicts:
        _verdicts[device] = kept_verdict(_place(device), {"reason"}, lambda: _judge(device, timeout))
    return _verdicts[device]


def forget() -> None:
    """Delete all stored results of the self-tests of devices."""
    _verdicts.clear()
    for path in cache_dir("self-tests").glob("*.json"):
        path.unlink(missing_ok=True)


def _judge(device: cl.Device, timeout: float) -> tuple[dict[str, Any], bool]:
    """Return a child's verdict, and whether it is about *device*, since the child may also fail to start."""
    device_id = next((key for key, other in enumerate_devices() if other == device), None)
    if device_id is None:  # Without an id, this is a part of a device (a sub-device).
        return {"reason": None}, False
    try:
        with tempfile.TemporaryDirectory(prefix="clgraph-self-test-") as folder:
            # The child gets its own caches, because a process that dies while it compiles leaves damaged caches.
            caches = {"POCL_CACHE_DIR": folder, "PYOPENCL_NO_CACHE": "1"}
            answer = run_child(__name__, device_id, timeout=timeout, **caches)
    except (OSError, RuntimeError) as error:
        logger.debug("device %s is not tested: %s", device_id, error)
        return {"reason": None}, False
    if answer.error is None:
        return answer.document, True
    if answer.died:
        return {"reason": f"its self-test {answer.error}"}, True
    logger.debug("device %s is not tested: %s", device_id, answer.error)
    return {"reason": None}, False


def _place(device: cl.Device) -> Path:
    facts, host = query_facts(device), [processor().get(name) for name in _PROCESSOR]
    known = facts.platform_version, facts.driver_version, facts.name, facts.compute_units
    about = (__version__, *known, *_text(facts), host)
    return cache_dir("self-tests") / f"{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}.json"


def _text(facts: DeviceFacts) -> tuple[str, str]:
    return f"-cl-std={facts.dialect.standard}", build_input(SOURCE, {**facts.defines(), "WG_SIZE": _group_size(facts)})


def _group_size(facts: DeviceFacts) -> int:
    return _GROUP if facts.max_work_group_size >= _GROUP else 1


# The functions below run in the child process.


def examine(device: cl.Device) -> dict[str, Any]:
    """Build the self-test's kernels on *device*, run them, compare every
    value that they wrote, and return the verdict.
    """
    started = time.perf_counter()
    facts = query_facts(device)
    options, text = _text(facts)
    try:
        context = cl.Context([device])
        program = cl.Program(context, text).build([options, "-w"], [device])
        built = time.perf_counter()
        timing = cl.command_queue_properties.PROFILING_ENABLE
        with cl.CommandQueue(context, device, properties=timing) as queue:
            reason = next(_faults(queue, program, facts), None)
            is_timed = facts.is_cpu and reason is None
            rates = {"exchanges_per_second": _exchange_rate(queue, program, facts)} if is_timed else {}
    except cl.Error as error:
        return {"reason": f"its self-test fails: {str(error).strip().splitlines()[0]}"}
    return {"reason": reason, "build_seconds": built - started, "run_seconds": time.perf_counter() - built, **rates}


def _exchange_rate(queue: cl.CommandQueue, program: cl.Program, facts: DeviceFacts) -> float:
    n_items, group = facts.compute_units * _TIMED_ITEMS, _group_size(facts)
    words = np.zeros(n_items // group * _STRIDE, np.int32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    exchanged = cl.Buffer(queue.context, flags, hostbuf=words)
    done = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4 * n_items)
    kernel, least = cl.Kernel(program, "exchanges"), math.inf
    for _ in range(_RUNS):
        event = kernel(queue, (n_items,), (group,), np.uint32(_TURNS), np.uint32(_STRIDE), exchanged, done)
        event.wait()
        least = min(least, 1e-9 * (event.profile.end - event.profile.start))
    return n_items * _TURNS / max(least, 1e-9)


def _faults(queue: cl.CommandQueue, program: cl.Program, facts: DeviceFacts) -> Iterator[str]:
    size = _group_size(facts)

    def run(kernel: str, *arrays: NDArray[Any]) -> None:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(queue.context, flags, hostbuf=array) for array in arrays]
        getattr(program, kernel)(queue, (_N_ITEMS,), (size,), *buffers)
        for array, buffer in zip(arrays, buffers, strict=True):
            cl.enqueue_copy(queue, array, buffer)

    def compare(what: str, got: NDArray[Any], wanted: Any) -> Iterator[str]:
        wrong = np.flatnonzero(got != wanted)
        if wrong.size:
            at, right = wrong[0], np.broadcast_to(wanted, got.shape)
            share = f"{wrong.size} of {got.size} values of {what} are wrong"
            yield f"its self-test: {share}; {at} is {got[at]}, not {right[at]}"

    items = np.arange(_N_ITEMS)
    for width in (16, 8, 4, 2):
        x = (np.arange(_N_ITEMS * width) % 32).astype(np.float32)
        squares = x * x + x
        floats, words = np.empty(x.size, np.float32), np.empty(x.size, np.uint32)
        run(f"vectors{width}", x, floats, words)
        yield from compare(f"mad of float{width}", floats, squares)
        yield from compare(f"convert_uint{width}", words, np.minimum(squares, 500))
        if width in (16, 4):
            halves = np.empty(x.size, np.float16)
            run(f"halves{width}", squares, halves, floats)
            yield from compare(f"vstore_half{width}", halves, squares)
            yield from compare(f"vload_half{width}", floats, squares)
    counts = np.zeros(6, np.uint32)
    counts[1] = 2**32 - 1
    tickets = np.zeros(_N_ITEMS, np.uint32)
    run("atomics32", counts, tickets)
    yield from compare("32-bit atomics", counts[[0, 1, 2, 4]], [_N_ITEMS, 5, _N_ITEMS - 1, 1])
    yield from compare("additions of floats", counts.view(np.float32)[5:], _N_ITEMS)
    yield from compare("fetched values", np.sort(tickets), items)
    if facts.has_int64_atomics:
        longs = np.zeros(5, np.uint64)
        longs[1] = 2**64 - 1
        run("atomics64", longs)
        step = 2**32 + 1
        wanted = np.array([_N_ITEMS * step, 5 * step, (_N_ITEMS - 1) * step, 1], np.uint64)
        yield from compare("64-bit atomics", longs[[0, 1, 2, 4]], wanted)
    sums, mirrored = np.zeros(_N_ITEMS, np.uint32), np.zeros(_N_ITEMS, np.uint32)
    run("local_memory", sums, mirrored)
    groups = items.reshape(-1, size)
    yield from compare("local memory and barriers", sums, np.repeat(groups.sum(axis=1) + size, size))
    yield from compare("local memory", mirrored, groups[:, ::-1].ravel())


def main(device_id: str) -> None:
    """Print the self-test's verdict on the device with this id as JSON."""
    print(STARTED, flush=True)
    found = examine(dict(enumerate_devices())[device_id])
    print(f"\n{json.dumps(found)}")


if __name__ == "__main__":
    main(sys.argv[1])
