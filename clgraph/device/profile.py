"""Measured rates and tuned sizes, one JSON file per device.

Look-up order, first hit wins: the user's measurement, the file shipped for this device or the
one it is a variant of, the platform's, the generic default.
"""
from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from clgraph.device.facts import DeviceFacts
from clgraph.errors import InputError
from clgraph.user_cache import cache_root, write_whole

SCHEMA_VERSION = 1
_SHIPPED = files("clgraph.device") / "profiles"

Curve = Mapping[int, float]  # x -> rate; read between the points by interpolation over log2(x)


@dataclass(frozen=True)
class DeviceRates:
    """What the cost model divides work by; rates are per second, over the whole device.

    Attributes
    ----------
    stream_bytes_per_second : float
        Reading consecutive words, the array far larger than any cache.
    gathers_per_second : Curve
        Independent random 4-byte loads, by working set in bytes.
    dependent_load_seconds : Curve
        One load whose address is the previous load's value, by working set in bytes.
    same_address_atomics_per_second : mapping of operation to Curve
        All work-items on one word, by number of work-items; operations are ``add_int32``,
        ``min_int32``, ``cmpxchg_int32`` (attempts, successful or not), ``min_int64`` (no entry
        where the device has none), ``add_float32``, ``add_float32_cas``.
    group_address_atomics_per_second, local_atomics_per_second : mapping of operation to float
        One word per work-group in global memory; one word per work-group in local memory, where
        there are the first three operations only.
    spread_atomics_per_second : mapping of operation to Curve
        Random words, by number of words.
    lock_seconds : float
        One uncontended acquire and release by one work-item.
    launch_seconds, read_back_seconds, grid_barrier_seconds : float
        One of many launches in a row; launch and 4-byte read; one device-wide barrier inside a
        kernel (``inf`` where the device has none).
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


def at(curve: Curve, x: float) -> float:
    """Read *curve* at *x*: linear in log2(x) and log(rate), constant beyond the ends."""
    points = sorted(curve.items())
    xs = [float(np.log2(max(1, k))) for k, _ in points]
    ys = [float(np.log(v)) for _, v in points]
    return float(np.exp(np.interp(np.log2(max(1.0, x)), xs, ys)))


@dataclass(frozen=True)
class DeviceProfile:
    """Everything measured or tuned about one device, and where it came from.

    Attributes
    ----------
    origin : str
        ``"measured"``, ``"shipped"``, ``"vendor"``, ``"generic"`` or ``"literature"``.
    tuning : mapping of kernel file to defines
    spread : mapping of rate name to float
        Relative spread (max − min) / median of the trials; of a curve, at its worst point.
    notes : mapping of rate name to str
        What else is to be known of a rate, above all why it has the generic value.
    """

    rates: DeviceRates
    device: str = "generic"
    origin: str = "generic"
    source: str = ""
    tuning: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    spread: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready document, numbers rounded to four figures."""
        return {"schema": SCHEMA_VERSION, **_rounded(asdict(self))}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], origin: str | None = None) -> DeviceProfile:
        """Read :meth:`to_json`'s form; *origin* overrides the stored one."""
        try:
            if document.get("schema") != SCHEMA_VERSION:
                raise InputError(f"profile schema {document.get('schema')!r}, expected {SCHEMA_VERSION}")
            fields = {k: v for k, v in document.items() if k != "schema"}
            rates = {name: _with_int_keys(value) for name, value in fields.pop("rates").items()}
            if rates.get("grid_barrier_seconds") is None:
                rates["grid_barrier_seconds"] = float("inf")
            for name, value in rates.items():
                _check_positive(name, value)
            return cls(DeviceRates(**rates), **({**fields, "origin": origin} if origin is not None else fields))
        except (AttributeError, KeyError, TypeError) as error:
            raise InputError(f"not a device profile: {error}") from error


def load_profile(facts: DeviceFacts) -> DeviceProfile:
    """Return the best profile known for the device with these *facts*."""
    candidates = [
        (None, user_path(facts)),
        *(("shipped", path) for path in _shipped_for(facts)),
        ("vendor", _SHIPPED / platform_name(facts)),
    ]
    for origin, path in candidates:
        try:
            profile = DeviceProfile.from_json(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError):  # missing, damaged or of an older schema: the next one
            continue
        if origin is None or profile.origin == "literature":
            return profile
        return replace(profile, origin=origin)
    return generic_profile(facts)


def generic_profile(facts: DeviceFacts) -> DeviceProfile:
    """Return the round numbers that stand for any CPU or any GPU."""
    path = _SHIPPED / f"generic-{'cpu' if facts.is_cpu else 'gpu'}.json"
    return DeviceProfile.from_json(json.loads(path.read_text(encoding="utf-8")))


def shipped_name(facts: DeviceFacts) -> str:
    """Return the file name under which a profile of exactly this device is shipped."""
    return f"{_slug(facts.platform)}--{_slug(facts.name)}.json"


def _shipped_for(facts: DeviceFacts) -> list[Traversable]:
    """Return the files whose device this is, or of which it is a variant: ``tesla-k40`` for a K40c."""
    name = shipped_name(facts).removesuffix(".json")
    stems = sorted((p.name.removesuffix(".json") for p in _SHIPPED.iterdir() if "--" in p.name), key=len)
    fitting = [stem for stem in stems if re.match(re.escape(stem) + r"(?!\d)", name)]
    return [_SHIPPED / f"{stem}.json" for stem in reversed(fitting)]


def platform_name(facts: DeviceFacts) -> str:
    """Return the file name under which a profile of all devices of this platform is shipped."""
    return f"{_slug(facts.platform)}.json"


def shipped_profiles() -> dict[str, DeviceProfile]:
    """Return every profile that comes with the package, by file name without suffix."""
    paths = sorted((path for path in _SHIPPED.iterdir() if path.name.endswith(".json")), key=lambda p: p.name)
    return {
        path.name.removesuffix(".json"): DeviceProfile.from_json(json.loads(path.read_text(encoding="utf-8")))
        for path in paths
    }


def save_profile(facts: DeviceFacts, profile: DeviceProfile) -> Path:
    """Write *profile* to the user's cache (whole or not at all) and return the path."""
    path = user_path(facts)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(profile.to_json(), indent=1) + "\n")
    return path


def user_path(facts: DeviceFacts) -> Path:
    """Return where a measurement of this platform, device and driver is kept."""
    name = "--".join(_slug(text) for text in (facts.platform, facts.name, facts.driver_version))
    return cache_root() / "profiles" / f"{name}.json"


def _check_positive(name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        if not value:
            raise InputError(f"not a device profile: {name} is empty")
        for key, inner in value.items():
            _check_positive(f"{name}[{key}]", inner)
    elif not isinstance(value, (int, float)) or not value > 0:
        raise InputError(f"not a device profile: {name} is {value!r}, not a positive number")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _rounded(v) for k, v in value.items()}
    if isinstance(value, float):
        return float(f"{value:.4g}") if np.isfinite(value) else None
    return value


def _with_int_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {int(k) if k.lstrip("-").isdigit() else k: _with_int_keys(v) for k, v in value.items()}
    return value
