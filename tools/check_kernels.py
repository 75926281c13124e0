#!/usr/bin/env python3
"""Compile every kernel for GPUs that are not here, and show its registers and memory.

    tools/check_kernels.py [--vendor amd|nvidia] [--kernels] [file.cl ...]

AMD: clang with rocm-device-libs, down to the machine code of gfx906, gfx90a, gfx1030 and gfx1100; the table shows
registers, local memory and wave size. Scratch memory fails, and a register spill that MOST_SCALAR_SPILLS does not
allow. On gfx1100 both are only shown, because clang-15 was the first to compile for it. NVIDIA: clang's NVPTX target
for the front end and the inline PTX, and ``ptxas`` where it is on the path; the vendor's compiler optimises and
allocates registers differently, so nothing is optimised, nor said about them.

The definitions come from the same device facts and dialects as on a real device. The exit status is 1 if
anything does not compile, spills or uses scratch, and 2 if a compiler is missing.
"""

from __future__ import annotations

import argparse
import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from kernel_variants import LONG, MOST_SCALAR_SPILLS, VARIANTS  # noqa: E402
from tabulate import tabulate  # noqa: E402

from clgraph.device.facts import DeviceFacts, Dialect  # noqa: E402
from clgraph.runtime.driver.quirks import amd_dialect, nvidia_dialect  # noqa: E402
from clgraph.runtime.programs.source import build_input  # noqa: E402

