"""What the plans of all strategies share."""
from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.factorization.factors import DeviceModel
from clgraph.arguments import checked_count
from clgraph.data.ratings import Ratings
from clgraph.primitives.types import MAX_ITEMS
from clgraph.runtime.program import Launch, Program
from clgraph.runtime.session import Session

_INT32_RATINGS = 2**31 - 2**24  # the room that is left is more than any kernel's stride


class FactorizationPlan:
    """A strategy compiled, allocated and preprocessed for some ratings; ``run()`` is one sweep over them.

    Subclasses fill ``launches`` or override :meth:`run`. Creating a plan is the preprocessing, which sorts and counts
    ratings with the primitives: like those, a plan takes less than 2**31 of them.

    Attributes
    ----------
    session, ratings, model
    launches : list of Launch
        What ``run()`` enqueues.
    scope : dict of str to Any
        Arguments that the kernels of the plan share: those of the model, and what subclasses add.

    Raises
    ------
    InputError
        There are too many ratings.
    """

    def __init__(self, session: Session, ratings: Ratings, model: DeviceModel, **defines: int | str) -> None:
        checked_count("n_ratings", ratings.n_ratings, MAX_ITEMS, least=0)
        self.session, self.ratings, self.model = session, ratings, model
        self.offset_type = np.int32 if ratings.n_ratings < _INT32_RATINGS else np.int64
        self.defines: dict[str, int | str] = {
            **model.defines(), "OFFSET_T": "int" if self.offset_type is np.int32 else "long", **defines,
        }
        self.launches: list[Launch] = []
        self.scope: dict[str, Any] = dict(model.scope)

    @property
    def lanes(self) -> int:
        """Work-items of a slot."""
        return self.model.layout.lanes

    def program(self, source: str, *, work_group_size: int | None = None, **defines: int | str) -> Program:
        return self.session.program(source, {**self.defines, **defines}, work_group_size=work_group_size)

    def run(self) -> None:
        """Enqueue one sweep; nothing is read back."""
        for launch in self.launches:
            launch()

    def check(self) -> None:
        """Wait for the last sweep, and raise if it was not whole."""
