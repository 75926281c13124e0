"""A plot of a device's rate of atomics on one address, compared with the rates in the shipped profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clgraph.device.profile import DeviceProfile
from clgraph.device.profile_files import shipped_profiles
from clgraph.figure import figure_file

# The line style of a device's curve tells the origin of the device's profile.
_STYLES: dict[str, dict[str, Any]] = {
    "measured": {"linewidth": 1.6},
    "literature": {"linewidth": 1.6, "linestyle": "--"},
    "generic": {"linewidth": 1.2, "linestyle": ":"},
}


def plot_same_address(profile: DeviceProfile, path: str | Path, operation: str = "add_int32") -> None:
    """Save a plot of a device's rate of atomics on one address against the number of work-items.

    Parameters
    ----------
    profile : DeviceProfile
        The profile to draw on top of the shipped ones.
    path : str or Path
        Its suffix gives the format: ``.png``, ``.svg``, ``.pdf``.
    operation : str
        Key of ``same_address_atomics_per_second``.

    Raises
    ------
    MissingExtraError, InputError
        As in :func:`clgraph.figure.check_figure`.
    """
    with figure_file(path, 8.0, 6.4) as figure:
        axes = figure.add_subplot()
        shipped = list(shipped_profiles().values())
        last = max(max(p.rates.same_address_atomics_per_second[operation]) for p in (*shipped, profile))
        for other in shipped:
            points = sorted(other.rates.same_address_atomics_per_second[operation].items())
            # A curve is constant beyond its last measured point.
            points += [(last, points[-1][1])] * (points[-1][0] < last)
            label = other.device if other.origin == "generic" else f"{other.device} ({other.origin})"
            axes.plot(*zip(*points, strict=True), label=label, **_STYLES[other.origin])
        points = sorted(profile.rates.same_address_atomics_per_second[operation].items())
        axes.plot(
            *zip(*points, strict=True), label=f"{profile.device} ({profile.origin} here)",
            color="black", marker="o", markersize=4.5, linewidth=2.2,
        )  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.set_xticks([4**k for k in range(1 + last.bit_length() // 2)])
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_yscale("log")
        axes.set_xlabel("work-items that update one word at the same time")
        axes.set_ylabel("atomic operations per second, of all work-items together")
        title = f"How fast one word in memory can be updated: {operation}"
        axes.set_title(f"{title}\n{profile.device}, beside known devices")
        axes.grid(which="major", alpha=0.3)
        figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