CLANG = os.environ.get("CLANG", "clang-15")
DEVICE_LIBS = Path(os.environ.get("ROCM_DEVICE_LIBS", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"))
WORK_GROUP_SIZE = 256
EXTRA_SOURCES = ("tests/kernels/vocabulary.cl",)


@dataclass(frozen=True)
class Target:
    """A GPU to compile for: its facts, and the arguments of clang."""

    name: str
    facts: DeviceFacts
    arguments: tuple[str, ...]
    optimisation: str = "-O3"
    may_spill: bool = False


class Kernel(NamedTuple):
    """The registers and the memory of one kernel on one target."""

    name: str
    vector_registers: int
    scalar_registers: int
    vector_spills: int
    scalar_spills: int
    scratch_bytes: int
    local_bytes: int
    wave: int

    @property
    def spills(self) -> int:
        return self.vector_spills + self.scalar_spills


def _facts(name: str, vendor: str, dialect: Dialect, width: int) -> DeviceFacts:
    return DeviceFacts(
        name=name, vendor=vendor, platform=vendor, platform_version="", driver_version="", is_cpu=False,
        compute_units=64, sub_group_size=width, max_work_group_size=1024, local_mem_bytes=65536,
        global_mem_bytes=16 << 30, max_alloc_bytes=4 << 30, has_int64_atomics=True, has_fp64=True, dialect=dialect,
    )  # fmt: skip


def amd_target(gpu: str, wave: int) -> Target:
    mode = {32: "-mno-wavefrontsize64", 64: "-mwavefrontsize64"}[wave]
    return Target(
        f"{gpu} wave{wave}",
        _facts(gpu, "AMD", *amd_dialect(gpu, wave)),
        ("-target", "amdgcn-amd-amdhsa", f"-mcpu={gpu}", mode),
        may_spill=gpu == "gfx1100",
    )


@cache
def device_libraries(gpu: str) -> Path:
    """Return the folder of AMD's device libraries; if they are older than *gpu*, a copy that knows it, too."""
    if (DEVICE_LIBS / f"oclc_isa_version_{gpu.removeprefix('gfx')}.bc").exists() or not DEVICE_LIBS.is_dir():
        return DEVICE_LIBS
    made = Path(tempfile.mkdtemp(prefix="clgraph-device-libraries-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    for library in DEVICE_LIBS.glob("*.bc"):
        (made / library.name).symlink_to(library)
    number = int(gpu.removeprefix("gfx")[:-2]) * 1000 + int(gpu[-2:], 16)
    language = ("-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-emit-llvm", "-c", "-")
    name = made / f"oclc_isa_version_{gpu.removeprefix('gfx')}.bc"
    text = f"constant int __oclc_ISA_version = {number};"
    subprocess.run([CLANG, *language, "-o", str(name)], input=text, text=True, capture_output=True, check=True)
    return made


def nvidia_target(sm: int) -> Target:
    # clang 15 knows GPUs up to sm_86; the inline PTX is chosen by DEV_NVIDIA_SM, not by clang.
    known = min(sm, 86)
    atomics = "-cl-ext=+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics"
    front_end = ("-target-cpu", f"sm_{known}", "-target-feature", "+ptx75", atomics)
    arguments = ("-target", "nvptx64--", *(word for option in front_end for word in ("-Xclang", option)))
    return Target(f"sm_{sm}", _facts(f"sm_{sm}", "NVIDIA", *nvidia_dialect(sm)), arguments, optimisation="-O0")


AMD_GPUS = (("gfx906", 64), ("gfx90a", 64), ("gfx1030", 32), ("gfx1030", 64), ("gfx1100", 32))
TARGETS = {
    "amd": [amd_target(gpu, wave) for gpu, wave in AMD_GPUS],
    "nvidia": [nvidia_target(70), nvidia_target(90)],
}


def programs(names: Sequence[str] = ()) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield (label, path, definitions) of every program, or of those in *names*."""
    kernels = ROOT / "cl"
    found = [str(path.relative_to(kernels)) for path in sorted(kernels.rglob("*.cl"))]
    for name in names or (*found, *(str(ROOT / extra) for extra in EXTRA_SOURCES)):
        path = name if name in found else str(Path(name).resolve())
        label = name if name in found else str(Path(path).name)
        yield label, path, {}
        variants = VARIANTS.get(name, ())
        has_offsets = name in found and "offset_t" in (kernels / name).read_text(encoding="utf-8")
        if has_offsets and not any(LONG in variant.split() for variant in variants):
            variants = (*variants, LONG)
        for variant in variants:
            yield f"{label} {variant}", path, dict(part.split("=") for part in variant.split())


def compile_program(path: str, defines: Mapping[str, int | str], target: Target) -> str:
    """Return the assembly of one program; :class:`RuntimeError` with clang's message if there is none."""
    how = (target.optimisation, "-S", "-Werror=implicit-function-declaration", "-o", "-")
    run = run_clang(path, defines, target.facts, (*arguments_for(target), *how))
    if run.returncode:
        raise RuntimeError(run.stderr)
    return run.stdout


def arguments_for(target: Target) -> tuple[str, ...]:
    """Return the arguments of clang for *target*, with AMD's device libraries."""
    if target.facts.vendor != "AMD":
        return target.arguments
    return (*target.arguments, f"--rocm-device-lib-path={device_libraries(target.facts.name)}")


def run_clang(
    path: str, defines: Mapping[str, int | str], facts: DeviceFacts, arguments: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Have clang read one program as a device of these facts gets it."""
    text = build_input(path, {**facts.defines(), "WG_SIZE": WORK_GROUP_SIZE, **defines})
    language = ("-x", "cl", f"-cl-std={facts.dialect.standard}", "-Xclang", "-finclude-default-header")
    command = [CLANG, *language, *arguments, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def amd_kernels(assembly: str) -> list[Kernel]:
    """Read the metadata at the end of amdgcn assembly."""
    _, _, metadata = assembly.partition(".amdgpu_metadata")
    kernels = []
    for block in re.split(r"^  - ", metadata, flags=re.MULTILINE)[1:]:
        fields = dict(re.findall(r"^    \.(\w+): +(\S+)$", block, re.MULTILINE))
        if "vgpr_count" not in fields:
            continue
        counts = (f"{of}_{what}" for what in ("count", "spill_count") for of in ("vgpr", "sgpr"))
        sizes = ("private_segment_fixed_size", "group_segment_fixed_size", "wavefront_size")
        kernels.append(Kernel(fields["name"], *(int(fields[key]) for key in (*counts, *sizes))))
    return kernels


def assemble_ptx(ptx: str, sm: int, ptxas: str) -> None:
    """Assemble *ptx*; :class:`RuntimeError` with the message of ptxas if it refuses."""
    if sm > 86:  # clang 15 cannot name these GPUs
        ptx = re.sub(r"^\.version .*", ".version 7.8", ptx, flags=re.MULTILINE)
        ptx = re.sub(r"^\.target sm_\d+", f".target sm_{sm}", ptx, flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "kernel.ptx"
        source.write_text(ptx, encoding="ascii")
        # Relocatable: the OpenCL built-ins stay undefined. CUDA 13 assembles for sm_75 and later only.
        command = [ptxas, "-O0", "-c", f"-arch=sm_{max(75, sm)}", str(source), "-o", str(source) + ".o"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(run.stdout + run.stderr)


def check_amd(
    names: Sequence[str], every_kernel: bool, *, in_turns: bool = False
) -> tuple[list[list[object]], list[str]]:
    """Compile for AMD; return table rows and messages of failures.

    With *in_turns*, a program without definitions is compiled for the first three targets, and variants for two or
    three of all targets in turn.
    """
    rows: list[list[object]] = []
    wrong: list[str] = []
    for number, (label, path, defines) in enumerate(programs(names)):
        allowed = MOST_SCALAR_SPILLS.get(path, 0)
        targets = TARGETS["amd"]
        if in_turns:
            targets = targets[number % 2 :: 2] if defines else targets[:3]
        for target in targets:
            try:
                kernels = amd_kernels(compile_program(path, defines, target))
            except RuntimeError as error:
                wrong.append(f"{label} for {target.name} does not compile:\n{error}")
                continue
            if not kernels:
                wrong.append(f"{label} for {target.name} has no kernels")
                continue
            wrong += [
                f"{label} for {target.name}: {k.name} spills {k.spills} registers, "
                f"uses {k.scratch_bytes} bytes of scratch"
                for k in kernels
                if not target.may_spill and (k.vector_spills or k.scalar_spills > allowed or k.scratch_bytes)
            ]
            for group in [[k] for k in kernels] if every_kernel else [kernels]:
                sums = sum(k.spills for k in group)
                most = Kernel("", *map(max, zip(*(k[1:] for k in group), strict=True)))
                registers = most.vector_registers, most.scalar_registers
                shown = group[0].name if every_kernel else len(group)
                rows.append([label, target.name, shown, *registers, sums, most.scratch_bytes, most.local_bytes])
    return rows, wrong


def check_nvidia(names: Sequence[str]) -> tuple[list[list[object]], list[str]]:
    """Compile for NVIDIA and assemble where possible; return table rows and messages of failures."""
    rows: list[list[object]] = []
    wrong: list[str] = []
    ptxas = shutil.which("ptxas")
    for label, path, defines in programs(names):
        assembled: set[str] = set()  # PTX that an earlier GPU has assembled need not be assembled again
        for target in TARGETS["nvidia"]:
            try:
                ptx = compile_program(path, defines, target)
                _, _, body = ptx.partition(".address_size")
                if ptxas and body not in assembled:
                    assemble_ptx(ptx, target.facts.dialect.nvidia_sm, ptxas)
                    assembled.add(body)
            except RuntimeError as error:
                wrong.append(f"{label} for {target.name} does not compile:\n{error}")
                continue
            how = "assembled" if ptxas else "not assembled: no ptxas"
            rows.append([label, target.name, ptx.count(".entry"), how])
    return rows, wrong


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--vendor", choices=sorted(TARGETS), help="only this vendor")
    parser.add_argument("--kernels", action="store_true", help="a row for every kernel")
    parser.add_argument("files", nargs="*", help="only these kernel files, as named below cl/ or by path")
    options = parser.parse_args(arguments)
    if not shutil.which(CLANG):
        print(f"{CLANG} is not on the path; install it, or name a clang in the environment variable CLANG")
        return 2
    wrong: list[str] = []
    if options.vendor in (None, "amd"):
        if not DEVICE_LIBS.is_dir():
            print(f"no {DEVICE_LIBS}; install rocm-device-libs, or name its directory in ROCM_DEVICE_LIBS")
            return 2
        rows, found = check_amd(options.files, options.kernels)
        wrong += found
        what = "kernel" if options.kernels else "kernels"
        columns = ["program", "target", what, "VGPRs", "SGPRs", "spills", "scratch B", "local B"]
        print(tabulate(rows, columns))
    if options.vendor in (None, "nvidia"):
        rows, found = check_nvidia(options.files)
        wrong += found
        print(tabulate(rows, ["program", "target", "kernels", "inline PTX"]))
    for message in wrong:
        print(f"\nFAILED: {message}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
