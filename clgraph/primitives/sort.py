"""Stable radix sort of keys, or of keys and values, in device arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clgraph.errors import InputError
from clgraph.primitives.look_back import LookBack, looks_back
from clgraph.primitives.scan import Scan
from clgraph.primitives.types import check_count, power_of_two_at_most, tuned
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

SOURCE = "primitives/sort.cl"
SOURCE_CHUNKS = "primitives/sort_chunks.cl"
_CACHED_BYTES = 24 << 20  # Keys and values of up to 24 MiB stay in a CPU's caches between two passes of the sort.
KINDS = {"u": "UNSIGNED_KEYS", "i": "SIGNED_KEYS", "f": "FLOAT_KEYS"}


class Sort(LookBack):
    """A reusable operation that sorts keys, or keys and values, by the bits *begin_bit* … *end_bit* − 1 of the keys.

    Parameters
    ----------
    keys, out_keys : DeviceArray
        Different arrays of the same 32- or 64-bit integer or float type. Floats are in total order: -0.0
        before 0.0, NaNs at the ends. *keys* is not changed.
    values, out_values : DeviceArray, optional
        Values that move with the keys, of any type of 4 or 8 bytes.
    begin_bit, end_bit : int
        The range of bits in which keys differ; a shorter range needs fewer passes. Bits are numbered in the
        key's order-preserving form, in which the sign bit of signed types is inverted, and for negative floats
        also all other bits.
    strategy : {"onesweep", "tiles", "chunks"}, optional
        "onesweep": one launch per digit, in which work-groups look back. "tiles": count, scan and scatter for
        each digit. "chunks": the same for CPUs.
    tuning : mapping, optional
        ``WG_SIZE``, ``ITEMS_PER_ITEM``, ``RADIX_BITS``, ``HISTOGRAM_COPIES``, ``LINE`` instead of the tuned
        sizes.
    """

    _what = "sort"

    def __init__(
        self,
        session: Session,
        keys: DeviceArray,
        out_keys: DeviceArray,
        values: DeviceArray | None = None,
        out_values: DeviceArray | None = None,
        *,
        begin_bit: int = 0,
        end_bit: int | None = None,
        strategy: str | None = None,
        tuning: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        n, key_bytes = keys.size, keys.dtype.itemsize
        check_count(n)
        last = 8 * key_bytes if end_bit is None else end_bit
        if (values is None) != (out_values is None):
            raise InputError("values and out_values go together")
        self._source, self._target = {"keys": keys}, {"keys": out_keys}
        if values is not None and out_values is not None:
            self._source["values"], self._target["values"] = values, out_values
        self._check_arguments(begin_bit, last)
        self._session, self.n, self.n_passes = session, n, 0
        self.strategy = strategy or (
            "chunks" if session.facts.is_cpu else "onesweep" if looks_back(session) else "tiles"
        )
        words = {4: "uint", 8: "ulong"}
        self._defines: dict[str, int | str] = {
            "KEY_BITS_T": words[key_bytes],
            "KEY_BYTES": key_bytes,
            "KEY_KIND": KINDS[keys.dtype.kind],
        }
        if values is not None:
            size = values.dtype.itemsize
            self._defines |= {"HAS_VALUES": 1, "VALUE_BYTES": size, "VALUE_T": words[size]}
        if not n or begin_bit == last:
            return
        sizes = self._sizes(tuning)
        self.n_passes = n_passes = -(-(last - begin_bit) // sizes["RADIX_BITS"])
        sizes["RADIX_BITS"] = -(-(last - begin_bit) // n_passes)
        # The passes of the sort alternate between two buffers, such that the last pass writes to the target.
        spare = {name: session.empty(n, array.dtype) for name, array in self._target.items() if n_passes > 1}
        buffers = [self._source] + [self._target if (n_passes - i) % 2 else spare for i in range(n_passes)]
        moves: list[dict[str, Any]] = []
        for i, bit in enumerate(range(begin_bit, last, sizes["RADIX_BITS"])):
            bits = min(sizes["RADIX_BITS"], last - bit)
            written = {f"out_{name}": array for name, array in buffers[i + 1].items()}
            moves.append({"n": n, "bit": bit, "mask": (1 << bits) - 1, **buffers[i], **written})
        self._end_mask = (1 << last) - 1
        getattr(self, f"_bind_{self.strategy}")(sizes, moves)

    def _check_arguments(self, begin_bit: int, end_bit: int) -> None:
        keys = self._source["keys"]
        if keys.dtype.kind not in KINDS or keys.dtype.itemsize not in (4, 8):
            raise InputError(f"cannot sort keys of {keys.dtype}; use a 32- or 64-bit integer or float type")
        if not 0 <= begin_bit <= end_bit <= 8 * keys.dtype.itemsize:
            raise InputError(f"bits {begin_bit} to {end_bit} of keys of {8 * keys.dtype.itemsize} bits")
        for name, source in self._source.items():
            target = self._target[name]
            if source.size != keys.size or target.size != keys.size or source.dtype != target.dtype:
                raise InputError("keys, values and outputs must have one size, and each its output's type")
            if source.dtype.itemsize not in (4, 8):
                raise InputError(f"values of {source.dtype}; use a type of 4 or 8 bytes")
            if source.overlaps(target):
                raise InputError("a sort cannot write its source")

    def _sizes(self, tuning: Mapping[str, int] | None) -> dict[str, int]:
        session = self._session
        bytes_each = [array.dtype.itemsize for array in self._source.values()]
        widest = max(bytes_each)
        if self.strategy == "chunks":
            streams = self.n * sum(bytes_each) > _CACHED_BYTES
            radix_bits, line = (11, 64 // widest) if streams else (8, 1)
            sizes = tuned(session, SOURCE_CHUNKS, {"WG_SIZE": 1, "RADIX_BITS": radix_bits, "LINE": line}, tuning)
            digit_bytes = sizes["LINE"] * sum(bytes_each) + 16
            while digit_bytes << sizes["RADIX_BITS"] > session.facts.local_mem_bytes:
                sizes["RADIX_BITS"] -= 1
            return sizes
        defaults = {"WG_SIZE": 256, "ITEMS_PER_ITEM": 64 // widest, "RADIX_BITS": 8, "HISTOGRAM_COPIES": 2}
        sizes = tuned(session, SOURCE, defaults, tuning)
        # A sort needs local memory for one counter per pair of a digit value and a sub-group.
        counter_bytes = 4 * sizes["WG_SIZE"] // session.facts.sub_group_size
        counters = session.facts.local_mem_bytes * 3 // 4 // counter_bytes
        limit = min(power_of_two_at_most(counters), power_of_two_at_most(sizes["WG_SIZE"]))
        sizes["RADIX_BITS"] = min(sizes["RADIX_BITS"], limit.bit_length() - 1)
        return sizes

    def _bind_chunks(self, sizes: dict[str, int], moves: list[dict[str, Any]]) -> None:
        program = self._session.program(SOURCE_CHUNKS, {**self._defines, **sizes})
        groups = max(1, min(2 * self._session.facts.compute_units, self.n >> 12))
        chunk = -(-self.n // groups)
        counts = self._session.empty(groups << sizes["RADIX_BITS"], np.uint32)
        for move in moves:
            scope = {**move, "chunk": chunk, "counts": counts}
            self.launches += [program.bind(kernel, groups, scope) for kernel in ("count_chunks", "scatter_chunks")]

    def _bind_tiles(self, sizes: dict[str, int], moves: list[dict[str, Any]]) -> None:
        program = self._session.program(SOURCE, {**self._defines, **sizes})
        n_tiles = -(-self.n // (sizes["WG_SIZE"] * sizes["ITEMS_PER_ITEM"]))
        counts, begins = (self._session.empty(n_tiles << sizes["RADIX_BITS"], np.uint32) for _ in range(2))
        scan = Scan(self._session, counts, begins, strategy="chunks")
        items = n_tiles * sizes["WG_SIZE"]
        for move in moves:
            self.launches += [
                program.bind("count_tiles", items, move, counts=counts),
                *scan.launches,
                program.bind("scatter_tiles", items, move, begins=begins),
            ]

    def _bind_onesweep(self, sizes: dict[str, int], moves: list[dict[str, Any]]) -> None:
        session, radix, group = self._session, 1 << sizes["RADIX_BITS"], sizes["WG_SIZE"]
        word, state_type = (64, "ulong") if self.n >= 1 << 30 else (32, "uint")
        states_of: dict[str, int | str] = {"STATE_T": state_type, "STATE_BITS": word}
        program = session.program(SOURCE, {**self._defines, **sizes, "N_PASSES": len(moves), **states_of})
        n_tiles = -(-self.n // (group * sizes["ITEMS_PER_ITEM"]))
        control, totals = self._new_control(session, program), self._zeros(session, len(moves) * radix)
        starts = session.empty(len(moves) * radix, np.uint32)
        states = self._zeros(session, n_tiles * radix, f"uint{word}")
        first = {**moves[0], "begin_bit": moves[0]["bit"], "end_mask": self._end_mask, "totals": totals}
        self.launches = [
            program.bind("histogram", -(-self.n // 8), first, max_groups=8 * session.facts.compute_units),
            program.bind("scan_histograms", len(moves) * group, totals=totals, starts=starts),
        ]
        scope = {"nothing": 0, "digit_starts": starts, "control": control, "states": states}
        self._look_backs = [
            program.bind("scatter_look_back", n_tiles * group, {**move, **scope}, digit=i)
            for i, move in enumerate(moves)
        ]

    def run(self) -> None:
        """Enqueue the passes of the radix sort."""
        super().run()
        if not self.launches and self.n:
            for name, source in self._source.items():
                self._target[name].copy_from(source)


def sort(
    session: Session,
    keys: DeviceArray,
    values: DeviceArray | None = None,
    *,
    begin_bit: int = 0,
    end_bit: int | None = None,
) -> tuple[DeviceArray, DeviceArray | None]:
    """Return new device arrays of the sorted keys, and of the values in the same order; see :class:`Sort`.

    On devices where work-groups wait for each other, this waits for the result, to check that no such wait timed out.
    """
    out_keys = session.empty(keys.size, keys.dtype)
    out_values = None if values is None else session.empty(values.size, values.dtype)
    Sort(session, keys, out_keys, values, out_values, begin_bit=begin_bit, end_bit=end_bit).run_checked()
    return out_keys, out_values
