"""``clgraph devices``: what OpenCL devices are here."""
from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from clgraph.cli.options import add_json
from clgraph.cli.terminal import busy, print_json, print_table

if TYPE_CHECKING:
    from clgraph.device.facts import DeviceInfo

HELP = "list the OpenCL devices"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.errors import NoDeviceError
    from clgraph.runtime.query import enumerate_devices
    from clgraph.runtime.selection import devices, select_device

    with busy("looking at the devices"):
        found = devices()
    try:
        default, why = select_device()
    except NoDeviceError:
        default, why = None, ""
    default_id = next((key for key, device in enumerate_devices() if device == default), None)
    if args.json:
        print_json([{**asdict(d), "default": d.id == default_id} for d in found])
    elif found:
        print_table(
            ["", "id", "platform", "device", "type", "units", "memory"],
            [_row(d, d.id == default_id) for d in found],
        )
        if default_id:
            print(f"\n* the default ({why})")
    if not any(d.facts for d in found):
        select_device()  # raises, and its message says what to install
    return 0


def _row(device: DeviceInfo, default: bool) -> list[object]:
    mark = "*" if default else ""
    if device.facts is None:
        return [mark, device.id, device.platform, device.name, f"unusable: {device.reason}", "", ""]
    facts = device.facts
    return [
        mark, device.id, device.platform, device.name, "CPU" if facts.is_cpu else "GPU",
        facts.compute_units, f"{facts.global_mem_bytes / 2**30:.1f} GiB",
    ]  # fmt: skip
