"""The command ``clgraph probe``, which measures a device's atomics, memory and latencies."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clgraph.cli.options import add_device, add_json, add_plot, check_plot, open_session
from clgraph.cli.terminal import busy, print_fields, print_json, print_table

if TYPE_CHECKING:
    from clgraph.device.profile import DeviceProfile
    from clgraph.runtime.session import Session

HELP = "measure a device's atomics, memory and latencies"
_PREFIXES = {1e12: "T", 1e9: "G", 1e6: "M", 1e3: "k", 1.0: "", 1e-3: "m", 1e-6: "µ", 1e-9: "n"}
_BINARY_PREFIXES = {30: " Gi", 20: " Mi", 10: " Ki", 0: ""}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_device(parser)
    parser.add_argument("--full", action="store_true", help="all points of each curve, for about a minute")
    parser.add_argument(
        "--no-cache", action="store_true", help="measure again even if a measurement of this device is kept"
    )
    add_plot(parser, "atomics on one address beside the shipped profiles")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    check_plot(args)
    session = open_session(args)
    show(args, measure(args, session))
    return 0


def measure(args: argparse.Namespace, session: Session) -> DeviceProfile:
    """Return the profile of the session's device, measured with the options in *args*."""
    from clgraph.probing import probe
    from clgraph.progress import Progress

    what = f"probing {session.facts.name}"
    with busy(what) as report:
        return probe(
            session, quick=not args.full, use_cache=not args.no_cache,
            progress=lambda done, total, name: report(Progress(what, done, total, "trials", name)),
        )  # fmt: skip


def show(args: argparse.Namespace, profile: DeviceProfile) -> None:
    """Print the device profile *profile* and draw it, with the options in *args*."""
    if args.plot is not None:
        from clgraph.probing.plot import plot_same_address

        plot_same_address(profile, args.plot)
    if args.json:
        print_json(profile.to_json())
    else:
        print_profile(profile)


def print_profile(profile: DeviceProfile) -> None:
    """Print the rates of a device *profile* as tables, and its notes."""
    print(f"{profile.device}: {profile.origin} ({profile.source})\n")
    _print_latencies(profile)
    _print_memory(profile)
    for title, key, unit in (
        ("atomics on one address, by work-items", "same_address_atomics_per_second", "work-items"),
        ("atomics on random addresses, by words", "spread_atomics_per_second", "words"),
    ):
        _print_curves(profile, title, key, unit)
    _print_group_atomics(profile)
    title = "vertices and edges that one core of the host takes, by working set"
    _print_curves(profile, title, "host_items_per_second", "bytes")
    if profile.notes:
        print("\nnotes")
        print_fields({f"  {name}": text for name, text in profile.notes.items()})


def _print_latencies(profile: DeviceProfile) -> None:
    rates, spread = profile.rates, profile.spread
    barrier = rates.grid_barrier_seconds
    rows = (
        ("one of many launches", "launch_seconds", _si(rates.launch_seconds, "s")),
        ("launch and 4-byte read-back", "read_back_seconds", _si(rates.read_back_seconds, "s")),
        ("device-wide barrier", "grid_barrier_seconds", _si(barrier, "s") if barrier < 1e9 else "none"),
        ("take a lock and free it", "lock_seconds", _si(rates.lock_seconds, "s")),
        ("streaming", "stream_bytes_per_second", _si(rates.stream_bytes_per_second, "B/s")),
    )
    print_table(["", "median", "spread"], [[text, value, _percent(spread, key)] for text, key, value in rows])


def _print_memory(profile: DeviceProfile) -> None:
    gathers, chain = profile.rates.gathers_per_second, profile.rates.dependent_load_seconds
    print("\nrandom 4-byte loads, by working set")
    print_table(
        ["bytes", "independent", "dependent"],
        [[_binary(size), _cell(gathers, size, "/s"), _cell(chain, size, "s")] for size in sorted({*gathers, *chain})],
    )
    print(
        f"spread: {_percent(profile.spread, 'gathers_per_second')} and "
        f"{_percent(profile.spread, 'dependent_load_seconds')} at the worst points"
    )


def _print_curves(profile: DeviceProfile, title: str, key: str, unit: str) -> None:
    """Print a table of the rate *key*.

    Each curve takes a column, and the last row has the spreads of the curves.
    """
    curves = getattr(profile.rates, key)
    points = sorted({x for curve in curves.values() for x in curve})
    print(f"\n{title}")
    print_table(
        [unit, *curves],
        [
            *([_binary(x), *(_cell(curve, x, "/s") for curve in curves.values())] for x in points),
            ["spread", *(_percent(profile.spread, f"{key}.{name}") for name in curves)],
        ],
    )


def _print_group_atomics(profile: DeviceProfile) -> None:
    per_group, local = profile.rates.group_address_atomics_per_second, profile.rates.local_atomics_per_second
    print("\natomics on one address per work-group")
    print_table(
        ["memory", *per_group],
        [
            ["global", *(_si(value, "/s") for value in per_group.values())],
            ["local", *(_cell(local, name, "/s") for name in per_group)],
        ],
    )


def _cell(rates: Mapping[Any, float], key: int | str, unit: str) -> str:
    return _si(rates[key], unit) if key in rates else ""


def _si(value: float, unit: str) -> str:
    """Return *value* as text with three significant figures, an SI prefix and *unit*."""
    factor = next((factor for factor in _PREFIXES if value >= factor), min(_PREFIXES))
    return f"{value / factor:.3g} {_PREFIXES[factor]}{unit}"


def _binary(n: int) -> str:
    shift = next(shift for shift in _BINARY_PREFIXES if n >= 1 << shift and n % (1 << shift) == 0)
    return f"{n >> shift}{_BINARY_PREFIXES[shift]}"


def _percent(spread: Mapping[str, float], key: str) -> str:
    return f"{spread[key]:.0%}" if key in spread else ""
