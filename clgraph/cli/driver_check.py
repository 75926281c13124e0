"""What ``clgraph doctor`` runs in a child process, because a driver may crash or hang.

``python -m clgraph.cli.driver_check list`` prints the devices as JSON, ``… check ID`` the outcome
of compiling and running a kernel on one of them.
"""
from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Any

_N_ITEMS = 100_003


def list_devices() -> list[dict[str, Any]]:
    """Return the devices this process sees."""
    from clgraph.runtime.query import devices

    return [asdict(device) for device in devices()]


def check(device: str) -> dict[str, Any]:
    """Build a kernel on *device*, run it, and compare every value it wrote."""
    import numpy as np

    from clgraph.runtime.session import Session

    session = Session(device)
    started = time.perf_counter()
    program = session.program("primitives/fill.cl", {"T": "int"})
    built = time.perf_counter()
    out = session.empty(_N_ITEMS, np.int32)
    program.bind("iota", _N_ITEMS, n=_N_ITEMS, out=out)()
    values = out.get()
    finished = time.perf_counter()
    wrong = np.flatnonzero(values != np.arange(_N_ITEMS))
    reason = None
    if wrong.size:
        at = int(wrong[0])
        reason = f"{wrong.size} of {_N_ITEMS} values are wrong; item {at} is {values[at]} instead of {at}"
    return {
        "reason": reason, "build_seconds": built - started, "run_seconds": finished - built,
        "profile": session.profile.origin,
    }  # fmt: skip


if __name__ == "__main__":
    print("\n" + json.dumps(list_devices() if sys.argv[1] == "list" else check(sys.argv[2])))
