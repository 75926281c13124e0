"""Drivers and devices that crash or compute wrong are found in a child process, told of, and passed over."""

import json
import os
import platform
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import crashing_driver, intel_session, run_python, session_on

from clgraph.device.facts import DeviceFacts
from clgraph.device.profile_files import load_profile, save_profile
from clgraph.errors import NoDeviceError
from clgraph.runtime.discovery import child, drivers, query, selection, self_test
from clgraph.runtime.discovery.child import Answer
from clgraph.runtime.programs import pocl_cpu
from clgraph.runtime.session import Session

X86 = platform.machine() == "x86_64"
# A processor without AVX-512 where PoCL's built-ins have it, and the other way round.
WRONG = "znver3" if "avx512f" in pocl_cpu.processor_features() else "skylake-avx512"


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory for children and for verdicts of this process."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("POCL_CACHE_DIR", raising=False)
    monkeypatch.setattr(self_test, "_verdicts", {})
    return tmp_path / "cache"


@pytest.fixture
def deadly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let self-tests die under PoCL while they compile."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os\n"
        "if 'CLGRAPH_IN_CHILD' in os.environ:\n"
        "    import pyopencl as cl\n"
        "    made = cl.Context\n"
        "    def context(devices):\n"
        "        if 'Portable' in devices[0].platform.name: os.abort()\n"
        "        return made(devices)\n"
        "    cl.Context = context\n", encoding="utf-8",
    )  # fmt: skip
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


# ---- the processor for which PoCL compiles


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        ("fpu sse2", "athlon64"),
        ("sse2 ssse3 cx16", "core2"),
        ("sse2 ssse3 cx16 sse4_1", "penryn"),
        ("sse2 ssse3 cx16 sse4_1 popcnt avx", "sandybridge"),
        ("sse2 ssse3 cx16 sse4_1 popcnt avx f16c", "ivybridge"),
        ("sse2 ssse3 cx16 sse4_1 popcnt avx f16c xop fma4", "bdver1"),
        ("sse2 ssse3 cx16 sse4_1 popcnt avx f16c fma avx2 abm bmi1 bmi2", "haswell"),
        ("sse2 ssse3 cx16 sse4_1 popcnt avx f16c fma avx2 abm bmi1 bmi2 avx512f", "skylake-avx512"),
    ],
)
def test_the_processor_follows_the_features(monkeypatch: pytest.MonkeyPatch, flags: str, name: str) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(pocl_cpu, "processor_features", lambda: frozenset(flags.split()))
    assert pocl_cpu.processor_of_builtins() == name


_FORCED = """
import sys, pyopencl as cl
from clgraph.runtime.programs import pocl_cpu
from clgraph.runtime.discovery import self_test
device = next(p for p in cl.get_platforms() if "Portable" in p.name).get_devices()[0]
right = pocl_cpu._PROCESSORS
pocl_cpu._PROCESSORS = ((sys.argv[1], set()),)  # plays LLVM
assert pocl_cpu.name_processor(device)
pocl_cpu._PROCESSORS = right
if sys.argv[2] == "mended":
    assert pocl_cpu.name_processor(device) == sys.argv[1]
    assert pocl_cpu.name_processor(device) == pocl_cpu.processor_of_builtins()
print(self_test.examine(device)["reason"])
"""


@pytest.mark.skipif(not X86, reason="PoCL's wheel is for x86-64")
@pytest.mark.parametrize(
    ("name", "state"), [(WRONG, "as found"), (WRONG, "mended"), ("generic", "mended"), ("no-such-processor", "mended")]
)
def test_pocl_computes_right_whatever_llvm_calls_the_processor(name: str, state: str, tmp_path: Path) -> None:
    if not pocl_cpu.needs_name(session_on("pocl").device):
        pytest.skip("this PoCL names the processor of its built-ins by itself")
    done = run_python(_FORCED, name, state, POCL_CACHE_DIR=str(tmp_path))
    right = done.returncode == 0 and done.stdout == "None\n"
    assert right == (state == "mended"), done.stderr


