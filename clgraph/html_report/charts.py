"""Charts with two logarithmic axes, as inline SVG with a legend in HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

_WIDTH, _HEIGHT = 460, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 18, 12, 52
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c510a", "#666666")
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_MAX_TICKS = 9
_PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}

Point = tuple[float, float]


class Series(NamedTuple):
    """Points with one name.

    All coordinates are positive.
    """

    name: str
    points: Sequence[Point]
    is_strong: bool = False  # whether it is drawn black and thick


@dataclass(frozen=True)
class _Axis:
    """A logarithmic axis from *low* to *high* that covers the pixels from *begin* to *end*."""

    low: float
    high: float
    begin: float
    end: float

    def place(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> Iterator[float]:
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        return (10.0**k for k in range(first, last + 1, 1 + (last - first) // _MAX_TICKS))


def line_chart(series: Sequence[Series], x_label: str, y_label: str, title: str) -> str:
    """Return a figure with a line for each series; series that are not strong differ by colour and dashes."""
    return _figure(series, x_label, y_label, title, _lines, diagonal=False)


def scatter_chart(series: Sequence[Series], x_label: str, y_label: str, title: str) -> str:
    """Return a figure with a dot for each point, both axes of one range, and a line where x and y are equal."""
    return _figure(series, x_label, y_label, title, _dots, diagonal=True)


def _figure(
    series: Sequence[Series], x_label: str, y_label: str, title: str,
    draw: Callable[[Series, int, _Axis, _Axis], str], *, diagonal: bool,
) -> str:  # fmt: skip
    points = [point for one in series for point in one.points]
    xs, ys = zip(*points, strict=True)
    if diagonal:
        xs = ys = xs + ys
    across = _Axis(*_decades(xs), _LEFT, _WIDTH - _RIGHT)
    up = _Axis(*_decades(ys), _HEIGHT - _BOTTOM, _TOP)
    parts = [*_grid(across, up), *_labels(x_label, y_label)]
    if diagonal:
        ends = f'x1="{across.begin}" y1="{up.begin}" x2="{across.end}" y2="{up.end}"'
        parts.append(f'<line {ends} stroke="#444" stroke-dasharray="4 4"/>')
    parts += [draw(one, number, across, up) for number, one in enumerate(series)]
    legend = "".join(f"<li>{_sample(one, number, draw)}{escape(one.name)}</li>" for number, one in enumerate(series))
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}" '
        f'font-family="inherit" font-size="13"><title>{escape(title)}</title>{"".join(parts)}</svg>'
        f'<ul class="legend">{legend}</ul></figure>'
    )


def _decades(values: Sequence[float]) -> tuple[float, float]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def _grid(across: _Axis, up: _Axis) -> Iterator[str]:
    for x in across.ticks():
        at = across.place(x)
        yield f'<line x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{_HEIGHT - _BOTTOM}" stroke="#e3e7ec"/>'
        yield f'<text x="{at:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{_short(x)}</text>'
    for y in up.ticks():
        at = up.place(y)
        yield f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" y2="{at:.1f}" stroke="#e3e7ec"/>'
        yield f'<text x="{_LEFT - 6}" y="{at + 3:.1f}" text-anchor="end">{_short(y)}</text>'


def _labels(x_label: str, y_label: str) -> Iterator[str]:
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>'
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    yield f'<text transform="translate(13 {middle}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>'


def _short(value: float) -> str:
    """Return a power of ten with an SI prefix: 100 k, 10 m."""
    power = round(math.log10(value))
    prefix = max(-9, min(12, 3 * (power // 3)))
    return f"{10.0 ** (power - prefix):g}{_PREFIXES[prefix]}"


def _stroke(one: Series, number: int) -> str:
    if one.is_strong:
        return 'stroke="#000" stroke-width="2.6"'
    dashes = _DASHES[number // len(_COLORS) % len(_DASHES)] or _DASHES[number % len(_DASHES)]
    return f'stroke="{_COLORS[number % len(_COLORS)]}" stroke-width="1.7" stroke-dasharray="{dashes}"'


def _lines(one: Series, number: int, across: _Axis, up: _Axis) -> str:
    path = " ".join(f"{across.place(x):.1f},{up.place(y):.1f}" for x, y in one.points)
    return f'<polyline points="{path}" fill="none" {_stroke(one, number)}/>'


def _dots(one: Series, number: int, across: _Axis, up: _Axis) -> str:
    return "".join(_dot(number, across.place(x), up.place(y)) for x, y in one.points)


def _dot(number: int, x: float, y: float) -> str:
    """Return a dot. Dots of the same colour differ in shape, since there are more series than colours."""
    color = f'fill="{_COLORS[number % len(_COLORS)]}" fill-opacity=".8"'
    if number % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" {color}/>'
    if number % 3 == 1:
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" {color}/>'
    return f'<path d="M{x - 4:.1f} {y + 3:.1f}h8l-4 -7z" {color}/>'


def _sample(one: Series, number: int, draw: Callable[[Series, int, _Axis, _Axis], str]) -> str:
    mark = _dot(number, 17, 6) if draw is _dots else f'<path d="M1 6H33" {_stroke(one, number)}/>'
    return f'<svg viewBox="0 0 34 12" aria-hidden="true">{mark}</svg>'
