"""What tests/test_oclgrind.py runs under Oclgrind: ``oclgrind … python grind.py WHAT [KERNEL_FILE]``.

Inputs are tiny: Oclgrind interprets every instruction of every work-item.
"""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyopencl as cl

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

from clgraph.runtime.arrays import DeviceArray  # noqa: E402
from clgraph.runtime.session import Session  # noqa: E402

WG_SIZE = 32
N = 2 * WG_SIZE


def _fill_by_copy(array: DeviceArray, value, start: int = 0, stop: int | None = None) -> None:
    """Oclgrind takes memory that clEnqueueFillBuffer wrote for uninitialised."""
    last = array.size if stop is None else stop
    array.set(np.full(last - start, value, array.dtype), offset=start)


class _ExactPool:
    """Buffers of the size asked for; a pool's are larger, and what runs over the end stays unseen."""

    active_bytes = 0

    def __init__(self, session: Session) -> None:
        self._context = session.context

    def allocate(self, n_bytes: int) -> cl.Buffer:
        return cl.Buffer(self._context, cl.mem_flags.READ_WRITE, n_bytes)


def vocabulary(session: Session) -> None:
    """Run the kernels of the vocabulary tests that one work-group at a time can finish."""
    import test_vocabulary as words

    words.N, words.WG_SIZE = N, WG_SIZE
    rng = np.random.default_rng(1)
    words.test_masks(session, rng)
    for name in words.TYPES:
        words.test_sub_group_values(session, rng, name)
        words.test_loads_and_stores(session, rng, name)
    for name in words.INTEGERS:
        words.test_atomics(session, rng, name)
        words.test_lower_to(session, rng, name)
    for name in ("int", "uint"):
        words.test_local_atomics(session, rng, name)
    words.test_sync_orders_local_memory(session, rng)
    words.test_float_add(session, rng)
    words.test_float_keys_keep_the_order(session, rng)
    words.test_pushes(session, rng, 4)
    words.test_first_status_stays(session)
    zeros = np.zeros(2, np.uint32)
    _, counts, _, status = words.launch(
        session, "locks", np.uint32(2), np.uint32(2), zeros, zeros, zeros, np.zeros(1, np.uint32)
    )
    assert counts.sum() == 2 * N and not status[0]


def planted(session: Session, path: str) -> None:
    """Run kernel ``planted`` of *path* on an initialised array of N words and one that is not."""
    array, unset = session.zeros(N, np.uint32), session.empty(N, np.uint32)
    session.program(path, work_group_size=WG_SIZE).bind("planted", N, unset, array)()
    session.finish()


def main() -> None:
    DeviceArray.fill = _fill_by_copy
    session = Session("oclgrind")
    session._pool = _ExactPool(session)
    globals()[sys.argv[1]](session, *sys.argv[2:])
    print("finished")


if __name__ == "__main__":
    main()
