"""Reports on the rounds of a scheduler of several devices, as a table and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from clgraph.errors import InputError
from clgraph.figure import figure_file


@dataclass(frozen=True)
class RoundReport:
    """A report on one scheduling round, which computed one load.

    Tuples have one value per device, except ``dropped``.

    Attributes
    ----------
    items : tuple of int
        The number of items that each device computed.
    seconds : tuple of float
        How long each device was busy, including copies.
    idle : tuple of float
        The share of the round in which each device was not busy, from 0 to 1.
    steals : tuple of int
        How often each device took items that were assigned to another device.
    ratios : tuple of float or None
        The shares that were planned before the round; ``None`` without a plan.
    total_seconds : float
        The time from the beginning of the round until its result was complete.
    dropped : tuple of int
        The positions of the devices that failed in this round.
    """

    items: tuple[int, ...]
    seconds: tuple[float, ...]
    idle: tuple[float, ...]
    steals: tuple[int, ...]
    ratios: tuple[float, ...] | None
    total_seconds: float
    dropped: tuple[int, ...] = ()


@dataclass(frozen=True)
class HeteroReport:
    """A report on the rounds of a scheduler: how loads were divided among devices.

    Attributes
    ----------
    policy : str
    devices : tuple of str
        The names of the devices, with their numbers of compute units.
    rounds : tuple of RoundReport
        One report for each load.
    """

    policy: str
    devices: tuple[str, ...]
    rounds: tuple[RoundReport, ...]

    def __str__(self) -> str:
        head = ["round", "device", "items", "ms", "idle", "steals", "planned"]
        body = [
            [
                k,
                name,
                done.items[d],
                1e3 * done.seconds[d],
                f"{done.idle[d]:.0%}",
                done.steals[d],
                "failed" if d in done.dropped else "" if done.ratios is None else f"{done.ratios[d]:.1%}",
            ]
            for k, done in enumerate(self.rounds)
            for d, name in enumerate(self.devices)
        ]
        return str(tabulate(body, head, "github", floatfmt=".3f"))

    def efficiency(self, alone_seconds: Sequence[float], round: int = -1) -> float:
        """Return the efficiency of a round: its speed divided by the sum of the speeds that single devices have alone.

        It is 1 if the devices do not disturb each other.

        Parameters
        ----------
        alone_seconds : sequence of float
            The seconds that each device alone takes for the same load.
        round : int
            The position of the round; by default, the last round.
        """
        if len(alone_seconds) != len(self.devices) or not min(alone_seconds) > 0:
            raise InputError(f"alone_seconds = {alone_seconds}; allowed: {len(self.devices)} numbers above 0")
        return 1 / (self.rounds[round].total_seconds * sum(1 / seconds for seconds in alone_seconds))

    def plot(self, path: str | Path) -> None:
        """Draw the share of each round that every device has computed, and the time for which each device was busy.

        Parameters
        ----------
        path : str or Path
            Its suffix gives the format: ``.png``, ``.svg``, ``.pdf``.

        Raises
        ------
        MissingExtraError, InputError
            As :func:`clgraph.figure.check_figure`.
        """
        with figure_file(path, 9.0, 6.4) as figure:
            shares, times = figure.subplots(2, 1, sharex=True)
            places = range(len(self.rounds))
            bottoms = [0.0] * len(self.rounds)
            width = 0.8 / len(self.devices)
            for d, name in enumerate(self.devices):
                parts = [done.items[d] / max(1, sum(done.items)) for done in self.rounds]
                shares.bar(places, parts, bottom=bottoms, label=name)
                bottoms = [below + part for below, part in zip(bottoms, parts, strict=True)]
                times.bar(
                    [k + (d + 0.5) * width - 0.4 for k in places], [1e3 * r.seconds[d] for r in self.rounds], width
                )
            totals = [1e3 * done.total_seconds for done in self.rounds]
            times.hlines(totals, [k - 0.4 for k in places], [k + 0.4 for k in places], color="black")
            shares.set_title(f"Loads on {len(self.devices)} devices by the policy {self.policy}")
            shares.set_ylabel("part of the items")
            times.set_ylabel("busy (black: the round), ms")
            times.set_xlabel("round")
            times.set_xticks(places)
            figure.legend(*shares.get_legend_handles_labels(), loc="outside lower center", frameon=False)
