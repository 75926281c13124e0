"""Profiles of devices: measured rates and tuned sizes of kernels, with conversion to and from JSON."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, cast, get_args, get_origin, get_type_hints

import numpy as np

from clgraph.arguments import checked_number
from clgraph.errors import InputError

SCHEMA_VERSION = 1
ALL_DEVICES_ATOMICS = ("add_int32", "min_int32", "cmpxchg_int32")
HOST_WAYS = ("scan", "traverse", "union", "heap", "sort")
# Each curve caches up to 1024 interpolated rates, because many phases have the same working set.
_MAX_CACHED = 1 << 10
_MAX_RATE = 1e30  # Largest accepted rate: far above any real device's rate, yet the product of two rates stays finite.
_KINDS = {str: "text", int: "an integer from 1 on", float: "a finite number from 0 on"}


class Curve(dict[int, float]):
    """A table of a device's rates by x, such as a working set.

    :func:`at` interpolates in the table, which must not change.
    """

    @cached_property
    def read_before(self) -> dict[float, float]:
        """A cache of the rates that :func:`at` has interpolated, by x."""
        return {}

    @cached_property
    def logarithms(self) -> tuple[list[float], list[float]]:
        """The logarithms of the table's x values, in ascending order, and of the rates at these x values."""
        points = sorted(self.items())
        return [math.log(max(1, x)) for x, _ in points], [math.log(rate) for _, rate in points]


def _any_host() -> Mapping[str, Curve]:
    """Return typical rates of a server's CPU core, in round numbers, for profiles whose host was not measured."""
    return {
        "scan": Curve({1 << 14: 6e9, 1 << 17: 5e9, 1 << 20: 3.5e9, 1 << 24: 8e8}),
        "traverse": Curve({1 << 14: 9e8, 1 << 17: 3.5e8, 1 << 20: 2.6e8, 1 << 21: 1e8, 1 << 24: 4e7}),
        "union": Curve({1 << 14: 2.6e8, 1 << 17: 9e7, 1 << 20: 2.4e7, 1 << 24: 6e6}),
        "heap": Curve({1 << 14: 7e7, 1 << 17: 4e7, 1 << 20: 1.2e7, 1 << 24: 4e6}),
        "sort": Curve({1 << 14: 3.3e7, 1 << 17: 1.3e7, 1 << 20: 5e6, 1 << 24: 3.3e6}),
    }


@dataclass(frozen=True)
class DeviceRates:
    """The rates and times of a device, from which the cost model predicts run times.

    A rate counts the operations of the whole device, not of one work-item.

    Attributes
    ----------
    stream_bytes_per_second : float
        Reading consecutive words of an array far larger than any cache.
    gathers_per_second : Curve
        Independent random 4-byte loads, by working set in bytes.
    dependent_load_seconds : Curve
        Time of a load whose address is the previous load's value, by working set in bytes.
    same_address_atomics_per_second : mapping of operation to Curve
        Atomics of all work-items on one word, by number of work-items. Operations are ``add_int32``,
        ``min_int32``, ``cmpxchg_int32`` (attempts, successful or not), ``min_int64`` (missing if the device
        does not support it), ``add_float32``, ``add_float32_cas``.
    group_address_atomics_per_second, local_atomics_per_second : mapping of operation to float
        Atomics on one word per work-group, in global memory and in local memory. In local memory, only the
        first three operations are measured.
    spread_atomics_per_second : mapping of operation to Curve
        Atomics on random words, by number of words.
    lock_seconds : float
        Time of an uncontended acquire and release of a lock by one work-item.
    launch_seconds, read_back_seconds, grid_barrier_seconds : float
        Time of one launch among many in a row; of a launch and a 4-byte read; of one device-wide barrier inside
        a kernel (``inf`` if the device has no such barrier).
    call_seconds : float
        Time of a call besides its kernels: finding the plan, setting arguments, reading the answer.
    host_items_per_second : mapping of way to Curve
        Items that compiled code processes on one core of the host, by working set in bytes. Ways are ``scan``
        (items in order), ``traverse`` (edges of a breadth-first search), ``union`` (edges that join sets), ``heap``
        (edges of Dijkstra's search) and ``sort`` (keys).
    """

    stream_bytes_per_second: float
    gathers_per_second: Curve
    dependent_load_seconds: Curve
    same_address_atomics_per_second: Mapping[str, Curve]
    group_address_atomics_per_second: Mapping[str, float]
    spread_atomics_per_second: Mapping[str, Curve]
    local_atomics_per_second: Mapping[str, float]
    lock_seconds: float
    launch_seconds: float
    read_back_seconds: float
    grid_barrier_seconds: float
    call_seconds: float = 1.5e-4
    host_items_per_second: Mapping[str, Curve] = field(default_factory=_any_host)


def at(curve: Curve, x: float) -> float:
    """Return the rate of *curve* at *x*, interpolated linearly in log(x) and log(rate); constant outside the table."""
    before = curve.read_before
    if (rate := before.get(x)) is None:
        if len(before) >= _MAX_CACHED:
            before.clear()
        rate = before[x] = _between(*curve.logarithms, math.log(x) if x > 1.0 else 0.0)
    return rate


