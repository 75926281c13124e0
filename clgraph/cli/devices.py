"""The command ``clgraph devices``, which lists the OpenCL devices of this machine."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from clgraph.cli.options import add_json
from clgraph.cli.terminal import busy, print_json, print_table

HELP = "list the OpenCL devices"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.device.facts import COLUMNS
    from clgraph.errors import NoDeviceError
    from clgraph.runtime.discovery.query import enumerate_devices
    from clgraph.runtime.discovery.selection import devices, select_device

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
        print_table(["", *COLUMNS], [("*" if d.id == default_id else "", *d.row()) for d in found])
        if default_id:
            print(f"\n* the default ({why})")
    if not any(d.facts for d in found):
        select_device()  # This call raises an error that says what to install.
    return 0
