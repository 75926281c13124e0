"""Split the time of a call into its parts, for ``bench_end_to_end.py``."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

import harness
import numpy as np
import pyopencl as cl
from checkout import ROOT

from clgraph.runtime.session import Session

HOST_PARTS = {  # Functions of the host and the part that their time belongs to. A version may lack some of them.
    "clgraph.data.graphs.graph:Graph.from_scipy": "check",
    "clgraph.data.graphs.wrapped:WrappedGraph.check": "check",
    "clgraph.data.graphs.graph:Graph.from_networkx": "convert",
    "clgraph.data.graphs.graph_arrays:graph_stats": "statistics",
    "clgraph.data.graphs.wrapped:graph_stats": "statistics",
}
KERNEL_PARTS = {"check": "check_csr.cl", "statistics": "graph_stats.cl"}
WRITES = {cl.command_type.WRITE_BUFFER, cl.command_type.WRITE_BUFFER_RECT, cl.command_type.UNMAP_MEM_OBJECT}
READS = {cl.command_type.READ_BUFFER, cl.command_type.READ_BUFFER_RECT, cl.command_type.MAP_BUFFER}


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Yield the seconds of each part that pass in the functions of :data:`HOST_PARTS` inside the block.

    If one of these functions calls another, the time of the inner one counts for the outer one.
    """
    seconds = dict.fromkeys(HOST_PARTS.values(), 0.0)
    is_running = False

    def watch(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            nonlocal is_running
            if is_running:
                return function(*args, **kwargs)
            is_running, started = True, time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                seconds[part] += time.perf_counter() - started
                is_running = False

        return timed

    with ExitStack() as patches:
        for place, part in HOST_PARTS.items():
            owner_name, _, name = place.replace(":", ".").rpartition(".")
            with suppress(ImportError, AttributeError):
                owner = resolve_name(owner_name)
                patches.enter_context(patch.object(owner, name, watch(part, getattr(owner, name))))
        yield seconds


@cache
def kernel_names(file: str) -> frozenset[str]:
    """Return the names of the kernels in *file* of ``cl/data``."""
    text = (ROOT / "cl" / "data" / file).read_text(encoding="utf-8")
    return frozenset(re.findall(r"^KERNEL (\w+)\(", text, re.MULTILINE))


def measured_call(session: Session, call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return the answer of *call*, and its seconds and their parts."""
    with watched() as parts, session.measure() as recorder:
        started = time.perf_counter()
        result = call()
        wall = time.perf_counter() - started
    seconds, kernels = recorder.seconds, recorder.kernels()
    assert seconds is not None
    for part, file in KERNEL_PARTS.items():
        parts[part] += sum(kernels.pop(name)[1] for name in kernel_names(file) & kernels.keys())
    parts |= {"upload": 0.0, "kernel": sum(found[1] for found in kernels.values()), "read": 0.0}
    for event in recorder.transfer_events:
        kind = event.command_type  # a copy from device to device is work like a kernel's
        part = "upload" if kind in WRITES else "read" if kind in READS else "kernel"
        parts[part] += 1e-9 * (event.profile.end - event.profile.start)
    parts["compile"] = seconds.compile
    parts["python"] = max(0.0, wall - sum(parts.values()))
    return result, {"wall": wall, "span": seconds.span, **parts}


def pinned_bandwidth(session: Session, n_bytes: int = 1 << 28) -> tuple[float, float]:
    """Return the bytes per second of copies from pinned host memory to the device, and back."""
    context, queue = session.context, session.queue
    host = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR, n_bytes)
    access: Any = cl.map_flags.READ | cl.map_flags.WRITE
    byte_type: Any = np.dtype(np.uint8)
    mapped, _ = cl.enqueue_map_buffer(queue, host, access, 0, (n_bytes,), byte_type)
    device = cl.Buffer(context, cl.mem_flags.READ_WRITE, n_bytes)
    mapped[:] = 1

    def rate(target: Any, source: Any) -> float:
        return n_bytes / min(harness.timed_calls(lambda: cl.enqueue_copy(queue, target, source), 7)[1])

    rates = rate(device, mapped), rate(mapped, device)
    mapped.base.release(queue)
    queue.finish()
    return rates