def _between(known: list[float], rates: list[float], place: float) -> float:
    above = bisect_left(known, place)
    if above in (0, len(known)):
        return math.exp(rates[min(above, len(known) - 1)])
    share = (place - known[above - 1]) / (known[above] - known[above - 1])
    return math.exp((1 - share) * rates[above - 1] + share * rates[above])


@dataclass(frozen=True)
class DeviceProfile:
    """The measured rates and tuned kernel sizes of one device, and the place where they come from.

    Attributes
    ----------
    rates : DeviceRates
    device : str
        The device's name.
    origin : str
        ``"measured"``, ``"shipped"``, ``"vendor"``, ``"generic"`` or ``"literature"``.
    source : str
        How or where the rates were found.
    tuning : mapping of kernel file to defines
    spread : mapping of rate name to float
        Relative spread (max − min) / median of the trials; for a curve, at its worst point.
    notes : mapping of rate name to str
        Remarks on a rate, for example why it has the generic value.
    """

    rates: DeviceRates
    device: str = "generic"
    origin: str = "generic"
    source: str = ""
    tuning: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    spread: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    def with_exchanges(self, per_second: float) -> DeviceProfile:
        """Return a copy of this profile whose rates of atomics on one word per work-group are scaled to this machine.

        The profile is of another processor. *per_second* is the rate of compare-exchanges that was measured on this
        machine. All rates of atomics on one word per work-group are multiplied by the same factor.
        """
        known = self.rates.group_address_atomics_per_second
        per_second = checked_number("per_second", per_second, above=True)
        factor = per_second / known["cmpxchg_int32"]
        atomics = {operation: factor * rate for operation, rate in known.items()}
        return replace(
            self,
            rates=replace(self.rates, group_address_atomics_per_second=atomics),
            notes={**self.notes, "group_address_atomics_per_second": "by the self-test's compare-exchanges"},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the device's profile as a dictionary for JSON, with numbers rounded to four significant figures."""
        return {"schema": SCHEMA_VERSION, **_rounded(asdict(self))}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> DeviceProfile:
        """Return the device profile of a JSON document that :meth:`to_json` has made.

        Raises
        ------
        InputError
            A rate is missing, or a value is of the wrong type or out of range; the message names it.
        """
        if not isinstance(document, Mapping) or document.get("schema") != SCHEMA_VERSION:
            raise InputError(f"not a device profile: needed is a mapping with 'schema': {SCHEMA_VERSION}")
        profile: DeviceProfile = _read(cls, {k: v for k, v in document.items() if k != "schema"}, "the document")
        for name, value in vars(profile.rates).items():
            _check_positive(name, value)
            if name.endswith("_atomics_per_second") and (missing := set(ALL_DEVICES_ATOMICS) - set(value)):
                raise InputError(f"not a device profile: {name} lacks {', '.join(sorted(missing))}")
        if missing := set(HOST_WAYS) - set(profile.rates.host_items_per_second):
            raise InputError(f"not a device profile: host_items_per_second lacks {', '.join(sorted(missing))}")
        return profile


def _read(kind: Any, value: Any, name: str) -> Any:
    """Convert *value* of a profile document to the type annotation *kind*,
    or raise an InputError that calls it *name*.
    """
    if value is None and name == "grid_barrier_seconds":
        return math.inf
    if is_dataclass(kind) and isinstance(value, Mapping):
        hints = get_type_hints(kind)
        needed = {f.name for f in fields(kind) if f.default is f.default_factory is MISSING}
        if strange := (set(value) - set(hints)) | (needed - set(value)):
            raise InputError(f"not a device profile: {', '.join(map(str, strange))} unknown or missing in {name}")
        return cast(Any, kind)(**{key: _read(hints[key], inner, key) for key, inner in value.items()})
    if kind is Curve and isinstance(value, Mapping):
        return Curve({_key(int, key, name): _read(float, rate, f"{name}[{key}]") for key, rate in value.items()})
    if get_origin(kind) is Mapping and isinstance(value, Mapping):
        key_kind, inner_kind = get_args(kind)
        return {_key(key_kind, key, name): _read(inner_kind, inner, f"{name}[{key}]") for key, inner in value.items()}
    if kind is str and isinstance(value, str):
        return value
    if kind is int and type(value) is int and 0 < value < 2**31:
        return value
    if kind is float and type(value) in (int, float) and 0 <= value < _MAX_RATE:
        return float(value)
    raise InputError(f"not a device profile: {name} is {value!r:.60}, not {_KINDS.get(kind, 'a mapping')}")


def _key(kind: type, key: Any, name: str) -> Any:
    if kind is str and isinstance(key, str):
        return key
    if kind is int and isinstance(key, str) and re.fullmatch(r"[1-9][0-9]{0,17}", key):
        return int(key)
    raise InputError(f"not a device profile: {name} has the key {key!r:.60}; it must be {_KINDS[kind]}")


def _check_positive(name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        if not value:
            raise InputError(f"not a device profile: {name} is empty")
        for key, inner in value.items():
            _check_positive(f"{name}[{key}]", inner)
    elif not value > 1 / _MAX_RATE:
        raise InputError(f"not a device profile: {name} is {value!r}, not a positive number")


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _rounded(v) for k, v in value.items()}
    if isinstance(value, float):
        return float(f"{value:.4g}") if np.isfinite(value) else None
    return value
