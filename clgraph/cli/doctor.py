"""``clgraph doctor``: find out why a device does not work."""
from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from clgraph.cli.options import add_json
from clgraph.cli.terminal import busy, milliseconds, print_json
from clgraph.user_cache import cache_root

HELP = "check drivers and devices, each in a child process, and give advice"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="SECONDS", help="for each child process (default 60)"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    report = _examine(args.timeout)
    if args.json:
        print_json(report)
    else:
        _print_report(report)
    if not any(device["works"] for device in report["devices"]):
        return 3
    return 0 if all(device["works"] for device in report["devices"]) and report["error"] is None else 1


def _examine(timeout: float) -> dict[str, Any]:
    with busy("listing devices"):
        devices, error = run_child(["list"], timeout)
    drivers: list[dict[str, Any]] = [{"file": str(icd), "library": _first_line(icd)} for icd in _icd_files()]
    if error is not None:  # one driver may have taken the others down: ask each of them alone
        devices = []
        for driver in drivers:
            with busy(f"listing the devices of {driver['file']}"):
                alone, driver["error"] = run_child(["list"], timeout, OCL_ICD_VENDORS=driver["file"])
            known = {device["platform"] for device in devices}  # the loader adds those of wheels
            devices += [
                {**device, "driver_file": driver["file"]}
                for device in alone or []
                if device["platform"] not in known
            ]
    for device in devices:
        outcome, failure = None, device["reason"]
        if failure is None:
            only = {"OCL_ICD_VENDORS": device["driver_file"]} if "driver_file" in device else {}
            with busy(f"checking {device['platform']} / {device['name']}"):
                outcome, failure = run_child(["check", device["id"]], timeout, **only)
        device["check"] = outcome
        device["reason"] = failure or (outcome or {}).get("reason")
        device["works"] = device["reason"] is None
    return {
        "versions": _versions(), "drivers": drivers, "error": error, "devices": devices,
        "advice": _advice(drivers, error, devices),
    }  # fmt: skip


def run_child(
    arguments: list[str], timeout: float, module: str = "clgraph.cli.driver_check", **environment: str
) -> tuple[Any, str | None]:
    """Run a module of :mod:`clgraph.cli` in a child process.

    Returns
    -------
    document : object or None
        What it printed as JSON on its last line.
    error : str or None
        How it died otherwise.
    """
    root = str(Path(__file__).parents[2])
    search = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    try:
        child = subprocess.run(
            [sys.executable, "-m", module, *arguments], capture_output=True, text=True, timeout=timeout,
            check=False, stdin=subprocess.DEVNULL, env={**os.environ, **environment, "PYTHONPATH": search},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, f"did not answer within {timeout:g} s"
    if child.returncode < 0:
        return None, f"died of {signal.Signals(-child.returncode).name}"
    lines = (child.stdout if child.returncode == 0 else child.stderr).strip().splitlines()
    last = lines[-1] if lines else "no output"
    if child.returncode:
        return None, last
    try:
        return json.loads(last), None
    except ValueError:
        return None, f"unexpected output: {last!r}"


def _icd_files() -> list[Path]:
    """Return the drivers' registry files: of the system, and those that wheels bring."""
    vendors = Path(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors"))
    found = [vendors] if vendors.is_file() else sorted(vendors.glob("*.icd"))
    if "OCL_ICD_VENDORS" not in os.environ:  # then sessions register Intel's wheel
        found += sorted(cache_root().glob(f"icd-{os.getuid()}/intel-wheel.icd"))
    for path in sys.path:
        found += sorted((Path(path) / "pyopencl" / ".libs").glob("*.icd"))
    return list(dict.fromkeys(found))


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip().partition("\n")[0]
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    from clgraph import __version__

    versions = {"python": sys.version.split()[0], "clgraph": __version__}
    for name in ("numpy", "scipy", "pyopencl", "pocl-binary-distribution", "intel-opencl-rt"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def _advice(drivers: list[dict[str, Any]], error: str | None, devices: list[dict[str, Any]]) -> list[str]:
    registered = " ".join(f"{driver['file']} {driver['library']}" for driver in drivers).lower()
    advice = []
    if Path("/dev/nvidiactl").exists() and "nvidia" not in registered:
        advice.append(
            "an NVIDIA driver is loaded but its OpenCL is not registered: put the line "
            "libnvidia-opencl.so.1 into /etc/OpenCL/vendors/nvidia.icd (a container also needs "
            "NVIDIA_DRIVER_CAPABILITIES=compute,utility)"
        )
    if Path("/dev/kfd").exists() and "amd" not in registered:
        advice.append("an AMD GPU is here but no OpenCL driver for it: install rocm-opencl-runtime")
    if Path("/dev/kfd").exists() and not os.access("/dev/kfd", os.R_OK | os.W_OK):
        advice.append("this user may not open /dev/kfd: join the group that owns it (render or video)")
    if error is not None and "pyopencl" in error:
        advice.append("pyopencl cannot be imported: install clgraph again, wheels included")
    advice += [
        f"{driver['file']} {driver['error']}: update or remove that driver, or point OCL_ICD_VENDORS "
        "at a folder with the others"
        for driver in drivers
        if driver.get("error")
    ]
    advice += [
        f"{device['id']} {device['platform']}: {device['reason']}"
        for device in devices
        if not device["works"]
    ]
    if not devices:
        advice.append("no OpenCL device: install the 'pocl' extra for a CPU device, or a GPU vendor's driver")
    return advice


def _print_report(report: dict[str, Any]) -> None:
    print("versions  " + ", ".join(f"{name} {version}" for name, version in report["versions"].items()))
    print("\ndrivers" + ("" if report["drivers"] else "   none registered"))
    for driver in report["drivers"]:
        error = f": {driver['error']}" if driver.get("error") else ""
        print(f"  {driver['file']} -> {driver['library']}{error}")
    if report["error"] is not None:
        print(f"\nlisting all devices together failed: {report['error']}")
    print("\ndevices" + ("" if report["devices"] else "   none"))
    for device in report["devices"]:
        print(f"  {device['id']}  {device['platform']} / {device['name']}: {_verdict(device)}")
    if report["advice"]:
        print("\nadvice")
        for line in report["advice"]:
            print(f"  {line}")


def _verdict(device: dict[str, Any]) -> str:
    if not device["works"]:
        return f"FAILS: {device['reason']}"
    check, facts = device["check"], device["facts"]
    return (
        f"works (driver {facts['driver_version']}; kernel built in "
        f"{milliseconds(check['build_seconds'])} ms, values right; rates: {check['profile']})"
    )
