"""Prediction errors of a factorisation model, computed on the device."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import DeviceModel, upload_ratings
from clgraph.algorithms.factorization.problem import offset_type
from clgraph.data.ratings.ratings import Ratings
from clgraph.primitives.types import c_type
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.session import Session

_EVALUATE, _WILD = "factorization/evaluate.cl", "factorization/wild.cl"
_GROUPS_PER_UNIT = 8  # The evaluation of a model starts at most this number of work-groups per compute unit.


class Errors:
    """The error of a factorisation model on given ratings.

    The result is the same in every run on a device.

    With *weights*, a squared error is multiplied by its rating's weight, and the mean is a weighted one.
    """

    def __init__(
        self, session: Session, ratings: Ratings, model: DeviceModel, weights: NDArray[np.float32] | None = None
    ) -> None:
        self.n = ratings.n_ratings
        self._total = float(self.n if weights is None else weights.sum(dtype=np.float64))
        defines = {**model.defines(), "OFFSET_T": c_type(offset_type(self.n))}
        self.program = session.program(_EVALUATE, defines if weights is None else {**defines, "WEIGHTED": 1})
        n_items = self.n * model.layout.lanes
        most = _GROUPS_PER_UNIT * session.facts.compute_units
        groups = min(most, max(1, -(-n_items // self.program.work_group_size)))
        self._partial = session.empty(groups, np.float32)
        self._launch = self.program.bind(
            "squared_errors",
            n_items,
            {**model.scope, **upload_ratings(session, ratings, weights)},
            n=self.n,
            partial=self._partial,
            max_groups=groups,
        )

    def rmse(self) -> float:
        """Return the root (weighted) mean square error of the model on the ratings; NaN without ratings of weight."""
        if not self._total:
            return math.nan
        self.begin()
        return math.sqrt(self.squares() / self._total)

    def begin(self) -> cl.Event:
        """Enqueue the computation of the model's squared errors, and return its event."""
        return self._launch()

    def squares(self) -> float:
        """Return the sum of the model's (weighted) squared errors that :meth:`begin` has computed."""
        return float(self._partial.get().sum(dtype=np.float64))


class Bounds:
    """A check that all factors and biases of a model are small enough to give finite prediction errors."""

    def __init__(self, session: Session, model: DeviceModel) -> None:
        self._found = session.empty(1, np.uint32)
        self._launches = []
        for array in model.arrays.values():
            program = session.program(_WILD, {"HALF_STORAGE": int(array.dtype.itemsize == 2)})
            most = _GROUPS_PER_UNIT * session.facts.compute_units
            self._launches.append(program.bind(
                "find_wild", array.size, n=array.size, numbers=array, found=self._found, max_groups=most
            ))  # fmt: skip

    def hold(self) -> bool:
        """Wait for all enqueued work.

        Return whether all factors and biases of the model are small enough.
        """
        self._found.fill(0)
        for launch in self._launches:
            launch()
        return not self._found.item(0)
