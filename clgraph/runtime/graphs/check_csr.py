"""A kernel that checks a graph's CSR arrays on a device, which other kernels or the user have written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.csr import check_range, check_rising, offset_dtype
from clgraph.data.graphs.entries import EntryFacts
from clgraph.errors import GraphError
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_SOURCE = "data/check_csr.cl"
_NONE = 2**32 - 1  # The value of a state word that stands for "no position".


class CsrCheck:
    """A kernel that checks the CSR arrays of a graph of *n* vertices on a device.

    Parameters
    ----------
    wants_order : bool
        Whether to find out if rows are sorted and if entries repeat.
    wants_symmetry : bool
        Whether to find out if rows are sorted, if entries repeat, and if the matrix is symmetric.

    Attributes
    ----------
    state : DeviceArray
        Results of the kernel. If no error was found, the first three words are ~0 after :meth:`run` has checked all
        entries.
    """

    def __init__(
        self,
        session: Session,
        n: int,
        row_offsets: DeviceArray,
        column_indices: DeviceArray,
        edge_weights: DeviceArray | None,
        *,
        wants_symmetry: bool,
        wants_order: bool = True,
    ) -> None:
        self._n, self._offsets, self._columns, self._weights = n, row_offsets, column_indices, edge_weights
        wants = "WANTS_SYMMETRY" if wants_symmetry else "WANTS_ORDER" if wants_order else "0"
        self._knows_order, self._knows_symmetry = wants_order or wants_symmetry, wants_symmetry
        weights = column_indices if edge_weights is None else edge_weights
        self._room = min(column_indices.size, weights.size)
        self._program = program = session.program(
            _SOURCE,
            {
                "OFFSET_T": "long" if row_offsets.dtype.itemsize == 8 else "int",
                "WEIGHT_T": "ulong" if weights.dtype.itemsize == 8 else "uint",
                "WEIGHTS": "WEIGHTS_NONE" if edge_weights is None else f"WEIGHTS_{_KINDS[weights.dtype.kind]}",
            },
            work_group_size=session.facts.group_size(None),
        )
        self.state = session.zeros(program.constant("STATE_WORDS"), np.uint32)
        self.state.fill(_NONE, 0, program.constant("STATE_DESCENTS"))
        most, items = 4 * session.facts.compute_units, max(n + 1, self._room)
        n_groups = min(most, max(1, -(-items // program.work_group_size)))
        self._ranges = session.empty(2 * n_groups, f"u{weights.dtype.itemsize}")
        self._launch = program.bind(
            "check_csr",
            items,
            n=n,
            wants=program.constant(wants),
            row_offsets=row_offsets,
            column_indices=column_indices,
            edge_weights=weights,
            ranges=self._ranges,
            state=self.state,
            max_groups=most,
            begin=0,
            end=self._room,
        )

    def run(self, begin: int = 0, end: int | None = None) -> CsrCheck:
        """Enqueue the check of entries *begin* … *end* − 1 of the graph.

        Successive calls must check adjacent ranges in order.

        Ranges must begin at multiples of 1,024. Columns and weights beyond *end* need not be uploaded yet.
        """
        self._launch.set(begin=begin, end=self._room if end is None else end)
        self._launch()
        return self

    @property
    def parts(self) -> list[tuple[DeviceArray, int, int]]:
        """The ranges of device arrays whose values :meth:`read` needs."""
        return [(self.state, 0, self.state.size), (self._ranges, 0, 0 if self._weights is None else self._ranges.size)]

    def read(self, found: Sequence[NDArray[Any]] | None = None) -> tuple[int, EntryFacts]:
        """Wait for the check of the graph and return its results.

        *found* are the values of :attr:`parts`, if already read.

        Returns
        -------
        n_edges : int
            The last row offset; the other arrays may be longer.
        facts : EntryFacts
            If order or symmetry was not wanted, rows count as unsorted and the matrix as asymmetric.

        Raises
        ------
        GraphError
            The arrays are not CSR, or a weight is NaN; the message names value, position and limit.
        """
        n, room, columns, constant = self._n, self._room, self._columns, self._program.constant
        words, ranges = found or self.state.memory.read(*self.parts)
        block, last = constant("BLOCK"), constant("STATE_LAST")
        m = int(words[last : last + 2].view(np.int64)[0])

        def begin_of(word: str) -> int | None:
            """Return the first position of the first block with an error of kind
            *word*, or ``None`` if there is no such error.
            """
            number = int(words[constant(word)])
            return None if number == _NONE else number * block

        if (begin := begin_of("STATE_OFFSET")) is not None:
            first = max(0, begin - 1)
            offsets: NDArray[np.signedinteger] = self._offsets.get(first, min(n + 1, begin + block))
            if not first and offsets[0]:
                raise GraphError(f"row_offsets starts at {offsets[0]}; it must start at 0")
            check_rising(offsets, first)
        if m > room or np.dtype(offset_dtype(m)).itemsize > self._offsets.dtype.itemsize:
            raise GraphError(
                f"row_offsets, of {self._offsets.dtype}, ends at {m}; the other arrays have room for {room}"
            )
        if (begin := begin_of("STATE_COLUMN")) is not None:
            check_range("column_indices", columns.get(begin, min(m, begin + block)), n, begin)
        if (begin := begin_of("STATE_WEIGHT")) is not None:
            assert self._weights is not None
            at = begin + int(np.isnan(self._weights.get(begin, min(m, begin + block))).argmax())
            raise GraphError(f"weight {at} is NaN; weights must be numbers")
        difference = words[constant("STATE_SUM") : constant("STATE_WORDS")]
        return m, EntryFacts(
            has_sorted_rows=self._knows_order and not words[constant("STATE_DESCENTS")],
            has_repeats=bool(words[constant("STATE_REPEATS")]),
            is_symmetric=self._knows_symmetry and not difference.any(),
            weight_range=self._weight_range(m, ranges),
        )

    def _weight_range(self, m: int, keys: NDArray[Any]) -> tuple[Any, Any]:
        if self._weights is None or not m:
            return 1, 1
        return extremes(keys, self._weights.dtype)


def extremes(keys: NDArray[Any], dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the least and the greatest weight.

    *keys* are pairs (least, greatest) as order-preserving integers.
    """
    found = np.array([keys[::2].min(), keys[1::2].max()])
    sign = keys.dtype.type(1 << (8 * dtype.itemsize - 1))
    bits = np.where(found & sign, found ^ sign, ~found) if dtype.kind == "f" else found ^ sign
    least, greatest = bits.view(dtype)
    return least, greatest


_KINDS = {"i": "INT", "f": "FLOAT"}
