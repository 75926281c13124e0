"""The probe: its rates are plausible, kept, found again, printed and drawn."""

import importlib.util
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import ROOT

from clgraph.cli.main import main
from clgraph.device.profile import HOST_WAYS, Curve, DeviceProfile, generic_profile, user_path
from clgraph.errors import DeviceError, InputError, MissingExtraError
from clgraph.probing import api, probe
from clgraph.probing.api import FULL, QUICK, _powers
from clgraph.probing.patterns import GLOBAL_ATOMICS, LOCAL_ATOMICS, WORK_GROUP, Bench
from clgraph.probing.plot import plot_same_address
from clgraph.probing.trials import Trial
from clgraph.runtime.session import Session

TINY = replace(QUICK, long_enough=1e-6, items_step=64, words_step=1 << 10, bytes_step=64, cpu_scratch_bytes=1 << 20)


@pytest.fixture(scope="module")
def measured(session: Session) -> DeviceProfile:
    """A quick probe, in a session of its own: others go on with the profile they had."""
    return probe(Session(session.device), use_cache=False)


@pytest.fixture
def own(session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Session:
    """A session whose probes are tiny and kept in a folder of this test."""
    monkeypatch.setattr(api, "QUICK", TINY)
    monkeypatch.setattr(api, "FULL", replace(TINY, name="full"))
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    return Session(session.device)


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("probe_device", ROOT / "tools" / "probe_device.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- the profile


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from numbers(inner)
    else:
        yield value


def test_rates_are_plausible(measured: DeviceProfile, session: Session) -> None:
    rates, facts = measured.rates, session.facts
    assert measured.origin == "measured" and measured.device == facts.name
    assert measured.source.startswith("quick probe")
    values = list(numbers(replace(rates, grid_barrier_seconds=1.0).__dict__))
    assert all(math.isfinite(v) and v > 0.0 for v in values)
    assert math.isinf(rates.grid_barrier_seconds) != facts.dialect.has_grid_barrier
    assert not [note for note in measured.notes.values() if "generic" in note]
    # No device does more than this, and none less: beyond, a kernel was optimised away or hung.
    assert 1e8 < rates.stream_bytes_per_second < 1e14
    assert all(1e-11 < s < 1e-4 for s in rates.dependent_load_seconds.values())
    atomics = [rates.same_address_atomics_per_second, rates.spread_atomics_per_second]
    assert all(1e3 < v < 1e13 for v in numbers(dict(enumerate(atomics))))
    assert 1e-7 < rates.launch_seconds < 1e-1 and 1e-7 < rates.read_back_seconds < 1.0
    assert 1e-10 < rates.lock_seconds < 1e-3


def test_curves_have_the_asked_points(measured: DeviceProfile, session: Session) -> None:
    rates = measured.rates
    operations = [name for name in GLOBAL_ATOMICS if session.facts.has_int64_atomics or name != "min_int64"]
    resident = session.facts.compute_units * (64 * WORK_GROUP if session.facts.is_cpu else 2048)
    for name in operations:
        items, words = rates.same_address_atomics_per_second[name], rates.spread_atomics_per_second[name]
        if f"same_address_atomics_per_second.{name}" not in measured.notes:
            assert list(items) == _powers(1, resident, QUICK.items_step)
        if f"spread_atomics_per_second.{name}" not in measured.notes:
            assert 1 in words and max(words) > 1 << 16
    assert list(rates.group_address_atomics_per_second) == operations
    assert list(rates.local_atomics_per_second) == list(LOCAL_ATOMICS)
    assert set(rates.host_items_per_second) == set(HOST_WAYS)
    generic = generic_profile(session.facts).rates.host_items_per_second
    for way, curve in rates.host_items_per_second.items():
        beyond = [x for x in generic[way] if x > QUICK.host_bytes[-1]]
        assert list(curve) == [*QUICK.host_bytes, *beyond] and all(1e4 < rate < 1e12 for rate in curve.values())
    assert list(rates.gathers_per_second) == list(rates.dependent_load_seconds)
    assert min(rates.gathers_per_second) == 1 << 12
    assert set(measured.spread) >= {"launch_seconds", "same_address_atomics_per_second.add_int32"}
    assert FULL.items_step == FULL.words_step == 2  # every power of two


def test_json_round_trip(measured: DeviceProfile) -> None:
    text = json.dumps(measured.to_json(), allow_nan=False)
    again = DeviceProfile.from_json(json.loads(text))
    assert again.to_json() == measured.to_json()
    assert again.notes == measured.notes and again.rates.gathers_per_second.keys()


def refuse(*_: object) -> None:
    raise AssertionError("measured again")


def test_a_kept_measurement_is_not_repeated(own: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    first = probe(own)
    assert own.profile is first and user_path(own.facts).exists()
    with monkeypatch.context() as patched:
        patched.setattr(api, "Bench", refuse)
        assert probe(own) is first
        later = Session(own.device)
        assert later.profile.origin == "measured"
        assert probe(later).to_json() == first.to_json()
        with pytest.raises(AssertionError, match="again"):
            probe(own, use_cache=False)
        with pytest.raises(AssertionError, match="again"):
            probe(own, quick=False)  # what is kept has fewer points
    full = probe(own, quick=False)
    monkeypatch.setattr(api, "Bench", refuse)
    assert probe(own) is full and probe(own, quick=False) is full


def test_progress_tells_every_step(own: Session) -> None:
    steps: list[tuple[int, int, str]] = []
    probe(own, progress=lambda *step: steps.append(step))
    done, totals, names = zip(*steps, strict=True)
    assert list(done) == list(range(len(steps))) and set(totals) == {len(steps)}
    assert len(set(names)) == len(names)


def test_a_failure_costs_one_rate(own: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Trial:
        raise DeviceError("no locks today\nsecond line")

    def short(self: Bench, working_set_bytes: int, real: Callable[..., Trial] = Bench.gather) -> Trial:
        return real(self, working_set_bytes) if working_set_bytes == 4096 else fail()

    monkeypatch.setattr(Bench, "lock", fail)
    monkeypatch.setattr(Bench, "chase", fail)
    monkeypatch.setattr(Bench, "gather", short)
    profile, generic = probe(own, use_cache=False), generic_profile(own.facts).rates
    assert profile.rates.lock_seconds == generic.lock_seconds
    assert profile.notes["lock_seconds"] == "not measured, generic value: no locks today"
    assert profile.rates.dependent_load_seconds == generic.dependent_load_seconds
    assert "generic values" in profile.notes["dependent_load_seconds"]
    assert list(profile.rates.gathers_per_second) == [4096]
    assert profile.notes["gathers_per_second"].startswith("ends at 4096: no locks")
    assert "lock_seconds" not in profile.spread and "launch_seconds" in profile.spread


def test_nothing_measured_is_an_error(own: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise DeviceError("the device is lost")

    monkeypatch.setattr(api, "read", fail)
    before = own.profile
    with pytest.raises(DeviceError, match=r"nothing could be measured.*device is lost"):
        probe(own)
    assert own.profile is before and not user_path(own.facts).exists()


def test_contended_curve_ends_before_it_takes_minutes(own: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_LONGEST_SECONDS", 1e-7)
    profile = probe(own, use_cache=False)
    curve = profile.rates.same_address_atomics_per_second["add_float32_cas"]
    assert list(curve) == [1]
    assert profile.notes["same_address_atomics_per_second.add_float32_cas"].startswith("ends at 1: beyond")


def test_a_read_only_cache_does_not_stop_a_probe(
    own: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def deny(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(api, "save_profile", deny)
    assert probe(own) is own.profile
    assert "not kept: read-only" in caplog.text


# ---- front ends


def test_plot_is_drawn(measured: DeviceProfile, tmp_path: Path) -> None:
    picture = tmp_path / "curve.png"
    plot_same_address(measured, picture)
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 20_000
    plot_same_address(measured, tmp_path / "curve.svg", "min_int32")
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<?xml")
    with pytest.raises(InputError, match=r"curve\.xyz"):
        plot_same_address(measured, tmp_path / "curve.xyz")


def test_plot_without_matplotlib_says_what_to_install(
    measured: DeviceProfile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'matplotlib>=3\.8'"):
        plot_same_address(measured, tmp_path / "curve.png")


@pytest.mark.usefixtures("own")
def test_command_prints_tables_json_and_a_picture(
    session: Session, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    device = session.facts.platform
    picture = tmp_path / "curve.png"
    assert main(["probe", "-d", device, "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    assert session.facts.name in text and "take a lock and free it" in text and picture.exists()
    assert all(name in text for name in GLOBAL_ATOMICS)
    assert main(["probe", "-d", device, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert DeviceProfile.from_json(document).origin == "measured"


def test_tool_ships_what_is_measured(own: Session, tool: ModuleType, tmp_path: Path) -> None:
    profile = probe(own)
    path = tool.ship(profile, own.facts, tmp_path)
    shipped = DeviceProfile.from_json(json.loads(path.read_text(encoding="utf-8")))
    if own.facts.is_cpu:
        assert path.stem in ("portable-computing-language", "intel-r-opencl")
        assert own.facts.platform in shipped.device and own.facts.name not in path.read_text(encoding="utf-8")
    else:
        assert shipped.device == own.facts.name
    gpu = replace(own.facts, platform="NVIDIA CUDA", name="NVIDIA H200", is_cpu=False)
    assert tool.ship(profile, gpu, tmp_path).name == "nvidia-cuda--nvidia-h200.json"
    assert tool.ship(profile, gpu, tmp_path / "x.json").name == "x.json"


def test_tool_takes_the_median_of_probes(tool: ModuleType, measured: DeviceProfile) -> None:
    rates = measured.rates
    short = Curve(list(rates.gathers_per_second.items())[:2])
    others = [
        replace(measured, rates=replace(rates, lock_seconds=9.0, gathers_per_second=short)),
        replace(measured, rates=replace(rates, lock_seconds=5.0), spread={"lock_seconds": 0.5}),
    ]
    merged = tool.median_of([measured, *others])
    assert merged.rates.lock_seconds == 5.0 and merged.source.endswith("; median of 3")
    assert list(merged.rates.gathers_per_second) == list(short)
    assert list(merged.spread) == ["lock_seconds"]
    written = DeviceProfile.from_json(measured.to_json()).rates  # rounded
    assert merged.rates.grid_barrier_seconds == written.grid_barrier_seconds
    assert tool.median_of([measured]) is measured
