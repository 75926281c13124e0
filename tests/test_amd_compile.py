"""Every kernel compiles for AMD and NVIDIA GPUs without spilling and for CPUs without a warning; the checker sees
what it should."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT, require_tool

sys.path.insert(0, str(ROOT / "tools"))
import check_kernels

from clgraph.device.facts import Dialect

FILES = sorted({path for _, path, _ in check_kernels.programs()})


@pytest.fixture(scope="module", autouse=True)
def _clang():
    require_tool(check_kernels.CLANG)


@pytest.fixture(scope="module")
def device_libs():
    if not check_kernels.DEVICE_LIBS.is_dir():
        if os.environ.get("CLGRAPH_REQUIRE_TOOLS"):
            pytest.fail(f"CLGRAPH_REQUIRE_TOOLS is set, and there is no {check_kernels.DEVICE_LIBS}")
        pytest.skip("needs rocm-device-libs")


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.removeprefix(str(ROOT) + "/"))
def test_compiles_for_amd_without_spills(device_libs, file):
    rows, wrong = check_kernels.check_amd([file], every_kernel=False, in_turns=True)
    assert not wrong, "\n".join(wrong)
    n_variants = len([*check_kernels.programs([file])]) - 1
    assert len(rows) == 3 + 3 * (n_variants // 2) + 2 * ((n_variants + 1) // 2)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.removeprefix(str(ROOT) + "/"))
def test_compiles_for_nvidia(file):
    rows, wrong = check_kernels.check_nvidia([file])
    assert not wrong, "\n".join(wrong)
    assert all(row[2] > 0 for row in rows) and rows


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.removeprefix(str(ROOT) + "/"))
def test_compiles_for_cpus_without_warnings(file):
    facts = replace(
        check_kernels.TARGETS["amd"][0].facts, is_cpu=True, sub_group_size=1, dialect=Dialect(standard="CL3.0")
    )
    # Headers hold more words than a file uses; local memory that another work-item sets is uninitialised to clang.
    allowed = ("-Wno-unused-function", "-Wno-sometimes-uninitialized")
    arguments = ("-target", "spir64", "-fsyntax-only", "-Wall", "-Werror", *allowed)
    for _, path, defines in check_kernels.programs([file]):
        run = check_kernels.run_clang(path, defines, facts, arguments)
        assert run.returncode == 0, run.stderr


def test_variants_name_existing_files():
    assert set(check_kernels.VARIANTS) <= set(FILES)


def test_waves_come_from_the_target(device_libs):
    vocabulary = str(ROOT / "tests" / "kernels" / "vocabulary.cl")
    waves = {
        target.name: {k.wave for k in check_kernels.amd_kernels(check_kernels.compile_program(vocabulary, {}, target))}
        for target in check_kernels.TARGETS["amd"]
    }
    assert waves == {"gfx906 wave64": {64}, "gfx90a wave64": {64}, "gfx1030 wave32": {32}, "gfx1030 wave64": {64},
                     "gfx1100 wave32": {32}}  # fmt: skip


def _write(directory: Path, body: str) -> str:
    path = directory / "planted.cl"
    path.write_text(f'#include "common/atomics.h"\nKERNEL planted(__global int *out) {{ {body} }}\n')
    return str(path)


def test_planted_scratch_fails(device_libs, tmp_path, capsys):
    loop = "for (int i = 0; i < 900; i++)"
    body = f"int a[900]; {loop} a[i] = out[i]; {loop} out[a[a[i]]] = i;"
    assert check_kernels.main(["--vendor", "amd", _write(tmp_path, body)]) == 1
    assert "bytes of scratch" in capsys.readouterr().out


@pytest.mark.parametrize("vendor", ["amd", "nvidia"])
def test_planted_syntax_error_fails(device_libs, tmp_path, capsys, vendor):
    assert check_kernels.main(["--vendor", vendor, _write(tmp_path, "out[0] = no_such_word(1);")]) == 1
    assert "no_such_word" in capsys.readouterr().out


def test_planted_wrong_ptx_fails(tmp_path, capsys):
    require_tool("ptxas")
    body = '__asm__ volatile("ld.relaxed.gpu.global.s33 %0, [%1];" : "=r"(*out) : "l"((ulong)out));'
    assert check_kernels.main(["--vendor", "nvidia", _write(tmp_path, body)]) == 1
    assert "s33" in capsys.readouterr().out
