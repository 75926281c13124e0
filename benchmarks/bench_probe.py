"""How long a probe takes, and how well its rates agree from one probe to the next.

    benchmarks/bench_probe.py -d pocl --repeats 3 --json benchmarks/results/probe.json

The first probe compiles unless the driver kept its kernels. ``variation`` of a rate is
(max − min) / median over the probes: beyond the spread of the trials inside one, it tells how far
the cost model may trust the rate. Of a curve, the median over its points is given.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import harness

from clgraph.cli.terminal import busy, print_table
from clgraph.device.profile import DeviceProfile
from clgraph.probing import probe
from clgraph.runtime.session import Session


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("-d", "--device", help="as for `clgraph`; the default is the best device")
    parser.add_argument("--repeats", type=int, default=3, help="probes (default 3)")
    parser.add_argument("--full", action="store_true", help="all points of each curve")
    parser.add_argument("--json", metavar="FILE", help="write the result to this file")
    args = parser.parse_args()
    session = Session(args.device)
    seconds, profiles = measure(session, args.repeats, quick=not args.full)
    rates = compare(profiles)
    print(f"{session.facts.name}: {', '.join(f'{s:.1f} s' for s in seconds)}\n")
    print_table(
        ["rate", "median", "variation", "spread in a probe"],
        [[name, r["median"], f"{r['variation']:.0%}", f"{r['spread']:.0%}"] for name, r in rates.items()],
    )
    if args.json:
        harness.write_document(args.json, {**harness.provenance(session), "probe_seconds": seconds, "rates": rates})
    return 0


def measure(session: Session, repeats: int, *, quick: bool) -> tuple[list[float], list[DeviceProfile]]:
    """Probe *repeats* times; return the seconds and the profiles."""
    seconds, profiles = [], []
    for i in range(repeats):
        with busy(f"probe {i + 1} of {repeats} on {session.facts.name}"):
            started = time.perf_counter()
            profiles.append(probe(session, quick=quick, use_cache=False))
            seconds.append(time.perf_counter() - started)
    return seconds, profiles


def compare(profiles: list[DeviceProfile]) -> dict[str, dict[str, float]]:
    """Return median and variation of every rate that all *profiles* measured."""
    tables = [dict(_points(profile.to_json()["rates"])) for profile in profiles]
    rates = {}
    for name in profiles[0].spread:
        points = [key for key in tables[0] if key == name or key.startswith(f"{name}.")]
        values = [[table[key] for table in tables] for key in points if all(key in table for table in tables)]
        medians = [statistics.median(v) for v in values]
        rates[name] = {
            "median": statistics.median(medians),
            "variation": statistics.median(
                (max(v) - min(v)) / middle for v, middle in zip(values, medians, strict=True)
            ),
            "spread": statistics.median(profile.spread.get(name, 0.0) for profile in profiles),
        }
    return rates


def _points(rates: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for name, value in rates.items():
        if isinstance(value, Mapping):
            yield from _points(value, f"{prefix}{name}.")
        elif value is not None:
            yield f"{prefix}{name}", value


if __name__ == "__main__":
    sys.exit(main())
