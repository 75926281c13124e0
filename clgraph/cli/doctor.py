"""``clgraph doctor``: find out why a device does not work."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clgraph.cli.options import add_json
from clgraph.cli.terminal import busy, milliseconds, print_json

HELP = "test drivers and devices again, each in a child process, and give advice"


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
    report: dict[str, Any] = {"versions": _versions(), "drivers": [], "error": None, "devices": []}
    try:
        report |= _test_everything(timeout)
    except ImportError as error:
        report["error"] = f"{type(error).__name__}: {error}"
    return {**report, "advice": _advice(report["drivers"], report["error"], report["devices"])}


def _test_everything(timeout: float) -> dict[str, Any]:
    from clgraph.device.profile_files import load_profile
    from clgraph.runtime.discovery import drivers, self_test
    from clgraph.runtime.discovery.query import enumerate_devices
    from clgraph.runtime.discovery.selection import devices

    self_test.forget()
    with busy("loading the drivers"):
        survey = drivers.survey(timeout=timeout, again=True)
    listed = [
        {"file": str(driver.file), "library": driver.library, "error": survey["drivers"].get(str(driver.file))}
        for driver in (*drivers.registered(), *drivers.bundled())
    ]
    rows = []
    if survey["error"] is None:
        verdicts = {}
        for key, device in enumerate_devices():
            with busy(f"testing {device.platform.name} / {device.name}"), contextlib.suppress(Exception):
                verdicts[key] = self_test.verdict(device, timeout=timeout)  # devices() below reports errors
        rows = [
            {
                **asdict(row), "works": row.reason is None, "check": verdicts.get(row.id),
                "profile": row.facts and load_profile(row.facts).origin,
            }
            for row in devices() if row.id != "-:-"
        ]  # fmt: skip
    return {"drivers": listed, "error": survey["error"] or survey["together"], "devices": rows}


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
    from clgraph.runtime.discovery.drivers import cpu_runtime_to_install

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
        f"{driver['file']} is left out, for a process that loads it {driver['error']}: update or remove that driver"
        for driver in drivers
        if driver.get("error")
    ]
    advice += [f"{device['id']} {device['platform']}: {device['reason']}" for device in devices if not device["works"]]
    if not devices:
        advice.append(
            f"no OpenCL device: for a CPU device {cpu_runtime_to_install()}; for a GPU install its vendor's driver"
        )
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
        f"works (driver {facts['driver_version']}; kernels built in "
        f"{milliseconds(check['build_seconds'])} ms, values right; rates: {device['profile']})"
    )
