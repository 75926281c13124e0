"""AMD machine code executed on the CPU (``tests/amd``): the decoder against clang's names, and kernels against answers.

A short form of ``tools/execute_amd.py``, which explores many more schedules of every kernel. ``docs/amd.md`` tells what
this shows.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import EXECUTED, ROOT, executed_session

WORD = re.compile(r"^\t([a-z]+_[a-z0-9_]+)(?=[ \t\n])(?:.*:: (v_\w+))?", re.MULTILINE)
FEW_SEEDS = {"connected_components": 3, "bfs": 1, "vocabulary": 1}


@pytest.fixture(scope="module", params=EXECUTED)
def session(request):
    return executed_session(request.param)


def work(name: str, target: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a workload of ``tests/amd/work.py`` in a process of its own, because workloads change modules."""
    command = [sys.executable, str(ROOT / "tests/amd/work.py"), name, target, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("file", ["connected_components/rem.cl", "minimum_spanning_forest/edge_list.cl"])
def test_decoded_names_are_those_of_clang(session, file):
    from amd.compiled import check_kernels, code_object, target_of
    from amd.decoder import decode

    compiled = code_object(file, {}, session.target)
    assembly = check_kernels.compile_program(file, {}, target_of(session.target))
    for kernel in compiled.kernels.values():
        text = re.search(rf"^{kernel.name}:.*?^\.Lfunc_end", assembly, re.DOTALL | re.MULTILINE)
        named = [(first, second or "") for first, second in WORD.findall(text[0])]
        decoded, place = [], kernel.entry
        while place < kernel.entry + kernel.n_code_bytes:
            instruction = decode(compiled.code[place : place + 12], session.target)
            decoded.append((instruction.name.lower(), instruction.name_y.lower()))
            place += 4 * instruction.words
        named = [pair for pair in named if pair[0] != "s_nop"]
        decoded = [pair for pair in decoded if pair[0] != "s_nop"]  # the assembler aligns loops by it
        assert decoded[: len(named)] == [tuple(re.sub("_(e32|e64|sdwa)$", "", word) for word in pair) for pair in named]
        assert {name for name, _ in decoded[len(named) :]} <= {"s_code_end"}  # padding


@pytest.mark.parametrize("name", FEW_SEEDS)
def test_answers_of_executed_kernels_are_right(session, name):
    ran = work(name, session.target, "--seeds", str(FEW_SEEDS[name]))
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]


def test_answers_are_right_with_caches_that_are_not_coherent(session):
    ran = work("connected_components", session.target, "--seeds", "2", "--caches")
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]


def test_kernels_of_cpus_are_in_the_package_and_were_not_executed():
    """No strategy that takes a GPU launched them, or the executed rows would have them."""
    sys.path.append(str(ROOT / "tools"))
    from execute_amd import ON_CPUS, defined_kernels, kernels_of_gpus

    named = {f"{path}:{name}" for path, names in ON_CPUS.items() for name in names}
    assert named <= {*defined_kernels()} and not named & {*kernels_of_gpus()}
    rows = json.loads((ROOT / "benchmarks/results/amd-executed.json").read_text(encoding="utf-8"))
    assert not named & {row["kernel"] for row in rows["kernels"]} and not rows["of_cpus"]


def test_a_seed_replays(session):
    from clgraph import generators
    from clgraph.algorithms.connected_components import connected_components

    graph, steps = generators.rmat(9, 4), []
    for seed in (1, 1, 2):
        session.schedule.seed = seed
        session.steps.clear()
        connected_components(graph, strategy="rem", session=session, verify=True)
        steps.append(dict(session.steps))
    assert steps[0] == steps[1] != steps[2]


PLANTED = {
    # A word that another group sets is awaited by plain loads, which the compute unit's own cache serves.
    "plain-load": ("load_relaxed(flag)", "plain(flag)"),
    # OpenCL 1.2's fence orders a group's own memory only, so stale data are read behind the flag.
    "old-fence": ("fence_device()", "mem_fence(CLK_GLOBAL_MEM_FENCE)"),
}
MESSAGE = """
#include "common/atomics.h"
INLINE uint plain(volatile __global uint *p) {
  __asm__ volatile("" ::: "memory");  /* so that the compiler loads again */
  return *(__global uint *)p;
}
KERNEL pass(int rounds, volatile __global uint *flag, __global uint *data, __global uint *seen) {
  uint lane = get_local_id(0), early = data[lane], last = 0;
  if (get_group_id(0) == 0) {
    for (int k = 0; k < 50; k++) spin_pause(), fence_device();   /* the other group fills its cache meanwhile */
    data[lane] = 7u;
    fence_device();
    if (lane == 0) store_relaxed(flag, 1u);
  } else {
    for (int k = 0; k < rounds && !(last = load_relaxed(flag)); k++) spin_pause();
    fence_device();
    seen[lane] = last;
    seen[64 + lane] = data[lane];
    seen[128 + lane] = early;
  }
}
"""


def _message(session, path: Path, text: str, caches: bool) -> set[tuple[int, int]]:
    """Return what a group saw of the flag and the data of another, under some seeds; data 0 behind flag 1 is stale."""
    path.write_text(text, encoding="utf-8")
    session.schedule.caches = caches
    program, seen = session.program(str(path), work_group_size=64), set()
    for seed in range(1, 13):
        session.schedule.seed = seed
        flag, data, out = (session.zeros(192, np.uint32) for _ in range(3))
        program.bind("pass", 128, rounds=20_000, flag=flag, data=data, seen=out)()
        seen.add((int(out.item(0)), int(out.item(64))))
    session.schedule.caches = False
    return seen


def test_a_fence_passes_a_message_between_caches(session, tmp_path):
    assert _message(session, tmp_path / "right.cl", MESSAGE, caches=True) == {(1, 7)}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_reads_stale_data(session, tmp_path, name):
    old, new = PLANTED[name]
    wrong = MESSAGE.replace(old, new)
    assert wrong != MESSAGE
    assert _message(session, tmp_path / "coherent.cl", wrong, caches=False) == {(1, 7)}
    seen = _message(session, tmp_path / "stale.cl", wrong, caches=True)
    assert seen != {(1, 7)}, f"{name} was not found"


def test_a_livelock_and_a_wrong_address_are_reported(session, tmp_path):
    from amd.machine import ExecutionError

    path = tmp_path / "planted.cl"
    path.write_text(
        '#include "common/atomics.h"\n'
        "KERNEL spin(volatile __global uint *out) { while (!load_relaxed(out)) spin_pause(); }\n"
        "KERNEL beyond(volatile __global uint *out) { store_relaxed(out + get_global_id(0) + 1, 1u); }\n"
    )
    program, out = session.program(str(path), work_group_size=64), session.zeros(64, np.uint32)
    session.schedule.max_steps, kept = 100_000, session.schedule.max_steps
    with pytest.raises(ExecutionError, match=r"too many steps after 100,0.* waves at bytes 0x"):
        program.bind("spin", 64, out=out)()
    session.schedule.max_steps = kept
    with pytest.raises(ExecutionError, match="an address outside of all arrays"):
        program.bind("beyond", 64, out=out)()
