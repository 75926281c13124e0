"""Which profile a device gets, and that none of those that are shipped is damaged."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import (
    HOST_WAYS,
    Curve,
    DeviceProfile,
    at,
    generic_profile,
    load_profile,
    save_profile,
    shipped_profiles,
    user_path,
)
from clgraph.errors import InputError
from clgraph.probing.patterns import GLOBAL_ATOMICS


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))


def facts_of(platform: str, name: str, *, is_cpu: bool = False) -> DeviceFacts:
    return DeviceFacts(name, platform=platform, driver_version="1", is_cpu=is_cpu)


@pytest.mark.parametrize(
    ("platform", "name", "origin", "device"),
    [
        ("NVIDIA CUDA", "Tesla K40m", "literature", "Tesla K40"),
        ("NVIDIA CUDA", "Tesla K40c", "literature", "Tesla K40"),
        ("AMD Accelerated Parallel Processing", "Hawaii", "literature", "Radeon R9-290X"),
        ("NVIDIA CUDA", "Tesla K401", "generic", "generic GPU"),  # another number is another device
        ("no such platform", "Hawaii", "generic", "generic GPU"),
    ],
)
def test_shipped_gpu_profiles_are_found(platform: str, name: str, origin: str, device: str) -> None:
    profile = load_profile(facts_of(platform, name))
    assert (profile.origin, profile.device) == (origin, device)


def test_shipped_cpu_profiles_serve_any_cpu() -> None:
    for platform in ("Portable Computing Language", "Intel(R) OpenCL"):
        profile = load_profile(facts_of(platform, "a processor of the next century", is_cpu=True))
        assert profile.origin == "vendor" and platform in profile.source
    assert load_profile(facts_of("rusticl", "x", is_cpu=True)).origin == "generic"


def test_shipped_profiles_are_complete() -> None:
    found = shipped_profiles()
    assert {"generic-cpu", "generic-gpu", "portable-computing-language", "intel-r-opencl"} <= set(found)
    for name, profile in found.items():
        assert set(profile.rates.same_address_atomics_per_second) == set(GLOBAL_ATOMICS), name
        assert profile.source and (profile.origin == "measured") == bool(profile.spread), name
    for name, rate in (("tesla-k40", 6e8), ("hawaii", 4.5e7)):
        profile = next(p for key, p in found.items() if key.endswith(name))
        curve = profile.rates.same_address_atomics_per_second["add_int32"]
        assert curve[max(curve)] == rate and "only that figure is published" in profile.source


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"schema": 1}', '{"schema": 1, "rates": []}', '{"schema": 9}', "\x00\xff",
        "[" * 100_000, f'{{"schema": {"1" * 5000}}}',
    ],
)  # fmt: skip
def test_a_damaged_profile_gives_way_to_the_next(text: str) -> None:
    facts = facts_of("NVIDIA CUDA", "Tesla K40c")
    path = user_path(facts)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-16" if "\x00" in text else "utf-8")
    assert load_profile(facts).device == "Tesla K40"


def test_a_kept_profile_comes_first() -> None:
    facts = facts_of("NVIDIA CUDA", "Tesla K40c")
    generic = generic_profile(facts)
    assert save_profile(facts, replace(generic, origin="measured", notes={"lock_seconds": "why"})).exists()
    kept = load_profile(facts)
    assert kept.origin == "measured" and kept.notes == {"lock_seconds": "why"}
    assert kept.rates == generic.rates


def test_a_part_of_a_processor_has_a_profile_of_its_own() -> None:
    whole = facts_of("Portable Computing Language", "a processor", is_cpu=True)
    part = replace(whole, compute_units=whole.compute_units + 1)
    save_profile(part, replace(generic_profile(part), origin="measured"))
    assert load_profile(part).origin == "measured" != load_profile(whole).origin


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *(("rates.stream_bytes_per_second", value) for value in (0, -1.0, "1e9", float("nan"), None, {}, True)),
        *(("rates.lock_seconds", value) for value in (float("inf"), 10**400, 1e-320)),
        *(("rates.gathers_per_second", value) for value in (1e9, {}, {"4": {}})),
        *(("rates.gathers_per_second", {key: 1.0}) for key in ("x", "0", "²", "9" * 5000)),
        ("rates.same_address_atomics_per_second", {"add_int32": {"1": 1e9}}),
        ("rates.spread_atomics_per_second", {"add_int32": 1e9}),
        *(("rates.host_items_per_second", {key: {"1": 1.0} for key in {*HOST_WAYS} - {way}}) for way in HOST_WAYS),
        ("rates.no_such_rate", 1.0),
        ("tuning", {"primitives/scan.cl": {"WG_SIZE": "256"}}),
        ("tuning", {"primitives/scan.cl": {"WG_SIZE": 0}}),
        ("tuning", []),
        ("spread", {"lock_seconds": "0.1"}),
        ("notes", {"lock_seconds": 1}),
        ("device", None),
    ],
)
def test_a_value_must_fit_its_field(place: str, value: object) -> None:
    document = generic_profile(facts_of("", "")).to_json()
    fields = document
    *way, name = place.split(".")
    for step in way:
        fields = fields[step]
    fields[name] = value
    with pytest.raises(InputError, match=f"not a device profile: .*{name}"):
        DeviceProfile.from_json(document)


def test_every_rate_of_the_device_is_needed() -> None:
    """Those of the host came later: profiles that were measured before do without."""
    for name in generic_profile(facts_of("", "")).to_json()["rates"]:
        document = generic_profile(facts_of("", "")).to_json()
        del document["rates"][name]
        if name in ("call_seconds", "host_items_per_second"):
            assert getattr(DeviceProfile.from_json(document).rates, name)
            continue
        with pytest.raises(InputError, match=f"{name} unknown or missing"):
            DeviceProfile.from_json(document)


def test_curves_are_read_between_their_points() -> None:
    curve = Curve({4096: 1e9, 0: 8e9, 64: 2e9})
    for x in (0, 0.5, 1, 3, 64, 100.5, 4096, 1e12, float("inf")):
        exponent = np.interp(np.log2(max(1, x)), [0, 6, 12], np.log([8e9, 2e9, 1e9]))
        assert at(curve, x) == pytest.approx(np.exp(exponent), rel=1e-12)
