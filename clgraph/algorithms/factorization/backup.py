"""A model that can be set back to where it was after the last whole epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clgraph.algorithms.factorization.factors import DeviceModel
from clgraph.runtime import opencl as cl
from clgraph.runtime.failure import typed_errors


class Backup:
    """A copy of a model in device memory, and the epochs that led to it.

    Where the whole factors are and which epochs led to them is one reference: an interrupt finds it as it was
    before :meth:`save` or as it is after. While the copy is made, the model itself is whole: nobody sweeps.
    """

    def __init__(self, model: DeviceModel) -> None:
        self._session = model.session
        self._live = list(model.arrays.values())
        self._copies = [self._session.empty(array.size, array.dtype) for array in self._live]
        self._whole: tuple[list[Any], list[Any]] = self._live, []

    def save(self, epochs: list[Any]) -> None:
        """Keep the model as it is now, after *epochs*."""
        self._whole = self._live, epochs
        self._copy(self._live, self._copies)
        self._whole = self._copies, epochs

    def restore(self) -> list[Any]:
        """Set the model back to what was saved last; return the epochs."""
        arrays, epochs = self._whole
        if arrays is not self._live:
            self._copy(arrays, self._live)
        return epochs

    def _copy(self, sources: Sequence[Any], targets: Sequence[Any]) -> None:
        with typed_errors("copying factors on the device"):
            for source, target in zip(sources, targets, strict=True):
                with self._session.driver:
                    event = cl.enqueue_copy(self._session.queue, target.buffer, source.buffer, byte_count=source.nbytes)
                self._session.record_transfer(event)
        self._session.finish()
