"""Stable compaction of a device array: the items for which a predicate is true, in order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clgraph.errors import InputError
from clgraph.primitives.look_back import LookBack
from clgraph.primitives.types import c_type, check_count
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

SOURCE = "primitives/compact.cl"


class Compact(LookBack):
    """A reusable device operation: write *item* to *target* for each index 0 …
    *n* − 1 where *predicate* is true, in order.

    Parameters
    ----------
    n : int
    target : DeviceArray
        It must have room for all chosen items; *n* is always enough.
    predicate : str
        An OpenCL C expression of the index ``i`` (a long) and the names of *arrays*: ``"levels[i] == 3"``.
    item : str
        The expression to write; by default, the index.
    arrays : mapping of str to DeviceArray
        The arrays in the expressions, by name; *target* must not be among them.
    strategy : {"look_back", "chunks"}, optional
        One pass in which work-groups wait for earlier ones, or two passes without waiting.
    tuning : mapping, optional
        ``WG_SIZE`` and ``ITEMS_PER_ITEM`` instead of the tuned sizes.

    Attributes
    ----------
    size : DeviceArray
        The number of items written by the last run, one uint32.
    """

    _what = "compaction"

    def __init__(
        self,
        session: Session,
        n: int,
        target: DeviceArray,
        *,
        predicate: str,
        arrays: Mapping[str, DeviceArray],
        item: str = "i",
        strategy: str | None = None,
        tuning: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        check_count(n)
        if any(array.overlaps(target) for array in arrays.values()):
            raise InputError("compaction cannot write one of its sources")
        self.size = session.zeros(1, np.uint32)
        sizes = self._tuned(session, SOURCE, strategy, tuning)
        out_type = c_type(target.dtype)
        sources = "".join(f", const __global {c_type(array.dtype)} *restrict {name}" for name, array in arrays.items())
        texts = {"PREDICATE": predicate, "ITEM": f"({out_type})({item})", "PARAMETERS": sources or " "}
        program = session.program(SOURCE, {**sizes, "OUT_T": out_type, **texts})
        if not n:
            return
        group, scope = sizes["WG_SIZE"], {**arrays, "n": n, "size": self.size, "out": target}
        tile = group * sizes["ITEMS_PER_ITEM"]
        if self.strategy == "look_back":
            n_tiles = -(-n // tile)
            control, states = self._new_control(session, program), self._zeros(session, n_tiles, np.uint64)
            scope |= {"nothing": 0, "control": control, "states": states}
            self._look_backs = [program.bind("compact_look_back", n_tiles * group, scope)]
        else:
            chunk, groups = self._chunks(session, n, tile)
            scope |= {"chunk": chunk, "counts": session.empty(groups, np.uint32)}
            self.launches = [
                program.bind("count_chunks", groups * group, scope),
                program.bind("compact_chunks", groups * group, scope),
            ]
