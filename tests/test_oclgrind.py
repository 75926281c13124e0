"""Kernels under Oclgrind: data races, reads of uninitialised memory, out-of-bounds accesses, API misuse.

Its exit status is always 0, so its log decides. It runs one work-group at a time, so work-groups that wait
for each other cannot run there; an intended race must be an atomic (LOADS_ATOMIC, runtime/driver/quirks.py).
"""

import re
import subprocess
import sys

import pytest
from conftest import ROOT, require_tool

# pyopencl asks every device for properties that only some vendors have.
_PYOPENCL = re.compile(
    r"Oclgrind - OpenCL runtime error detected\s+Function: clGetDeviceInfo\s+"
    r"Error: +CL_INVALID_VALUE\s+For argument 'param_name'\s*"
)
CHECKS = ("--data-races", "--uninitialized", "--check-api")
# Oclgrind 21.10 takes arrays, vectors and what is read through them for uninitialised now and then, so only
# the vocabulary, whose kernels have few, is checked for that. Out-of-bounds accesses it always reports.
WITHOUT_UNINITIALIZED = ("--data-races", "--check-api")
# Its race detector knows no locks: what two work-items write under one is a race to it. So is what a group writes
# before it draws a ticket, and the group with the last ticket reads.
WITHOUT_RACES = ("--check-api",)
_OF_ARRAYS = ("primitives", "device_graphs", "generators", "factorization_offline", "factorization_blocks")
_OF_GRAPHS = ("components", "forests", "rounds", "searches", "hash_collisions", "colorings", "distance_two")
_OF_PARTS = ("partitions", "partition_variants")
RUNS = dict.fromkeys((*_OF_ARRAYS, *_OF_GRAPHS, *_OF_PARTS), WITHOUT_UNINITIALIZED)
RUNS |= dict.fromkeys(
    ("communities", "core_numbers", "sets_and_matchings", "strong_components", "triangles"), WITHOUT_UNINITIALIZED
)
RUNS |= {"vocabulary": CHECKS, "factorization_online": WITHOUT_RACES, "ranks": WITHOUT_RACES}
PLANTS = {
    "race": ("out[get_global_id(0) % 2u] = get_global_id(0);", "data race"),
    "out-of-bounds": ("out[get_global_id(0) + 1u] = 1u;", "Invalid write of size 4"),
    "uninitialised": ("if (unset[get_global_id(0)] > 3u) out[0] = 1u;", "uninitialized value"),
    "local-race": (
        "__local uint t[WG_SIZE]; t[get_local_id(0)] = (uint)get_local_id(0); "
        "out[get_global_id(0)] = t[(get_local_id(0) + 1u) % WG_SIZE];",
        "data race",
    ),
}


def grind(directory, *arguments: str, checks: tuple[str, ...] = CHECKS) -> str:
    """Run grind.py under Oclgrind; return what its log complains about."""
    log = directory / "oclgrind.log"
    program = [sys.executable, str(ROOT / "tests" / "grind.py"), *arguments]
    command = [require_tool("oclgrind"), *checks, "--log", str(log), *program]
    child = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False)
    assert "finished" in child.stdout, f"status {child.returncode}: {_PYOPENCL.sub('', child.stderr)[-4000:]}"
    return _PYOPENCL.sub("", log.read_text() if log.exists() else "").strip()


@pytest.mark.parametrize("what", RUNS)
def test_kernels_are_clean(tmp_path, what):
    complaints = grind(tmp_path, what, checks=RUNS[what])
    assert not complaints, complaints[:4000]


@pytest.mark.parametrize("name", PLANTS)
def test_planted_bug_is_found(tmp_path, name):
    body, message = PLANTS[name]
    kernel = tmp_path / "planted.cl"
    kernel.write_text(
        f'#include "common/types.h"\nKERNEL planted(__global const uint *unset, __global uint *out) {{ {body} }}\n'
    )
    assert message in grind(tmp_path, "planted", str(kernel))