class _Structure:
    """Memory laid out as the part of PoCL's device structure that holds the names."""

    def __init__(self, triple: bytes, name: bytes, version: str = "OpenCL 3.0 PoCL 3.0-rc2  Linux, DISTRO") -> None:
        import ctypes

        self.texts = [ctypes.create_string_buffer(text) for text in (triple, name)]
        words = [3, 0, 2**46 + 8, *(ctypes.addressof(text) for text in self.texts), 17, 0x1234]
        self.words = (ctypes.c_uint64 * 512)(*words)
        self.int_ptr = ctypes.addressof(self.words)
        self.platform = type("Platform", (), {"version": version})


@pytest.mark.skipif(not X86, reason="only on x86-64")
@pytest.mark.parametrize(
    "device",
    [
        _Structure(b"aarch64-linux-gnu", b"znver3"),
        _Structure(b"", b"generic"),
        _Structure(b"x86_64-pc-linux-gnu", b"\xff"),
        _Structure(b"x86_64-pc-linux-gnu", b"znver3", "OpenCL 3.0 PoCL 5.0  Linux, DISTRO"),
        _Structure(b"x86_64-pc-linux-gnu", b"znver3", "OpenCL 3.0 PoCL 3.0  Linux"),
    ],
)
def test_other_structures_are_left_alone(device: _Structure) -> None:
    words = list(device.words)
    assert pocl_cpu.name_processor(device) is None and list(device.words) == words
    device.int_ptr = 2**46  # not mapped
    assert pocl_cpu.name_processor(device) is None


# ---- devices


