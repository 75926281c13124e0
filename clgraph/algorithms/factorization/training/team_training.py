"""Training on several devices, with a thread for each device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clgraph.algorithms.factorization.factors import DeviceModel
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.training.device_blocks import DeviceBlocks, in_layout
from clgraph.algorithms.factorization.training.several_devices import SeveralDevices
from clgraph.algorithms.factorization.training.training import finish_aside
from clgraph.data.ratings.ratings import Ratings
from clgraph.multi_device.team import Team
from clgraph.runtime.memory.arrays import DeviceArray


class TeamFactorization(SeveralDevices):
    """Training of a factorisation model on several devices of this process.

    Parameters
    ----------
    devices : "all", or sequence of str, Session or pyopencl.Device
    ratings, **options
        As in :class:`SeveralDevices`.

    Raises
    ------
    InputError
        A device is named twice, or an error as in :class:`SeveralDevices`.
    NoDeviceError
        No device is given.
    """

    def __init__(self, devices: object, ratings: Ratings, **options: Any) -> None:
        self.team = Team(devices)
        super().__init__(len(self.team), ratings, **options)

    def _make(
        self, problems: Sequence[Sequence[FactorizationProblem]], strategy: str, options: Mapping[str, Any] | None,
        deterministic: bool,
    ) -> None:  # fmt: skip
        # The blocks are made one after the other, because drivers compile one program at a time.
        self._blocks = [
            DeviceBlocks(self.team.sessions[d], d, each, strategy, options, deterministic)
            for d, each in enumerate(problems)
        ]

    @property
    def sent_bytes(self) -> int:  # type: ignore[override]
        return self.team.sent_bytes

    def call(self, method: str, *arguments: Sequence[Any]) -> list[Any]:
        given = zip(*arguments, strict=True) if arguments else [()] * self._n
        return [getattr(blocks, method)(*each) for blocks, each in zip(self._blocks, given, strict=True)]

    def _names(self) -> list[str]:
        return self.team.names()[: self._n]

    def _sweep(self, rate: float, regularization: float) -> None:
        n = self._n
        for s in range(n):
            self.team.each(lambda d, s=s: self._blocks[d].sweep((d + s) % n, rate, regularization), range(n))  # type: ignore[misc]
            if n > 1:
                self._hand_on(s)

    def _hand_on(self, s: int) -> None:
        """After stratum *s*, copy each device's users to its next cell, and fetch the items that the next device has.

        All devices copy the items that they fetch before any array is overwritten.
        """
        n = self._n
        items = self.team.each(lambda d: self._fetched(d, (d + s + 1) % n, (d + 1) % n), range(n))
        self.team.each(lambda d: self._place(d, (d + s) % n, (d + s + 1) % n, items[d]), range(n))

    def _squares(self, with_loss: bool, with_evaluation: bool) -> list[tuple[float, float]]:
        n = self._n

        def squares(d: int) -> list[tuple[float, float]]:
            found = []
            for q in range(n):
                if q != d:
                    self._place(d, d, q, self._fetched(d, q, q))
                found.append(self._blocks[d].squares(q, with_loss, with_evaluation))
            return found

        return [each for found in self.team.each(squares, range(n)) for each in found]

    def _fetched(self, d: int, q: int, owner: int) -> dict[str, DeviceArray]:
        """Return copies on device *d* of the items of block *q* that device *owner* has."""
        blocks = self._blocks[owner]
        source, target = blocks.cells[q].model, self._blocks[d].cells[q].model
        return {name: self._sent(source, target, name) for name in blocks.arrays(q, "item")}

    def _place(self, d: int, before: int, q: int, items: Mapping[str, DeviceArray]) -> None:
        """Copy *items*, and the users of device *d* from its cell of block *before*, to its cell of block *q*."""
        with self.team.sessions[d].driver:
            targets = self._blocks[d].arrays(q, "item")
            for name, array in items.items():
                targets[name].copy_from(array)
            self._blocks[d].move_users(before, q)
        finish_aside(self.team.sessions[d])

    def _sent(self, source: DeviceModel, target: DeviceModel, name: str) -> DeviceArray:
        """Return a copy of the array *name* of the model *source* on the
        device of the model *target*, in its layout.
        """
        session, array = target.session, source.arrays[name]
        if array.size == target.arrays[name].size:
            return self.team.send(array, session)
        return session.upload(in_layout(array.get(), source.n_items, target, source.layout.padded))
