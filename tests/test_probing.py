"""The probe and profiles: kernels do what they are timed for; rates are plausible, kept, found again and drawn."""

import importlib.util
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from clgraph.cli.main import main
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile import HOST_WAYS, Curve, DeviceProfile, at
from clgraph.device.profile_files import generic_profile, load_profile, save_profile, shipped_profiles, user_path
from clgraph.errors import DeviceError, InputError, MissingExtraError
from clgraph.probing import api, probe
from clgraph.probing.api import FULL, QUICK, _powers
from clgraph.probing.patterns import GLOBAL_ATOMICS, LINE_WORDS, LOCAL_ATOMICS, WORK_GROUP, Bench, cycle_word
from clgraph.probing.plot import plot_same_address
from clgraph.probing.trials import TRIALS, Trial, read
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


def test_a_profile_comes_back_from_json(measured: DeviceProfile) -> None:
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
            probe(own, quick=False)  # The kept curve has fewer points.
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


def test_a_curve_is_drawn(measured: DeviceProfile, tmp_path: Path) -> None:
    picture = tmp_path / "curve.png"
    plot_same_address(measured, picture)
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) > 20_000
    plot_same_address(measured, tmp_path / "curve.svg", "min_int32")
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<?xml")
    with pytest.raises(InputError, match=r"curve\.xyz"):
        plot_same_address(measured, tmp_path / "curve.xyz")


