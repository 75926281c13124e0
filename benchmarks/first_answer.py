"""One call in a new process, from the start of the process to the answer.

``first_answer.py ALGORITHM INPUT FILE SOURCE DEVICE`` makes the call and prints its figures as JSON. ``answered`` is
the time of day at the answer, and ``load_seconds`` the time of loading the input. ``processor_seconds`` is the time of
all cores up to the answer. ``peak_bytes`` is the memory by which the process grew during a second call, with another
copy of the input. :func:`timed_process` starts such a process and returns the fields of its row.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from end_to_end_calls import ALGORITHMS
from scipy.sparse import csr_array

from clgraph.data.graphs.graph import Graph
from clgraph.runtime.discovery.child import search_path
from clgraph.runtime.session import Session

# The folders of clgraph's cache that stay (None: all). Cold caches know the verdicts on drivers and devices.
CACHES: dict[str, tuple[str, ...] | None] = {"new": (), "cold": ("drivers", "self-tests"), "warm": None}


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
    """Reset the peak to the memory in use, where the kernel can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def timed_process(options: list[str], caches: str | None, folder: Path) -> dict[str, Any]:
    """Run this module in a new process and return the fields of its row.

    It uses the caches of the user if *caches* is ``None``, else caches in *folder*, in this state of :data:`CACHES`.
    """
    environment = {**os.environ, "PYTHONPATH": search_path()}
    if caches is not None:
        environment |= own_caches(folder, CACHES[caches])
        environment.pop("POCL_CACHE_DIR", None)
    started = time.time()
    command = [sys.executable, __file__, *options]
    child = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(child.stdout)
    seconds = found.pop("answered") - started - found["load_seconds"]
    return {"wall_seconds": seconds, "import_seconds": found.pop("began") - started, **found}


def own_caches(folder: Path, kept: tuple[str, ...] | None) -> dict[str, str]:
    """Return the variables that put all caches of kernels into *folder*; only those *kept* stay, ``None``: all."""
    others = folder / "others"
    for path in [] if kept is None else [*folder.glob("clgraph/*"), others]:
        if path.name not in kept:
            shutil.rmtree(path, ignore_errors=True)
    kernels = {"XDG_CACHE_HOME": str(others), "CUDA_CACHE_PATH": str(others / "nvidia")}  # pyopencl's, NVIDIA's
    return {**kernels, "CLGRAPH_CACHE_DIR": str(folder / "clgraph")}


def main() -> None:
    began = time.time()
    algorithm, given, file, source, device = sys.argv[1:]
    graph = loaded(given, file)
    call, ready = partial(ALGORITHMS[algorithm].ours, source=int(source)), time.time()
    session = Session(device or None)
    opened = time.time()
    result = call(graph, session=session)
    answered = time.time()
    figures = {
        "began": began, "answered": answered, "load_seconds": ready - began, "session_seconds": opened - ready,
        "first_call_seconds": answered - opened, "compile_seconds": result.info.seconds.compile,
        "processor_seconds": sum(os.times()[:4]), "ran": result.info.strategy,
    }  # fmt: skip
    del graph, result
    graph = loaded(given, file)
    session.release()
    forget_peak()
    before = resident_bytes("VmRSS")
    call(graph, session=session)
    print(json.dumps(figures | {"peak_bytes": resident_bytes("VmHWM") - before}))


if __name__ == "__main__":
    main()
