"""One call in a new process: ``first_answer.py ALGORITHM INPUT FILE SOURCE DEVICE``; prints its figures as JSON.

``answered`` is the time of day at the answer, and ``load_seconds`` is what loading the input took before.
``peak_bytes`` is by how much the process grew at most during a second call, with another copy of the input.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from end_to_end_calls import ALGORITHMS
from scipy.sparse import csr_array

from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session


def loaded(given: str, file: str) -> Any:
    """Return the graph of *file* as the user has it."""
    with np.load(file) as arrays:
        offsets, columns, weights = (arrays.get(name) for name in ("row_offsets", "column_indices", "edge_weights"))
    if given == "Graph":
        return Graph._trusted(offsets, columns, weights, sorted_rows=True)
    n = offsets.size - 1
    data = np.ones(columns.size) if weights is None else weights.astype(np.float64)
    matrix = csr_array((data, columns, offsets), shape=(n, n))
    if given == "scipy":
        return matrix
    import networkx

    return networkx.from_scipy_sparse_array(matrix)


def resident_bytes(field: str) -> int:
    """Return VmRSS (memory now) or VmHWM (its peak) of this process, 0 where there is no /proc of Linux."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(field)))


def forget_peak() -> None:
    """Make the peak what there is now, where the kernel can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def main() -> None:
    algorithm, given, file, source, device = sys.argv[1:]
    started = time.perf_counter()
    graph = loaded(given, file)
    load_seconds = time.perf_counter() - started
    calls, session = ALGORITHMS[algorithm], Session(device or None)
    result = calls.ours(graph, int(source), session)
    answered = time.time()
    compile_seconds = result.info.seconds.compile
    del graph, result
    graph = loaded(given, file)
    session.release()
    forget_peak()
    before = resident_bytes("VmRSS")
    result = calls.ours(graph, int(source), session)
    peak_bytes = resident_bytes("VmHWM") - before
    figures = {"answered": answered, "load_seconds": load_seconds, "compile_seconds": compile_seconds,
               "peak_bytes": peak_bytes, "ran": result.info.strategy}  # fmt: skip
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
