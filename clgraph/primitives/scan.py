"""Prefix sums."""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clgraph.errors import InputError
from clgraph.primitives.types import c_type, check_count, tuned
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.failure import check_status
from clgraph.runtime.session import Session

SOURCE = "primitives/scan.cl"
_ALLOWED = "int32 uint32 int64"


def looks_back(session: Session) -> bool:
    """Return whether a work-group may wait for work-groups that started before it."""
    return session.facts.dialect.has_grid_barrier and session.facts.has_int64_atomics


class Scan:
    """Sums of all earlier items, modulo 2**32 or 2**64.

    Parameters
    ----------
    source, target : DeviceArray
        Different arrays of int32, uint32 or int64; the sums are of *target*'s type. *target* may have
        one item more than *source*: it becomes the total, which makes row offsets of row lengths.
    inclusive : bool
        Whether an item counts itself.
    strategy : {"look_back", "chunks"}, optional
        One pass in which work-groups wait for earlier ones, or two without waiting.
    tuning : mapping, optional
        ``WG_SIZE`` and ``ITEMS_PER_ITEM`` in place of the tuned ones.
    """

    def __init__(
        self, session: Session, source: DeviceArray, target: DeviceArray, *, inclusive: bool = False,
        strategy: str | None = None, tuning: Mapping[str, int] | None = None,
    ) -> None:
        n, extra = source.size, target.size - source.size
        check_count(n)
        if extra not in (0, 1) or (inclusive and extra):
            raise InputError(f"target has {target.size} items, source {n}; it may have one more if exclusive")
        if source.buffer == target.buffer:
            raise InputError("a scan cannot write its source")
        in_type, sum_type = c_type(source.dtype, _ALLOWED), c_type(target.dtype, _ALLOWED)
        self.strategy = strategy or ("look_back" if looks_back(session) else "chunks")
        self._parity = 0
        self._control: DeviceArray | None = None
        plain = self.strategy == "chunks" and session.facts.is_cpu
        sizes = tuned(session, SOURCE, {"WG_SIZE": 1, "ITEMS_PER_ITEM": 1} if plain else
                      {"WG_SIZE": 256, "ITEMS_PER_ITEM": 16}, tuning)
        sizes["VEC"] = min(sizes["ITEMS_PER_ITEM"], 16 // source.dtype.itemsize)
        program = session.program(SOURCE, {
            **sizes, "IN_T": in_type, "SUM_T": sum_type, "SUM_BYTES": target.dtype.itemsize,
            "INCLUSIVE": int(inclusive), "EXTRA_TOTAL": extra,
        })
        tile = sizes["WG_SIZE"] * sizes["ITEMS_PER_ITEM"]
        n_tiles = max(extra, -(-n // tile))
        self.launches = []
        if not n_tiles:
            return
        if self.strategy == "look_back":
            self._control = session.zeros(2, np.uint32)
            states = session.zeros(n_tiles * target.dtype.itemsize // 4, np.uint64)
            self.launches = [program.bind(
                "scan_look_back", n_tiles * sizes["WG_SIZE"], np.int64(n), np.uint32(0), source,
                self._control, states, target,
            )]
        else:
            units = session.facts.compute_units
            least = -(-4096 // tile)  # tiles worth a work-group
            chunk = tile * max(least, -(-n_tiles // ((4 if plain else 8) * units)))
            groups = max(1, -(-n // chunk))
            sums = session.empty(groups, target.dtype)
            items = groups * sizes["WG_SIZE"]
            self.launches = [
                program.bind("sum_chunks", items, np.int64(n), np.int64(chunk), source, sums),
                program.bind("scan_chunks", items, np.int64(n), np.int64(chunk), source, sums, target),
            ]

    def run(self) -> None:
        """Enqueue the scan."""
        if self._control is not None:
            self.launches[0].set_scalar(1, np.uint32(2 * self._parity))
            self._parity ^= 1
        for launch in self.launches:
            launch()

    def check(self) -> None:
        """Read the status word; raise :class:`DeviceTimeoutError` if a wait on the device ran out."""
        if self._control is not None:
            check_status(self._control.item(1), "scan")


def exclusive_sum(session: Session, source: DeviceArray, target: DeviceArray) -> None:
    """Enqueue the sums of all earlier items of *source* into *target*; see :class:`Scan`."""
    Scan(session, source, target).run()


def inclusive_sum(session: Session, source: DeviceArray, target: DeviceArray) -> None:
    """Enqueue the sums up to and including each item of *source* into *target*; see :class:`Scan`."""
    Scan(session, source, target, inclusive=True).run()
