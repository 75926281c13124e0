"""Times of the parts of a call, from OpenCL events and the host's clock, and the ``info`` of results."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

from clgraph.runtime.driver import opencl as cl
from clgraph.tables import field_lines, html_fields, milliseconds, plain, table

_KERNELS = "kernel", "launches", "ms"
_PARTS = "compile", "transfer", "kernel", "host"


@dataclass(frozen=True)
class Seconds:
    """The time of one call and of its parts, in seconds.

    Attributes
    ----------
    total, compile, transfer : float
        Time of the whole call, of compiling, and of copies between host and device.
    kernel : float
        The sum of the kernels' times.
    span : float
        Time from the start of the first kernel to the end of the last one, including gaps.

    All but ``total`` and ``compile`` are NaN if the user's queue lacks ``PROFILING_ENABLE``.
    """

    total: float
    compile: float
    transfer: float
    kernel: float
    span: float = 0.0

    @property
    def host(self) -> float:
        """The part of the total time that was not spent on compiling, copies or kernels."""
        left = self.total - self.compile - self.transfer - self.kernel
        return left if math.isnan(left) else max(0.0, left)


@dataclass
class Recorder:
    """A recorder of the OpenCL events and compile times of one call; see :meth:`Session.measure`."""

    compile_seconds: float = 0.0
    kernel_events: list[tuple[str, cl.Event]] = field(default_factory=list)
    transfer_events: list[cl.Event] = field(default_factory=list)
    seconds: Seconds | None = None
    started: float = field(default_factory=time.perf_counter)
    # Start and end of each recorded kernel, in nanoseconds.
    _times: list[tuple[float, float]] = field(default_factory=list)

    @property
    def last_events(self) -> list[cl.Event]:
        """The events of all copies and of the last kernel, after which all earlier kernels have ended, too."""
        return [*(event for _, event in self.kernel_events[-1:]), *self.transfer_events]

    def stop(self, *, takes_times: bool) -> None:
        """Compute the recorded times from the events of finished commands.

        Times are NaN unless the queue *takes_times*.
        """
        total = time.perf_counter() - self.started
        self._times = [_ends(event, takes_times) for _, event in self.kernel_events]
        copies = [_ends(event, takes_times) for event in self.transfer_events]
        transfer, kernel = (1e-9 * sum([end - start for start, end in times]) for times in (copies, self._times))
        span = self.span(0, len(self._times)) if self._times else 0.0
        self.seconds = Seconds(total, self.compile_seconds, transfer, kernel, span)

    def span(self, begin: int, end: int) -> float:
        """Return the seconds from the first start to the last end of the recorded kernels *begin* … *end* − 1."""
        times = self._times[begin:end]
        return 1e-9 * (max([end for _, end in times]) - min([start for start, _ in times])) if times else math.nan

    def kernels(self) -> dict[str, tuple[int, float]]:
        """Return the number of launches and total seconds of each recorded kernel, in the order of first launches."""
        seconds = defaultdict[str, list[float]](list)
        for (name, _), (start, end) in zip(self.kernel_events, self._times, strict=True):
            seconds[name].append(1e-9 * (end - start))
        return {name: (len(each), sum(each)) for name, each in seconds.items()}


def _ends(event: cl.Event, takes_times: bool) -> tuple[float, float]:
    """Return the start and the end of a finished command, in ns of the device's clock; NaN without profiling."""
    if not takes_times:
        return math.nan, math.nan
    start: Any = event.get_profiling_info(cl.profiling_info.START)
    end: Any = event.get_profiling_info(cl.profiling_info.END)
    return start, end


def event_seconds(event: cl.Event) -> float:
    """Return the seconds that a finished command took on the device; NaN if its queue has no profiling."""
    takes_times = event.command_queue.properties & cl.command_queue_properties.PROFILING_ENABLE
    start, end = _ends(event, bool(takes_times))
    return 1e-9 * (end - start)


@dataclass(frozen=True)
class RoundBalance:
    """Statistics of how evenly the edges of one search round are spread over work-groups.

    Attributes
    ----------
    round : int
        The number of the round, from 1.
    groups, edges : int
        Number of work-groups that ran, and of edges that they processed together.
    least, most : int
        The least and the greatest number of edges of one work-group.
    mean : float
        The mean number of edges per work-group.
    """

    round: int
    groups: int
    edges: int
    least: int
    mean: float
    most: int


@dataclass(frozen=True, repr=False)
class RunInfo:
    """The ``info`` of a result, a report on the run that computed it.

    ``print`` shows the report as tables.

    Attributes
    ----------
    strategy, kind : str
        The strategy that ran, and its kind: "online", "offline" or "sequential".
    device, why : str
        The device that ran it, or ``"host"`` if none did, and why it was chosen.
    seconds : Seconds
        The time of the call and of its parts: compile, transfer, kernel and host.
    predicted_seconds : dict of str to float
        The cost model's prediction for each strategy that it compared. If a strategy surely takes much longer, the
        prediction covers only a part of its work.
    kernels : dict of str to (int, float)
        The number of launches and the seconds of each kernel.
    details : dict
        Details that the strategy reports, such as its rounds.
    balance : tuple of RoundBalance or None
        The distribution of work in each round, from strategies that count it on request.
    """

    strategy: str
    kind: str
    device: str
    why: str
    seconds: Seconds
    predicted_seconds: dict[str, float]
    kernels: dict[str, tuple[int, float]]
    details: dict[str, Any] = field(default_factory=dict)
    balance: tuple[RoundBalance, ...] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all attributes of the report as types that :func:`json.dumps` takes.

        NaN and infinity become ``None``.
        """
        document: dict[str, Any] = plain(asdict(self))
        document["seconds"]["host"] = plain(self.seconds.host)
        return document

    def fields(self) -> dict[str, str]:
        """Return a summary of the run as names and texts: strategy, device, times, details and prediction."""
        seconds = self.seconds
        known = {part: value for part in _PARTS if not math.isnan(value := getattr(seconds, part))}
        parts = [f"{part} {milliseconds(value)}" for part, value in known.items()]
        fields = {
            "strategy": f"{self.strategy} ({self.kind})",
            "device": f"{self.device} ({self.why})",
            "time": f"{milliseconds(seconds.total)} ms" + (f": {', '.join(parts)}" if parts else ""),
        }
        if self.details:
            fields["details"] = ", ".join(f"{name} {value}" for name, value in self.details.items() if value != "")
        if predicted := self.predicted_seconds.get(self.strategy):
            fields["predicted"] = f"{milliseconds(predicted)} ms for the call, without what is made once"
        return fields

    def _kernel_table(self, style: str) -> str:
        rows = [(name, launches, milliseconds(seconds)) for name, (launches, seconds) in self.kernels.items()]
        return table(_KERNELS, rows, style) if rows else ""

    def __repr__(self) -> str:
        return f"RunInfo({self.strategy} on {self.device}, {milliseconds(self.seconds.total)} ms)"

    def __str__(self) -> str:
        return "\n\n".join(filter(None, [field_lines(self.fields()), self._kernel_table("simple")]))

    def _repr_html_(self) -> str:
        return html_fields(self.fields()) + self._kernel_table("html")
