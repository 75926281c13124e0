"""Stable compaction: keep what a predicate chooses, in order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clgraph.errors import InputError
from clgraph.primitives.look_back import LookBack, looks_back
from clgraph.primitives.types import c_type, check_count, tuned
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session

SOURCE = "primitives/compact.cl"


class Compact(LookBack):
    """Write ``item`` of every index 0 … *n* − 1 that *predicate* chooses to *target*, in order of the index.

    Parameters
    ----------
    n : int
    target : DeviceArray
        At least as many items as are chosen; if unsure, *n*.
    predicate : str
        OpenCL C expression in the index ``i`` (a long) and the names of *arrays*: ``"levels[i] == 3"``.
    item : str
        Likewise; the default keeps the indices.
    arrays : mapping of str to DeviceArray
        *target* is none of them.
    strategy : {"look_back", "chunks"}, optional
        One pass in which work-groups wait for earlier ones, or two without waiting.
    tuning : mapping, optional
        ``WG_SIZE`` and ``ITEMS_PER_ITEM`` in place of the tuned ones.

    Attributes
    ----------
    size : DeviceArray
        One uint32: after ``run()``, how many were chosen.
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
        self.strategy = strategy or ("look_back" if looks_back(session) else "chunks")
        plain = self.strategy == "chunks" and session.facts.is_cpu
        sizes = tuned(
            session,
            SOURCE,
            {"WG_SIZE": 1, "ITEMS_PER_ITEM": 1} if plain else {"WG_SIZE": 256, "ITEMS_PER_ITEM": 16},
            tuning,
        )
        out_type = c_type(target.dtype)
        program = session.program(
            SOURCE,
            {
                **sizes,
                "PREDICATE": predicate,
                "ITEM": f"({out_type})({item})",
                "OUT_T": out_type,
                "PARAMETERS": "".join(
                    f", const __global {c_type(array.dtype)} *restrict {name}" for name, array in arrays.items()
                )
                or " ",
            },
        )
        group, tile = sizes["WG_SIZE"], sizes["WG_SIZE"] * sizes["ITEMS_PER_ITEM"]
        n_tiles = -(-n // tile)
        if not n:
            return
        if self.strategy == "look_back":
            control, states = self._new_control(session, program), self._zeros(session, n_tiles, np.uint64)
            self._look_backs = [
                program.bind(
                    "compact_look_back",
                    n_tiles * group,
                    arrays,
                    n=n,
                    nothing=0,
                    control=control,
                    states=states,
                    size=self.size,
                    out=target,
                )
            ]
        else:
            limit = (4 if plain else 8) * session.facts.compute_units
            chunk = tile * max(-(-4096 // tile), -(-n_tiles // limit))
            groups = -(-n // chunk)
            counts = session.empty(groups, np.uint32)
            scope = {**arrays, "n": n, "chunk": chunk, "counts": counts}
            self.launches = [
                program.bind("count_chunks", groups * group, scope),
                program.bind("compact_chunks", groups * group, scope, size=self.size, out=target),
            ]


def compact(session: Session, items: DeviceArray, flags: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """Keep the items whose flag is not zero.

    On devices where work-groups wait for each other it waits for the result, to see that none gave up.

    Returns
    -------
    kept : DeviceArray
        As long as *items*; those kept come first.
    size : DeviceArray
        One uint32: how many were kept.
    """
    target = session.empty(items.size, items.dtype)
    plan = Compact(
        session,
        items.size,
        target,
        predicate="flags[i]",
        item="items[i]",
        arrays={"items": items, "flags": flags},
    )
    plan.run_checked()
    return target, plan.size
