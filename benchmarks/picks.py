"""How good the picks in rows of ``bench_cost_model.py`` are: tables, and a figure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, geometric_mean

import bench_factorization
from judged import N_SWEEPS, RATINGS
from tabulate import tabulate

from clgraph.figure import figure_file
from clgraph.report import Row, by_benchmark, regrets

_LATE = 1.2  # Inputs are listed above this pick / best.
_SHOWN_LOSS = 1.01  # Picks closer to the best time than this count as the best.
_CALLS = {"wall": "call", "least_wall": "least_call", "predicted": "predicted_call"}


def as_one_run(row: Row) -> Row:
    """Return a row with the times that the model decides on: the times of calls, if they were measured.

    Of factorisation it is the preparation with all sweeps. ``run_seconds`` is the least time without what a call takes
    beside it.
    """
    if "run_seconds" in row:
        return row
    row = {**row, "run_seconds": row["least_wall_seconds"]}
    if "least_call_seconds" in row:
        return {**row, **{f"{name}_seconds": row[f"{_CALLS[name]}_seconds"] for name in _CALLS}}
    if row["benchmark"] != RATINGS or row.get("cut"):
        return row
    if row["strategy"] == bench_factorization.RACY:  # it loses steps, so that "auto" must not take it
        return {**row, "kind": ""}
    for name, preparation in (("wall", ""), ("least_wall", ""), ("predicted", "predicted_")):
        row[f"{name}_seconds"] = row[f"{preparation}preparation_seconds"] + N_SWEEPS * row[f"{name}_seconds"]
    return {**row, "run_seconds": row["least_wall_seconds"]}


def quality(rows: Sequence[Row]) -> str:
    """Return how good the picks are, a line for each algorithm and device.

    The columns are the geometric mean and the worst of pick / best; the mean where runs alone count, without what a
    call takes beside them; the mean of best / pick, which is the share of what an oracle would get; how often the best
    strategy was the first, and among the first two, by prediction; and predicted over measured seconds of all
    strategies: the geometric mean and the range without the outer twentieths.
    """
    cells = []
    for benchmark, group in by_benchmark(map(as_one_run, rows)).items():
        judged = [row for row in group if row.get("kind") and row.get("predicted_seconds")]
        lost = regrets(judged, "least_wall")
        for device in dict.fromkeys(row["device"] for row in judged):
            ratios = {graph: ratio for (where, graph), (*_, ratio) in lost.items() if where.startswith(device)}
            if ratios:
                here = [row for row in judged if row["device"] == device]
                cells.append([benchmark, device, len(ratios), *_quality(here, ratios)])
    headers = [
        "algorithm", "device", "inputs", "pick / best", "worst", "of runs alone", "share of oracle", "first",
        "first two", "predicted / measured",
    ]  # fmt: skip
    return str(tabulate(cells, headers, tablefmt="github", disable_numparse=True))


def _quality(rows: Sequence[Row], ratios: Mapping[str, float]) -> list[str]:
    """Return the figures of one algorithm on one device; *ratios* are pick / best by input."""
    by_input: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_input[row["graph"]].append(row)
    places = []
    for found in by_input.values():
        best = min(found, key=lambda row: float(row["least_wall_seconds"]))
        places.append(sorted(found, key=lambda row: float(row["predicted_seconds"])).index(best))
    errors = sorted(row["predicted_seconds"] / row["least_wall_seconds"] for row in rows)
    outer = len(errors) // 20
    worst = max(ratios, key=ratios.__getitem__)
    is_cut = any(row.get("cut") and row.get("picked") for row in by_input[worst])
    return [
        f"{geometric_mean(ratios.values()):.3f}",
        f"{'> ' * is_cut}{ratios[worst]:.2f} ({worst})",
        f"{geometric_mean(ratio for *_, ratio in regrets(rows, 'run').values()):.3f}",
        f"{fmean(1 / ratio for ratio in ratios.values()):.3f}",
        *(f"{fmean(place <= most for place in places):.0%}" for most in (0, 1)),
        f"{geometric_mean(errors):.2f} ({errors[outer]:.2f} … {errors[-1 - outer]:.2f})",
    ]


def plot(rows: Sequence[Row], path: str) -> None:
    """Draw for each algorithm pick / best of all inputs, the worst first."""
    devices = dict.fromkeys(f"{row['device']} ({row['platform']})" for row in rows)
    with figure_file(path, 8.0, 5.0) as figure:
        axes = figure.add_subplot()
        longest = 1
        for k, (benchmark, group) in enumerate(by_benchmark(map(as_one_run, rows)).items()):
            ratios = sorted((ratio for *_, ratio in regrets(group, "least_wall").values()), reverse=True)
            n_lost = sum(ratio > _SHOWN_LOSS for ratio in ratios)
            longest = max(longest, n_lost)
            label = f"{benchmark}: {n_lost} of {len(ratios)}"
            style = {"marker": "os^Dv*P"[k % 7], "markersize": 4, "color": f"C{k}"}
            axes.plot(range(1, len(ratios) + 1), ratios, label=label, **style)
        axes.set_xlim(0.5, longest + 2.5)  # To the right, all picks are the fastest strategies.
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.set_xlabel("inputs, the worst first")
        axes.set_ylabel("time of the pick / time of the best strategy")
        axes.set_title(f"How much longer the cost model's picks take: {', '.join(devices)}")
        axes.grid(alpha=0.3)
        axes.legend(title=f"inputs whose pick takes over {_SHOWN_LOSS:g} of the best time")


def late(rows: Sequence[Row]) -> str:
    """Return the inputs whose picks lose much, and the strategies that were cut off."""
    cells, cut = [], []
    for benchmark, group in by_benchmark(map(as_one_run, rows)).items():
        seconds = {(row["graph"], row["strategy"]): float(row["least_wall_seconds"]) for row in group}
        for (_, graph), (pick, best, ratio) in regrets(group, "least_wall").items():
            if ratio > _LATE:
                times = (f"{1e3 * seconds[graph, name]:.3g}" for name in (pick, best))
                cells.append([benchmark, graph, f"{ratio:.2f}", pick, best, *times])
        cut += [
            f"{benchmark}, {row['graph']}: {row['strategy']} was cut off after {row['wall_seconds']:g} s"
            for row in group
            if row.get("cut")
        ]
    cells.sort(key=lambda cell: (cell[0], -float(cell[2])))
    headers = ["algorithm", "input", "pick / best", "pick", "best", "pick ms", "best ms"]
    return "\n".join([str(tabulate(cells, headers, tablefmt="github", disable_numparse=True)), *cut])


def changed(rows: Sequence[Row], others: Sequence[Row]) -> str:
    """Return the picks in which *rows* differ from *others* on the same inputs, and the time that both lose.

    Times are the least of both, so that picks that are alike lose alike.
    """
    seconds: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    picks: list[dict[tuple[str, str], str]] = [{}, {}]
    for found, group in zip(picks, (others, rows), strict=True):
        for row in map(as_one_run, group):
            of_input, name = seconds[row["benchmark"], row["graph"]], row["strategy"]
            of_input[name] = min(of_input.get(name, math.inf), float(row["least_wall_seconds"]))
            if row.get("picked"):
                found[row["benchmark"], row["graph"]] = name
    cells, lost = [], defaultdict(list)
    for (benchmark, graph), pick in picks[1].items():
        before, times = picks[0].get((benchmark, graph)), seconds[benchmark, graph]
        if before is None:
            continue
        lost[benchmark].append([times[name] / min(times.values()) for name in (before, pick)])
        if before != pick:
            cells.append([benchmark, graph, before, pick, *(f"{1e3 * times[name]:.3g}" for name in (before, pick))])
    means = [
        f"{benchmark}: pick / best {geometric_mean(a for a, _ in ratios):.3f} before, "
        f"{geometric_mean(b for _, b in ratios):.3f} now, {len(ratios)} inputs" for benchmark, ratios in lost.items()
    ]  # fmt: skip
    headers = ["algorithm", "input", "pick before", "now", "before ms", "now ms"]
    return "\n".join([str(tabulate(cells, headers, tablefmt="github", disable_numparse=True)), "", *means])
