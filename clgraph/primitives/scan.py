"""Prefix sums of device arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clgraph.errors import InputError
from clgraph.primitives.look_back import LookBack
from clgraph.primitives.types import c_type, check_count
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

SOURCE = "primitives/scan.cl"
_ALLOWED = "int32 uint32 int64"


class Scan(LookBack):
    """A reusable operation that computes, for each item of a device array, the
    sum of all earlier items (modulo 2**32 or 2**64).

    Parameters
    ----------
    source, target : DeviceArray
        Different arrays of int32, uint32 or int64; the sums have *target*'s type. *target* may have
        one item more than *source*, which becomes the total. Row lengths then give row offsets.
    inclusive : bool
        Whether a sum includes the item itself.
    strategy : {"look_back", "chunks"}, optional
        One pass in which work-groups wait for earlier ones, or two passes without waiting.
    tuning : mapping, optional
        ``WG_SIZE`` and ``ITEMS_PER_ITEM`` instead of the tuned sizes.
    """

    _what = "scan"

    def __init__(
        self,
        session: Session,
        source: DeviceArray,
        target: DeviceArray,
        *,
        inclusive: bool = False,
        strategy: str | None = None,
        tuning: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        n, extra = source.size, target.size - source.size
        check_count(n)
        if extra not in (0, 1) or (inclusive and extra):
            raise InputError(f"target has {target.size} items, source {n}; it may have one more if exclusive")
        if source.overlaps(target):
            raise InputError("a scan cannot write its source")
        sizes = self._tuned(session, SOURCE, strategy, tuning)
        sizes["VEC"] = min(sizes["ITEMS_PER_ITEM"], 16 // source.dtype.itemsize)
        defines: dict[str, int | str] = {
            "IN_T": c_type(source.dtype, _ALLOWED),
            "SUM_T": c_type(target.dtype, _ALLOWED),
            "SUM_BYTES": target.dtype.itemsize,
            "INCLUSIVE": int(inclusive),
            "EXTRA_TOTAL": extra,
        }
        program = session.program(SOURCE, {**sizes, **defines})
        group = sizes["WG_SIZE"]
        tile = group * sizes["ITEMS_PER_ITEM"]
        n_tiles = max(extra, -(-n // tile))
        if not n_tiles:
            return
        if self.strategy == "look_back":
            states = {
                "control": self._new_control(session, program),
                "states": self._zeros(session, n_tiles * target.dtype.itemsize // 4, np.uint64),
            }
            scope = {"n": n, "nothing": 0, "items": source, **states}
            self._look_backs = [program.bind("scan_look_back", n_tiles * group, scope, out=target)]
        else:
            chunk, groups = self._chunks(session, n, tile)
            scope = {"n": n, "chunk": chunk, "items": source, "sums": session.empty(groups, target.dtype)}
            self.launches = [
                program.bind("sum_chunks", groups * group, scope),
                program.bind("scan_chunks", groups * group, scope, out=target),
            ]


def exclusive_sum(session: Session, source: DeviceArray, target: DeviceArray) -> None:
    """Write the sum of all earlier items of *source* to each item of the device array *target*; see :class:`Scan`.

    On devices where work-groups wait for each other, this waits for the result, to check that no such wait timed out.
    """
    Scan(session, source, target).run_checked()
