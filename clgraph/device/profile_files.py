"""Device profiles as JSON files, one file for each device.

The first profile found is used, in this order: the user's measurement, the file shipped for this device or for
the device of which it is a variant, the platform's file, the generic default.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import DeviceProfile
from clgraph.errors import InputError
from clgraph.user_cache import cache_root, write_whole

_SHIPPED = files("clgraph.device") / "profiles"

logger = logging.getLogger(__name__)


def load_profile(facts: DeviceFacts, *, measured: bool = True) -> DeviceProfile:
    """Return the best known profile of the device with these *facts*.

    Measurements are used only if *measured* is true.
    """
    candidates = [
        *([(None, user_path(facts))] if measured else []),
        *(("shipped", path) for path in _shipped_for(facts)),
        ("vendor", _SHIPPED / platform_name(facts)),
    ]
    for origin, path in candidates:
        try:
            profile = _load(path)
        except OSError:
            continue
        except InputError as error:  # The file is damaged, or it has an older schema.
            logger.debug("passing over %s: %s", path, error)
            continue
        if origin is None or profile.origin == "literature":
            return profile
        return replace(profile, origin=origin)
    return generic_profile(facts)


def generic_profile(facts: DeviceFacts) -> DeviceProfile:
    """Return the profile of a generic CPU or GPU, whose rates are round numbers."""
    path = _SHIPPED / f"generic-{'cpu' if facts.is_cpu else 'gpu'}.json"
    return _load(path)


def shipped_name(facts: DeviceFacts) -> str:
    """Return the file name of a profile that is shipped for exactly the device with these *facts*."""
    return f"{_slug(facts.platform)}--{_slug(facts.name)}.json"


def _shipped_for(facts: DeviceFacts) -> list[Traversable]:
    """Return the profiles shipped for this device, or for a device of which it is a variant (a K40 for a K40c)."""
    name = shipped_name(facts).removesuffix(".json")
    stems = sorted((p.name.removesuffix(".json") for p in _SHIPPED.iterdir() if "--" in p.name), key=len)
    fitting = [stem for stem in stems if re.match(re.escape(stem) + r"(?!\d)", name)]
    return [_SHIPPED / f"{stem}.json" for stem in reversed(fitting)]


def platform_name(facts: DeviceFacts) -> str:
    """Return the file name of the profile that is shipped for all devices of the same platform as this device."""
    return f"{_slug(facts.platform)}.json"


def shipped_profiles() -> dict[str, DeviceProfile]:
    """Return all device profiles that are shipped with the package, by file name without suffix."""
    paths = sorted((path for path in _SHIPPED.iterdir() if path.name.endswith(".json")), key=lambda p: p.name)
    return {path.name.removesuffix(".json"): _load(path) for path in paths}


def save_profile(facts: DeviceFacts, profile: DeviceProfile) -> Path:
    """Write the device *profile* to the user's cache atomically, and return the path of the file."""
    path = user_path(facts)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(profile.to_json(), indent=1) + "\n")
    return path


def user_path(facts: DeviceFacts) -> Path:
    """Return the path of the user's measured profile, whose name has
    platform, device, driver and number of compute units.

    The number of compute units is included because a part of a processor reports the whole processor's name. So does
    a process that is limited to some of the processor's cores.
    """
    known = facts.platform, facts.name, facts.driver_version, f"{facts.compute_units} units"
    name = "--".join(_slug(text) for text in known)
    return cache_root() / "profiles" / f"{name}.json"


def _load(path: Path | Traversable) -> DeviceProfile:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a device profile: {error}") from error
    return DeviceProfile.from_json(document)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
