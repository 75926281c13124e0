"""Measure a device without installing clgraph, and write its profile in the form that is shipped.

    python tools/probe_device.py --device nvidia --full --ship clgraph/device/profiles --plot out.png

It has the options of ``clgraph probe``, and two more. ``--ship PATH`` names a file, or a folder in
which the file gets the name under which ``clgraph`` looks for it. ``--repeats N`` probes N times and
takes each rate's median: for machines that others use, too. It also tells how long the probes took and how well the
rates agree: their variation is (max − min) / median, and of a curve the median over its points counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from clgraph.cli import main, probe
from clgraph.cli.options import open_session
from clgraph.cli.terminal import print_table
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceProfile
from clgraph.device.profile_files import platform_name, shipped_name


def parser() -> argparse.ArgumentParser:
    """Return the parser of this program."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    probe.add_arguments(made)
    made.add_argument("--ship", metavar="PATH", type=Path, help="write the profile to this file or folder")
    made.add_argument("--repeats", metavar="N", type=int, default=1, help="median of N probes (1)")
    return made


def run(args: argparse.Namespace) -> int:
    """Measure the device; print and write the profile as *args* ask."""
    session = open_session(args)
    if args.repeats > 1:
        args.no_cache = True
    started = time.perf_counter()
    profiles = [probe.measure(args, session) for _ in range(args.repeats)]
    if args.repeats > 1 and not args.json:
        print(f"{args.repeats} probes in {time.perf_counter() - started:.1f} s\n")
        print_table(["rate", "median", "variation", "spread in a probe"], variations(profiles))
    profile = median_of(profiles)
    if args.ship is not None:  # first: a picture may fail for want of matplotlib
        print(f"wrote {ship(profile, session.facts, args.ship)}", file=sys.stderr)
    probe.show(args, profile)
    return 0


def median_of(profiles: list[DeviceProfile]) -> DeviceProfile:
    """Return a profile with the median of each rate, and of each spread."""
    last = profiles[-1]
    if len(profiles) == 1:
        return last
    document = _merged([p.to_json()["rates"] for p in profiles], statistics.median)
    rates = DeviceProfile.from_json({**last.to_json(), "rates": document}).rates
    source = f"{last.source}; median of {len(profiles)}"
    return replace(last, rates=rates, source=source, spread=_merged([p.spread for p in profiles], statistics.median))


def variations(profiles: list[DeviceProfile]) -> list[list[str]]:
    """Return a row for each rate that was measured."""

    def middle(tree: Any, name: str) -> float:
        for part in name.split("."):
            tree = tree[part]
        return float(statistics.median(tree.values()) if isinstance(tree, Mapping) else tree)

    documents = [profile.to_json()["rates"] for profile in profiles]
    medians = _merged(documents, statistics.median)
    varied = _merged(documents, lambda values: (max(values) - min(values)) / statistics.median(values))
    spreads = _merged([profile.spread for profile in profiles], statistics.median)
    return [
        [name, f"{middle(medians, name):.4g}", f"{middle(varied, name):.0%}", f"{spread:.0%}"]
        for name, spread in spreads.items()
    ]


def _merged(values: list[Any], function: Callable[[list[float]], float]) -> Any:
    """Return *function* of the values of each number that every document has."""
    if isinstance(values[-1], Mapping):
        common = [key for key in values[-1] if all(key in value for value in values)]
        return {key: _merged([value[key] for value in values], function) for key in common}
    return None if None in values else function(values)


def ship(profile: DeviceProfile, facts: DeviceFacts, path: Path) -> Path:
    """Write *profile* for others to use.

    A GPU's stands for GPUs of that name. A CPU's stands for every CPU under its platform, for
    the platform decides more than the processor does, and their names have no end.
    """
    device, name = facts.name, shipped_name(facts)
    if facts.is_cpu:
        device, name = f"any CPU under {facts.platform}", platform_name(facts)
        profile = replace(profile, source=f"{profile.source}, {facts.compute_units} cores")
    target = path / name if path.is_dir() else path
    document = replace(profile, device=device).to_json()
    target.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return target


if __name__ == "__main__":
    sys.exit(main.guarded(run, parser().parse_args()))
