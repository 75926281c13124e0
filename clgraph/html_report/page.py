"""A report on one device as one HTML page: facts, atomics, strategies, and the studies."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from clgraph import __version__
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceProfile
from clgraph.device.profile_files import shipped_profiles
from clgraph.html_report import elements as html
from clgraph.html_report.charts import Point, Series, line_chart, scatter_chart
from clgraph.html_report.studies import STUDIES
from clgraph.report import by_benchmark
from clgraph.tables import milliseconds

Row: TypeAlias = Mapping[str, Any]
OPERATION = "add_int32"
_MEMORY = (
    ("memory", "global_mem_bytes"),
    ("largest allocation", "max_alloc_bytes"),
    ("local memory", "local_mem_bytes"),
)
_BYTES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def report_page(facts: DeviceFacts, profile: DeviceProfile, rows: Sequence[Row], origin: str) -> str:
    """Return the page as text.

    Parameters
    ----------
    facts, profile
        Those of the device.
    rows : sequence of dict
        As :func:`clgraph.report.read_rows` and :func:`clgraph.html_report.measured.measured_rows` return them.
    origin : str
        A sentence that says where the rows come from.
    """
    sections = [*_sections(facts, profile, rows, origin)]
    intro = html.paragraph(
        f"clgraph {__version__}, {time.strftime('%Y-%m-%d')}. Times are in milliseconds (ms), and rates in "
        "operations per second. Wide tables scroll sideways.",
        is_note=True,
    )
    links = html.contents((key, title) for key, title, _ in sections)
    return html.page(
        f"clgraph on {facts.name}", "\n".join([intro, links, *(html.section(key, *rest) for key, *rest in sections)])
    )


def _sections(
    facts: DeviceFacts, profile: DeviceProfile, rows: Sequence[Row], origin: str
) -> Iterator[tuple[str, str, str]]:
    yield "device", "Device", _device(facts, profile)
    yield "atomics", "Atomics on one word", _atomics(profile)
    yield "strategies", "Strategies, predicted and measured", _strategies(rows, origin)
    yield "studies", "Five studies", "\n".join(_studies(rows))


def _device(facts: DeviceFacts, profile: DeviceProfile) -> str:
    fields: dict[str, object] = {
        "device": facts.name, "vendor": facts.vendor, "platform": f"{facts.platform} {facts.platform_version}",
        "driver": facts.driver_version, "type": "CPU" if facts.is_cpu else "GPU", "compute units": facts.compute_units,
        "sub-group": f"{facts.sub_group_size} lanes", "largest work-group": f"{facts.max_work_group_size} work-items",
        **{name: _bytes(getattr(facts, field)) for name, field in _MEMORY},
        "64-bit atomics": "yes" if facts.has_int64_atomics else "no",
        "device-wide barrier": "yes" if facts.dialect.has_grid_barrier else "no",
    }  # fmt: skip
    rates = profile.rates
    times = [
        ["one of many launches", f"{1e6 * rates.launch_seconds:.3g} µs"],
        ["launch and read-back of 4 bytes", f"{1e6 * rates.read_back_seconds:.3g} µs"],
        ["take a lock and free it", f"{1e6 * rates.lock_seconds:.3g} µs"],
        ["streaming", f"{1e-9 * rates.stream_bytes_per_second:.3g} GB/s"],
    ]
    return (
        html.table(("fact", "value"), fields.items(), "From the driver")
        + html.table(("rate", "value"), times, f"Rates: {profile.origin} ({profile.source})")
        + html.paragraph("clgraph probe measures the rates of this device and keeps them.", is_note=True)
    )


def _bytes(count: int) -> str:
    return next((f"{count / size:.4g} {unit}" for size, unit in _BYTES if count >= size), f"{count} bytes")


def _atomics(profile: DeviceProfile) -> str:
    shipped = [p for p in shipped_profiles().values() if p.origin != "generic"]
    curves = [p.rates.same_address_atomics_per_second[OPERATION] for p in (*shipped, profile)]
    last = max(max(curve) for curve in curves)
    names = [f"{p.device} ({p.origin})" for p in shipped] + [f"{profile.device}: this device ({profile.origin})"]
    series = [
        Series(name, _reaching(curve, last), is_strong=number == len(shipped))
        for number, (name, curve) in enumerate(zip(names, curves, strict=True))
    ]
    return html.paragraph(
        f"How many updates ({OPERATION}) of one word in memory the whole device makes per second, by the number of "
        "work-items that make them at the same time. Where this rate is low, strategies without atomics win."
    ) + line_chart(
        series, "work-items that update one word", "updates per second", "Atomics on one word, by work-items"
    )


def _reaching(curve: Mapping[int, float], last: int) -> list[Point]:
    """Return the points of *curve* up to *last*; a curve is constant beyond its last point."""
    points = [(float(x), rate) for x, rate in sorted(curve.items())]
    return [*points, *([(float(last), points[-1][1])] if points[-1][0] < last else [])]


def _strategies(rows: Sequence[Row], origin: str) -> str:
    parts = [html.paragraph(origin)]
    priced = by_benchmark(row for row in rows if "predicted_seconds" in row)
    series = [
        Series(name, [(row["predicted_seconds"], _wall(row)) for row in group if _is_point(row)])
        for name, group in priced.items()
    ]
    if series := [one for one in series if one.points]:
        parts.append(scatter_chart(series, "predicted, s", "measured, s", "Measured time by predicted time"))
        parts.append(html.paragraph(
            "Each dot is a strategy on an input. On the dashed line, the prediction is exact; what counts for a pick "
            "is the order of the strategies of one input.", is_note=True,
        ))  # fmt: skip
    for name, group in priced.items():
        parts += [html.heading(name), _predictions(group)]
    return "\n".join(parts)


def _wall(row: Row) -> Any:
    return row["least_wall_seconds"] if "least_wall_seconds" in row else row.get("wall_seconds")


def _is_point(row: Row) -> bool:
    return bool(row["predicted_seconds"]) and bool(_wall(row))


def _predictions(rows: Sequence[Row]) -> str:
    best: dict[tuple[str, str], float] = {}
    for row in rows:
        if _wall(row):
            key = row["device"], row["graph"]
            best[key] = min(best.get(key, float("inf")), _wall(row))
    devices = dict.fromkeys(row["device"] for row in rows)
    headers = ("graph", "strategy", "predicted, ms", "measured, ms", "measured / best", "note")
    cells = [[*([row["device"]] if len(devices) > 1 else []), *_cells(row, best)] for row in rows]
    picked = [number for number, row in enumerate(rows) if row.get("picked")]
    caption = "Least wall time of a call. The model's pick is shaded."
    return html.table(headers if len(devices) == 1 else ("device", *headers), cells, caption, picked)


def _cells(row: Row, best: Mapping[tuple[str, str], float]) -> list[object]:
    predicted, wall = row["predicted_seconds"], _wall(row)
    ratio = f"{wall / best[row['device'], row['graph']]:.2f}" if wall else ""
    note = row.get("reason") or ("picked" if row.get("picked") else "")
    return [
        row["graph"], row["strategy"], "" if predicted is None else milliseconds(predicted),
        milliseconds(wall) if wall else "", ratio, note,
    ]  # fmt: skip


def _studies(rows: Sequence[Row]) -> Iterator[str]:
    yield html.paragraph("Published figures that the documentation quotes, beside the rows of the given files.")
    for study in STUDIES:
        yield html.heading(study.title)
        yield html.paragraph(study.source)
        for each in study.tables:
            if cells := each.cells(rows):
                yield html.table(each.headers, cells, each.title)
                yield html.paragraph(each.note, is_note=True)
            else:
                yield html.paragraph(f"{each.title}: the given files hold no rows of it.", is_note=True)