def test_the_verdict_is_found_once(session: Session, cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = self_test.verdict(session.device)
    assert found["reason"] is None and found["run_seconds"] > 0
    monkeypatch.setattr(self_test, "run_child", None)
    self_test._verdicts.clear()
    assert self_test.verdict(session.device) == found
    (kept,) = (cold / "self-tests").glob("*.json")
    kept.write_text("damaged", encoding="utf-8")
    assert self_test.verdict(session.device) == found  # this process knows


def test_the_child_gets_the_device_in_question(pocl: Session, cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    monkeypatch.setattr(
        self_test, "run_child", lambda module, name, **_: asked.append(name) or Answer({"reason": f"{name} is slow"})
    )
    others = [("first", object()), ("last", object())]
    monkeypatch.setattr(self_test, "enumerate_devices", lambda: others)
    assert self_test.verdict(pocl.device) == {"reason": None} and not asked  # as of a part of a device
    self_test._verdicts.clear()
    others.insert(1, ("second", pocl.device))
    assert self_test.verdict(pocl.device) == {"reason": "second is slow"} and asked == ["second"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("mad(x[i], x[i], x[i])", "x[i] * x[i]", "values of mad of float16 are wrong; 1 is 1.0, not 2.0"),
        ("fetch_min(&words[1], i + 5u)", "words[1] = 6u", "values of 32-bit atomics are wrong; 1 is 6, not 5"),
        ("copy[WG_SIZE - 1 - l]", "copy[l]", "local memory are wrong"),
        ("KERNEL local_memory", "KERNEL local_memory(", "its self-test fails"),
    ],
)
def test_wrong_values_are_told(pocl: Session, monkeypatch: pytest.MonkeyPatch, old: str, new: str, reason: str) -> None:
    text = self_test.build_input
    monkeypatch.setattr(self_test, "build_input", lambda *of: text(*of).replace(old, new))
    assert old in text(self_test.SOURCE, {})
    found = self_test.examine(pocl.device)
    assert reason in found["reason"] and "exchanges_per_second" not in found  # a wrong device is not timed


def test_a_device_that_crashes_is_told_of_and_passed_over(cold: Path, deadly: None) -> None:
    session_on("pocl"), session_on("intel")
    code = """
import json, clgraph as cg
from clgraph.errors import NoDeviceError
rows = {row.platform: row for row in cg.devices()}
pocl = rows["Portable Computing Language"]
assert pocl.facts is None
chosen = [cg.Session().facts.platform, cg.Session("cpu").facts.platform]
refused = []
for name in ("pocl", pocl.id):
    try:
        cg.Session(name)
    except NoDeviceError as error:
        refused.append(str(error))
print(json.dumps([pocl.reason, chosen, refused]))
"""
    reason, chosen, refused = json.loads(run_python(code).stdout)
    assert reason == "its self-test died of SIGABRT" and chosen == ["Intel(R) OpenCL"] * 2
    assert len(refused) == 2 and all(reason in text and "clgraph devices" in text for text in refused)
    shown = run_python("from clgraph.cli.main import main; raise SystemExit(main(['doctor', '--json']))")
    report = json.loads(shown.stdout)
    assert shown.returncode == 1
    assert [device["works"] for device in report["devices"]] == ["Intel" in d["platform"] for d in report["devices"]]
    assert any(reason in line for line in report["advice"])


def test_the_best_device_that_works_is_the_default(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    others, place = [pocl.device, session_on("intel").device], f"{pocl.facts.platform} / {pocl.facts.name}"
    monkeypatch.setattr(selection, "ranked", lambda found: others)
    for broken in (others[:1], others):
        monkeypatch.setattr(
            selection, "verdict", lambda device, broken=broken: {"reason": "it lies" if device in broken else None}
        )
        if broken == others:
            with pytest.raises(NoDeviceError, match=r"no device works: .*it lies.*it lies"):
                Session()
        else:
            assert Session().device == others[1]
            assert Session().why == f"no GPU found: best CPU; left out: {place}: it lies"


def test_measured_rates_decide_between_runtimes_of_one_processor(pocl: Session, cold: Path) -> None:
    found = [pocl.device, session_on("intel").device]
    facts = [query.query_facts(device) for device in found]
    profiles = [load_profile(each, measured=False) for each in facts]
    shipped = selection.ranked(found)
    assert selection.ranked(reversed(found)) == shipped
    better, worse = (profiles[found.index(device)] for device in shipped)
    for first, second, ranking in ((worse, better, shipped[::-1]), (better, worse, shipped)):
        save_profile(facts[found.index(shipped[0])], first)
        if ranking != shipped:
            assert selection.ranked(found) == shipped  # the other one is not measured
        save_profile(facts[found.index(shipped[1])], second)
        assert selection.ranked(found) == ranking


# ---- drivers


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a driver that ends the process which asks it for its platforms, and Intel's if it is here."""
    folder = tmp_path_factory.mktemp("vendors")
    crashing_driver(
        folder,
        """
void *clGetExtensionFunctionAddress(const char *name) { abort(); }
int clIcdGetPlatformIDsKHR(unsigned n, void **ids, unsigned *found) { abort(); }
int clGetPlatformInfo(void *id, unsigned name, size_t size, void *value, size_t *used) { abort(); }""",
    )
    if wheel := drivers.intel_wheel():
        (folder / "intel.icd").write_text(f"{wheel.library}\n", encoding="utf-8")
    return folder


def test_a_driver_that_crashes_is_left_out(crashing: Path, cold: Path) -> None:
    session_on("intel")
    listed = "from clgraph.cli.main import main; raise SystemExit(main(['devices', '--json']))"
    for _ in range(2):  # found, then remembered
        done = run_python(listed, OCL_ICD_VENDORS=str(crashing))
        assert done.returncode == 0 and not done.stderr, done.stderr
        rows = json.loads(done.stdout)
        assert {row["platform"] for row in rows if row["facts"]} >= {"Intel(R) OpenCL"}
        (broken,) = (row for row in rows if not row["facts"])
        assert broken["platform"].endswith("a-crash.icd") and "died of SIGABRT" in broken["reason"]
    assert len(list((cold / "drivers").glob("*.json"))) == 1


def test_a_kept_verdict_of_another_form_is_found_again(tmp_path: Path) -> None:
    path, verdict = tmp_path / "kept.json", {"together": [], "drivers": {}, "error": None}
    for text in ("", "[1]", "{}", '{"together": []}'):
        path.write_text(text, encoding="utf-8")
        assert child.kept_verdict(path, {*verdict}, lambda: (verdict, True)) == verdict
        assert child.kept_verdict(path, {*verdict}, lambda: ({}, False)) == verdict
    assert child.kept_verdict(path, {*verdict}, lambda: ({}, False), again=True) == {}


def test_one_file_may_stand_for_all_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loader takes a library, or a file with the name of one, in place of a folder."""
    library, icd = tmp_path / "libdriver.so", tmp_path / "driver.icd"
    library.touch()
    icd.write_text("libother.so.1\n", encoding="utf-8")
    for given, name in ((library, str(library)), (icd, "libother.so.1")):
        monkeypatch.setenv("OCL_ICD_VENDORS", str(given))
        assert drivers.registered() == [(given, name)]


def test_a_driver_that_fails_is_not_registered(tmp_path: Path, cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registered driver whose test has failed is left out, also where no file can be written."""
    good, bad = (drivers.Driver(tmp_path / f"{name}.icd", f"lib{name}.so") for name in ("good", "bad"))
    verdict = {"error": "", "drivers": {str(bad.file): "it crashes"}}
    monkeypatch.setattr(drivers, "registered", lambda: [good, bad])
    monkeypatch.setattr(drivers, "survey", lambda: verdict)
    monkeypatch.delenv(drivers.IN_CHILD, raising=False)
    monkeypatch.setenv("OCL_ICD_VENDORS", "")
    prepare = drivers.prepare_environment.__wrapped__
    assert prepare() == verdict["drivers"]
    written = Path(os.environ["OCL_ICD_VENDORS"]).glob("*.icd")
    assert [path.read_text(encoding="utf-8").strip() for path in written] == [good.library]

    def refuse(*_: object) -> Any:
        raise OSError("read-only")

    monkeypatch.setattr(drivers, "_registering", refuse)
    prepare()
    assert os.environ["OCL_ICD_VENDORS"] == good.library
    verdict["error"] = "has crashed"
    with pytest.raises(NoDeviceError, match="a process that lists its devices has crashed"):
        prepare()


def test_a_device_of_small_groups_is_tested_by_single_work_items() -> None:
    sizes = [self_test._group_size(DeviceFacts("one", max_work_group_size=most)) for most in (1, 63, 1024)]
    assert sizes[:2] == [1, 1] and sizes[2] > 1


def test_a_device_that_fails_is_refused(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    selection.check_works(pocl.device)
    monkeypatch.setattr(selection, "verdict", lambda device: {"reason": "wrong sums"})
    with pytest.raises(NoDeviceError, match="must not be used: wrong sums"):
        selection.check_works(pocl.device)


def test_a_driver_that_is_changed_is_tried_again(crashing: Path, cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(crashing))
    keys = []
    for _ in range(2):
        drivers._key.cache_clear()
        keys.append(drivers._key())
        os.utime(crashing / "libcrash.so", (0, len(keys)))
    drivers._key.cache_clear()
    assert keys[0] != keys[1]


def test_intels_runtime_is_found_where_its_wheel_puts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    for windows, name in ((False, "lib/libintelocl.so"), (True, "Library/bin/intelocl64.dll")):
        monkeypatch.setattr(drivers, "_WINDOWS", windows)
        library = tmp_path / name
        library.parent.mkdir(parents=True)
        library.touch()
        drivers.intel_wheel.cache_clear()
        wheel = drivers.intel_wheel()
        assert wheel == (library, str(library)) and drivers.registered()[-1] == wheel
        environment = drivers._registering([wheel], tmp_path)
        if windows:
            assert environment["OCL_ICD_FILENAMES"] == str(library)
            assert environment["PATH"].startswith(str(library.parent))
        else:
            (icd,) = Path(environment["OCL_ICD_VENDORS"]).glob("*.icd")
            assert icd.read_text(encoding="utf-8") == f"{library}\n"
    drivers.intel_wheel.cache_clear()


def test_a_platforms_name_goes_before_a_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """On an Intel processor PoCL's device bears that name, too."""
    intel_session()
    monkeypatch.setattr(selection, "ranked", lambda found: sorted(found, key=lambda d: "Intel" in d.platform.name))
    monkeypatch.setattr(selection, "_means", lambda text, device: True)
    assert "Intel" in selection._matching("intel", "asked for")[0].platform.name


# ---- what it measures


def test_picks_go_by_the_atomics_of_this_processor(pocl: Session, cold: Path) -> None:
    """A runtime's rates were measured on another processor; the self-test times compare-exchanges on this one."""
    shipped, here = load_profile(pocl.facts), selection.profile_of(pocl.device, pocl.facts)
    assert shipped.origin == here.origin == "vendor"
    known, found = (each.rates.group_address_atomics_per_second for each in (shipped, here))
    per_second = self_test.verdict(pocl.device)["exchanges_per_second"]
    assert found["cmpxchg_int32"] == pytest.approx(per_second) and 1e6 < per_second < 1e11
    assert found["add_int32"] / known["add_int32"] == pytest.approx(per_second / known["cmpxchg_int32"])
    measured = replace(shipped, origin="measured")  # A caller has asked for it.
    save_profile(pocl.facts, measured)
    assert selection.profile_of(pocl.device, pocl.facts).rates == shipped.rates