def test_without_matplotlib_the_error_says_what_to_install(
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


# ---- kernels and trials


MINIMUM_START = 2**31 - 1


@pytest.fixture(scope="module")
def bench(session: Session) -> Iterator[Bench]:
    made = Bench(session, 1 << 22)
    yield made
    made.release()


# ---- the kernels do what they are timed for


def n_done(bench: Bench, n_items: int) -> int:
    return int(bench.out.get(0, n_items).sum(dtype=np.int64))


@pytest.mark.parametrize("operation", GLOBAL_ATOMICS)
@pytest.mark.parametrize(("n_items", "n_words", "turns"), [(1, 1, 37), (700, 1, 5), (700, 13, 5), (256, 1000, 3)])
def test_atomics_count_exactly(bench: Bench, operation: str, n_items: int, n_words: int, turns: int) -> None:
    if operation == "min_int64" and not bench.session.facts.has_int64_atomics:
        pytest.skip("the device has no 64-bit atomics")
    trial = bench.atomics(operation, n_items, n_words)
    limit = 1 << (24 if "float" in operation else 30)
    assert 1 <= trial.most_turns <= max(1, limit * n_words // n_items)  # counters cannot wrap
    for _ in range(2):  # each trial starts from fresh words
        operations, seconds = trial.run(turns)
        assert operations == n_items * turns and seconds > 0.0
    words, done = bench.words(GLOBAL_ATOMICS[operation], n_words).get(), n_done(bench, n_items)
    if operation.startswith("min"):
        fallen = MINIMUM_START - words.astype(np.int64)
        assert fallen.sum() >= (turns if n_words == 1 else 1)
        assert fallen.sum() <= done <= operations
    elif operation.startswith("cmpxchg"):
        assert words.sum(dtype=np.int64) == done
        assert turns <= done <= operations
    else:
        assert words.sum(dtype=np.float64) == done == operations
    if n_items == 1:
        assert done == operations  # alone, nothing fails
    if n_words == 1000:
        assert np.count_nonzero(words != words.max()) > 100  # they are spread


@pytest.mark.parametrize("operation", ["add_int32", "add_float32_cas"])
def test_each_work_group_has_a_word_of_its_own(bench: Bench, operation: str) -> None:
    bench.atomics(operation, 5 * WORK_GROUP, 1, LINE_WORDS).run(4)
    words = bench.words(GLOBAL_ATOMICS[operation], 4 * LINE_WORDS + 1).get()
    assert (words[::LINE_WORDS] == 4 * WORK_GROUP).all() and len(words[::LINE_WORDS]) == 5
    assert words.sum() == 5 * 4 * WORK_GROUP


@pytest.mark.parametrize("operation", LOCAL_ATOMICS)
def test_local_atomics_count_exactly(bench: Bench, operation: str) -> None:
    operations, _ = bench.local_atomics(operation).run(3)
    n_items = bench.resident_items
    assert operations == 3 * n_items
    words = bench.words(np.int32, n_items).get().astype(np.int64).reshape(-1, WORK_GROUP)
    done = bench.out.get(0, n_items).astype(np.int64).reshape(-1, WORK_GROUP).sum(axis=1)
    changed = MINIMUM_START - words if operation.startswith("min") else words
    assert (changed[:, 1:] == 0).all()  # one word a group
    if operation == "add_int32":
        assert (changed[:, 0] == 3 * WORK_GROUP).all() and (done == 3 * WORK_GROUP).all()
    else:
        assert (changed[:, 0] >= 3).all() and (changed[:, 0] <= done).all()


def test_stream_reads_every_byte(bench: Bench) -> None:
    n_bytes, _ = bench.stream().run(2)
    assert n_bytes == 2 * bench.scratch_bytes * 68 / 64
    assert (bench.out.get(0, bench.scratch_bytes // 64) == 16).all()


def test_gather_makes_every_load(bench: Bench) -> None:
    loads, _ = bench.gather(1 << 14).run(9)
    sums = bench.out.get(0, bench.resident_items)
    assert (sums == 9).all() and loads == sums.sum()


@pytest.mark.parametrize("bits", [5, 10, 13])
def test_chase_walks_one_cycle_through_every_word(bench: Bench, bits: int) -> None:
    bench.chase(4 << bits)
    after = bench.words(np.uint32, 1 << bits).get()
    for index in (0, 1, 17, (1 << bits) - 1):  # host and device know the same cycle
        assert after[cycle_word(index, bits)] == cycle_word(index + 1, bits)
    at, path = 0, []
    for _ in range(1 << bits):
        path.append(at)
        at = int(after[at])
    assert at == 0 and sorted(path) == list(range(1 << bits))
    steps = np.abs(np.diff(path))
    assert np.median(steps) > (1 << bits) / 8  # no prefetcher follows that


@pytest.mark.parametrize(
    "start",
    [
        lambda bench: bench.atomics("add_int32", 700, 3),
        lambda bench: bench.atomics("add_float32", 700, 3),
        lambda bench: bench.local_atomics("add_int32"),
        lambda bench: bench.gather(1 << 14),
        lambda bench: bench.chase(1 << 14),
        lambda bench: bench.lock(),
        lambda bench: bench.grid_barriers(1),
    ],
)
def test_a_loop_cut_short_is_found(bench: Bench, start: Callable[[Bench], Trial]) -> None:
    trial = start(bench)
    trial.run(50)
    trial.verify(50)
    trial.run(1)
    with pytest.raises(DeviceError, match=r"were done|instead of"):
        trial.verify(50)


def test_every_lock_is_taken_and_freed(bench: Bench) -> None:
    bench.lock().run(5000)
    assert bench.out.item() == 5000
    assert not bench.words(np.uint32, 1024).get().any()


def test_grid_barrier_of_one_group_passes(bench: Bench) -> None:
    trial = bench.grid_barriers(1)
    trial.run(20)
    assert bench.out.item() == 20
    assert trial.verify(20) == "among 1 work-groups"


def test_scratch_fits_or_says_so(session: Session) -> None:
    small = Bench(session, 5000)
    assert small.scratch_bytes == 4096
    with pytest.raises(DeviceError, match="do not fit"):
        small.words(np.int64, 513)
    small.release()


# ---- trials


def test_trials_grow_until_the_clock_can_be_trusted() -> None:
    asked: list[int] = []

    def run(turns: int) -> tuple[float, float]:
        asked.append(turns)
        return 10.0 * turns, 1e-6 * turns

    reading = read(Trial(run), 1e-3)
    assert reading.per_second == pytest.approx(1e7) and reading.spread == pytest.approx(0.0)
    assert reading.seconds == pytest.approx(1e-7)
    assert asked[-TRIALS:] == [asked[-1]] * TRIALS and asked[-1] >= 1000


def test_growth_has_a_limit_and_spread_is_told() -> None:
    seconds = iter([1.0, 1.0, 1.0, *(4.0, 2.0, 1.0, 2.0, 2.0)])
    reading = read(Trial(lambda turns: (8.0, next(seconds)), most_turns=2), 2.0)
    assert reading.per_second == 4.0 and reading.spread == pytest.approx((8 - 2) / 4)


def test_a_clock_that_stands_is_an_error() -> None:
    with pytest.raises(DeviceError, match="no time"):
        read(Trial(lambda turns: (turns, 0.0), most_turns=1 << 10), 1e-3)


def test_powers_include_both_ends() -> None:
    assert _powers(1, 512, 8) == [1, 8, 64, 512]
    assert _powers(1, 1500, 8) == [1, 8, 64, 512, 1024]
    assert _powers(4096, 4096, 2) == [4096]


# ---- profiles


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
    """Rates of the host came later, so older profiles may lack them."""
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
