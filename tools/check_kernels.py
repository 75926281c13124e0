#!/usr/bin/env python3
"""Compile every kernel for GPUs that are not here, and show what each costs.

    tools/check_kernels.py [--vendor amd|nvidia] [--kernels] [file.cl ...]

AMD: clang with rocm-device-libs, down to the machine code of gfx906, gfx90a and gfx1030; the table shows
registers, local memory and wave size. Scratch memory fails, and a register spill that MOST_SCALAR_SPILLS does not
allow. NVIDIA: clang's NVPTX target for the front end and the inline PTX, and ``ptxas`` where it is on the path; the
vendor's compiler optimises and allocates registers differently, so nothing is optimised, nor said about them.

The definitions come from the same device facts and dialects as on a real device. The exit status is 1 if
anything does not compile, spills or uses scratch, and 2 if a compiler is missing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tabulate import tabulate  # noqa: E402

from clgraph.device.facts import DeviceFacts, Dialect  # noqa: E402
from clgraph.runtime.driver.quirks import amd_dialect, nvidia_dialect  # noqa: E402
from clgraph.runtime.programs.source import build_input  # noqa: E402

CLANG = os.environ.get("CLANG", "clang-15")
DEVICE_LIBS = Path(os.environ.get("ROCM_DEVICE_LIBS", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"))
WORK_GROUP_SIZE = 256
EXTRA_SOURCES = ("tests/kernels/vocabulary.cl",)

# What programs are built with besides the defaults; each is one more row of the table.
_LONG = ["OFFSET_T=long"]
_ROWS = ["OFFSET_T=long", "SYMMETRIC=0", "SORTED_ROWS=1 FIRST_IS_LINKED=1"]
_WEIGHTS = ["WEIGHT_KIND=0 OFFSET_T=long", "WEIGHT_KIND=2 CLIMB_LIMIT=1024", "WEIGHT_KIND=3 MAXIMUM=1"]
_ROWS_OF_FACTORS = [
    "VECTORS=1 LANES=4 BIASES=1",
    "VECTORS=1 LANES=32 HALF_STORAGE=1 OFFSET_T=long",
    "VECTORS=5 LANES=1 HALF_STORAGE=1 BIASES=1",
    "VECTORS=2 LANES=16 CHECK_UPDATES=1",
]
_ROUNDS = [
    "ATOMIC=1 OFFSET_T=long WEIGHT_KIND=0",
    "WEIGHT_KIND=4 BALANCE=1",
    "WEIGHT_KIND=1 WIDE=1 ATOMIC=1",
    "WEIGHT_KIND=3 WIDE=1",
]
_WEIGHTED_PARTS = ["UNIT_EDGES=0 UNIT_VERTICES=0"]
_WEIGHTED_ROOMS = ["UNIT_EDGES=0 UNIT_VERTICES=0 PARTS_ROOM=1024"]
# Scalar registers that kernels of a file may keep in lanes of vector registers, for want of more in waves of 64: it
# takes no memory, but is a number to bring down.
MOST_SCALAR_SPILLS = {
    "bfs/frontier.cl": 29, "sssp/frontier.cl": 33, "partition/label_propagation.cl": 77, "partition/population.cl": 72,
    "refine_mesh/mark.cl": 16, "refine_mesh/patches.cl": 25, "refine_mesh/insert.cl": 9,
    "refine_mesh/group_patches.cl": 63,
}  # fmt: skip
VARIANTS: dict[str, list[str]] = {
    "connected_components/phases.cl": ["OFFSET_T=long", "HOOK_FIRST=0", "KEEP_SECOND=1 HOOK_STEPS=2"],
    "connected_components/hook_compress.cl": _ROWS,
    "connected_components/rem.cl": _ROWS,
    "connected_components/afforest.cl": _ROWS,
    "connected_components/degree_classes.cl": _ROWS,
    "data/check_csr.cl": ["WEIGHTS=WEIGHTS_INT", "WEIGHTS=WEIGHTS_FLOAT WEIGHT_T=ulong OFFSET_T=long"],
    "data/graph_stats.cl": _LONG,
    "data/slab.cl": ["WHOLE_OFFSET_T=long", "WHOLE_OFFSET_T=long OFFSET_T=long"],
    "data/weight_range.cl": ["WEIGHT_T=ulong IS_FLOAT=1"],
    "refine_mesh/group_patches.cl": ["WG_SIZE=128"],
    "refine_mesh/insert.cl": ["CHECKS=LISTED WG_SIZE=128"],
    "refine_mesh/mark.cl": ["EXACT=1 WG_SIZE=32", "CLAIM=0 WG_SIZE=128"],
    "refine_mesh/patches.cl": ["WG_SIZE=32", "MOST_WAITING=0 WG_SIZE=32"],
    "refine_mesh/rounds.cl": ["SIFTED=0 WG_SIZE=128"],
    "factorization/block_diagonal.cl": [
        "N_ROWS=256 N_COLUMNS=256 VECTORS=1 LANES=4 BIASES=1",
        "N_ROWS=32 N_COLUMNS=32 VECTORS=1 LANES=32 HALF_STORAGE=1 OFFSET_T=long",
    ],
    "factorization/block_grid.cl": [
        "VECTORS=2 LANES=2",
        "VECTORS=2 LANES=2 BIASES=1 HALF_STORAGE=1 OFFSET_T=long",
        "VECTORS=6 LANES=1 BIASES=1",
        "VECTORS=8 LANES=4 BIASES=1 CHAIN=1",
        "VECTORS=8 LANES=4 HALF_STORAGE=1 CHAIN=1",
    ],
    "factorization/block_order.cl": _LONG,
    "factorization/edge_locked.cl": _ROWS_OF_FACTORS,
    "factorization/hogwild.cl": _ROWS_OF_FACTORS,
    "factorization/node_locked.cl": [
        *_ROWS_OF_FACTORS,
        *(f"PER_SUB_GROUP=1 {row}" for row in _ROWS_OF_FACTORS),
        "DEFER_TO_LIST=1",
    ],
    "factorization/item_block.cl": [*_ROWS_OF_FACTORS, "VECTORS=1 LANES=4 WG_SIZE=512"],
    "factorization/matchings.cl": ["OFFSET_T=long", "WG_SIZE=512"],
    "factorization/order.cl": ["OFFSET_T=long KEY_T=ulong"],
    "factorization/superstep.cl": [*_ROWS_OF_FACTORS, "VECTORS=1 LANES=4 WG_SIZE=512"],
    "factorization/superstep_order.cl": _LONG,
    "generators/replicas.cl": ["OFFSET_T=long OUT_OFFSET_T=long WEIGHT_T=ulong"],
    "generators/points.cl": ["SPATIAL=0"],
    "generators/regular.cl": _LONG,
    "generators/roads.cl": _LONG,
    "generators/rows.cl": ["KEY_T=uint"],
    "generators/weights.cl": [
        "WEIGHT_T=long DIRECTED=1 OFFSET_T=long",
        "WEIGHT_T=float WEIGHTS_ARE_FLOATS=1",
        "WEIGHT_T=double WEIGHTS_ARE_FLOATS=1",
    ],
    "hash_collisions/lanes.cl": [
        "HASH_LANES=1 EVALUATE=1 OFFSET_T=long",
        "METHOD=SORTED HASH_LANES=1 WG_SIZE=64 OFFSET_T=long",
        "METHOD=SORTED HASH_LANES=16 WG_SIZE=64 OFFSET_T=long",
        "METHOD=BITMAP HASH_LANES=1 WG_SIZE=64 OFFSET_T=long",
        "METHOD=BITMAP HASH_LANES=16 WG_SIZE=64 OFFSET_T=long",
        "METHOD=SORTED LAYOUT=COMPACT WG_SIZE=64 COLOR_T=uint",
    ],
    "hash_collisions/planes.cl": [
        "WG_SIZE=64 TILE_STEP=3838 LONG_ROW=255 SLICES=8 OFFSET_T=long",
        "WG_SIZE=64 SIDE_BY_SIDE=1 BATCH=4",
        "LOCAL_SUMS=0 BATCH=4 SLICES=3 LONG_ROW=7",
    ],
    "hash_collisions/sorted.cl": _LONG,
    "color/balance.cl": ["DISTANCE=2 OFFSET_T=long"],
    "color/edge_rounds.cl": _LONG,
    "color/jones_plassmann.cl": [
        "OFFSET_T=long WIDE=1 SMALL_DEGREE=128 RETRIES=100",
        "PASSES=4",
        "ORDER=3 SORTED=1 BATCH=8 MOST_OPEN=16",
        "ORDER=2 RANKED=0 RETRIES=8",
        "ORDER=4 RANKED=0 MARKED=1 BATCH=3 MOST_OPEN=24",
    ],
    "color/jones_plassmann_large.cl": _LONG,
    "color/in_order.cl": _LONG,
    "color/orders.cl": _LONG,
    "color/speculative.cl": _LONG,
    "color/speculative_hubs.cl": _LONG,
    "color/conflicts.cl": ["TEAM=32 OFFSET_T=long", "TEAM=4 CLOSED=0 LONG_NET=128"],
    "color/distance_two.cl": ["TEAM=32 OFFSET_T=long", "TEAM=4 CLOSED=0"],
    "color/distance_two_long.cl": _LONG,
    "color/distance_two_sized.cl": ["TEAM=32 OFFSET_T=long", "TEAM=4 CLOSED=0"],
    "color/distance_two_sized_long.cl": _LONG,
    "color/distance_two_claims.cl": ["TEAM=32 OFFSET_T=long", "TEAM=4 CLOSED=0"],
    "hash_collisions/tabulate_colors.cl": ["REVERSED=1 OFFSET_T=long", "COLOR_T=uint"],
    "hash_collisions/tabulate_planes.cl": _LONG,
    "bfs/frontier.cl": [
        "WG_SIZE=512 OFFSET_T=long",
        "WG_SIZE=512 BOTTOM_UP=0 ONLY_SHORT_ROWS=1 STEPS=1",
        "ONE_LAUNCH=0 WG_SIZE=64",
    ],
    "sssp/frontier.cl": [
        "WG_SIZE=512 ONLY_SHORT_ROWS=1 STEPS=1",
        "LIGHT_FIRST=1 WEIGHT_KIND=3 OFFSET_T=long",
        "WEIGHT_KIND=1 WIDE=1",
        "DROP_LEAVES=1 SKIP_LEAVES=1 OFFSET_T=long",
        "WG_SIZE=512 HELD=128",
        "LIGHT_FIRST=1 WEIGHT_KIND=4 ALONE=1",
        "WEIGHT_KIND=0",
        "WEIGHT_KIND=3 WIDE=1",
    ],
    "sssp/answer.cl": ["WEIGHT_KIND=2", "WEIGHT_KIND=3", "WEIGHT_KIND=4", "WEIGHT_KIND=3 WIDE=1"],
    "sssp/dijkstra.cl": ["WEIGHT_KIND=4 OFFSET_T=long", "SKIP_LEAVES=1", "WEIGHT_KIND=3 WIDE=1"],
    "traversal/child_launch.cl": _ROUNDS,
    "traversal/node_splitting.cl": _ROUNDS,
    "traversal/topology_driven.cl": _ROUNDS,
    "traversal/predecessors.cl": ["WEIGHT_KIND=0 OFFSET_T=long", "WEIGHT_KIND=4", "WEIGHT_KIND=3 WIDE=1"],
    "partition/lock_free.cl": _WEIGHTED_PARTS,
    "partition/two_hop.cl": _WEIGHTED_PARTS,
    "partition/hashed.cl": ["UNIT_EDGES=0 UNIT_VERTICES=0 TEAM=1"],
    "partition/greedy_growing.cl": _WEIGHTED_PARTS,
    "partition/population.cl": _WEIGHTED_ROOMS,
    "partition/label_propagation.cl": _WEIGHTED_ROOMS,
    "partition/segmented.cl": ["UNIT_EDGES=0 UNIT_VERTICES=0", "SPLIT_CLAIMS=1"],
    "partition/sorted.cl": _WEIGHTED_PARTS,
    "partition/buffered.cl": _WEIGHTED_ROOMS,
    "partition/permutations.cl": ["UNIT_EDGES=0 UNIT_VERTICES=0 TOP=16"],
    "minimum_spanning_forest/answer.cl": ["VALUES=2 OFFSET_T=long", "VALUES=3", "VALUES=4"],
    "minimum_spanning_forest/edge_list.cl": [*_WEIGHTS, "SPLIT_KEYS=1 CLIMB_LIMIT=1024 SAMPLES=256"],
    "minimum_spanning_forest/parts.cl": ["WEIGHTED=0", "OFFSET_T=long"],
    "minimum_spanning_forest/rows.cl": [*_WEIGHTS, "SPLIT_KEYS=1"],
    "minimum_spanning_forest/segmented.cl": ["WEIGHT_KIND=0 OFFSET_T=long", "WEIGHT_KIND=2", "WEIGHT_KIND=3 MAXIMUM=1"],
    "primitives/reduce.cl": [
        "T=float T_LOWEST=-INFINITY T_HIGHEST=INFINITY",
        "T=long T_LOWEST=LONG_MIN T_HIGHEST=LONG_MAX OPERATION=LEAST_OF",
        "T=long T_LOWEST=LONG_MIN T_HIGHEST=LONG_MAX IN_T=int",
    ],
    "primitives/scan.cl": [
        "SUM_T=long SUM_BYTES=8 EXTRA_TOTAL=1",
        "IN_T=long SUM_T=long SUM_BYTES=8 VEC=2 INCLUSIVE=1",
    ],
    "primitives/fill.cl": ["T=uint", "T=long", "T=float"],
    "primitives/segmented_reduce.cl": ["T=long OFFSET_T=long T_LOWEST=LONG_MIN T_HIGHEST=LONG_MAX OPERATION=LEAST_OF"],
    "primitives/sort.cl": [
        "HAS_VALUES=1",
        "HAS_VALUES=1 KEY_BITS_T=ulong KEY_BYTES=8 KEY_KIND=FLOAT_KEYS N_PASSES=8 ITEMS_PER_ITEM=8 "
        "STATE_T=ulong STATE_BITS=64",
    ],
}


@dataclass(frozen=True)
class Target:
    """A GPU to compile for: its facts, and what clang is told."""

    name: str
    facts: DeviceFacts
    arguments: tuple[str, ...]
    optimisation: str = "-O3"


@dataclass(frozen=True)
class Kernel:
    """What one kernel takes on one target."""

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
        name=name,
        vendor=vendor,
        platform=vendor,
        platform_version="",
        driver_version="",
        is_cpu=False,
        compute_units=64,
        sub_group_size=width,
        max_work_group_size=1024,
        local_mem_bytes=65536,
        global_mem_bytes=16 << 30,
        max_alloc_bytes=4 << 30,
        has_int64_atomics=True,
        has_fp64=True,
        dialect=dialect,
    )


def amd_target(gpu: str, wave: int) -> Target:
    mode = {32: "-mno-wavefrontsize64", 64: "-mwavefrontsize64"}[wave]
    return Target(
        f"{gpu} wave{wave}",
        _facts(gpu, "AMD", *amd_dialect(gpu, wave)),
        ("-target", "amdgcn-amd-amdhsa", f"-mcpu={gpu}", mode, f"--rocm-device-lib-path={DEVICE_LIBS}"),
    )


def nvidia_target(sm: int) -> Target:
    # clang 15 knows GPUs up to sm_86; the inline PTX is chosen by DEV_NVIDIA_SM, not by clang.
    known = min(sm, 86)
    atomics = "-cl-ext=+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics"
    front_end = ("-target-cpu", f"sm_{known}", "-target-feature", "+ptx75", atomics)
    arguments = ("-target", "nvptx64--", *(word for option in front_end for word in ("-Xclang", option)))
    return Target(f"sm_{sm}", _facts(f"sm_{sm}", "NVIDIA", *nvidia_dialect(sm)), arguments, optimisation="-O0")


TARGETS = {
    "amd": [amd_target(gpu, wave) for gpu, wave in (("gfx906", 64), ("gfx90a", 64), ("gfx1030", 32), ("gfx1030", 64))],
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
        for variant in VARIANTS.get(name, ()):
            yield f"{label} {variant}", path, dict(part.split("=") for part in variant.split())


def compile_program(path: str, defines: Mapping[str, int | str], target: Target) -> str:
    """Return the assembly of one program; :class:`RuntimeError` with clang's message if there is none."""
    how = (*target.arguments, target.optimisation, "-S", "-Werror=implicit-function-declaration", "-o", "-")
    run = run_clang(path, defines, target.facts, how)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return run.stdout


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
    if sm > 86:  # say what clang 15 could not
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
    """Compile for AMD; return table rows and what is wrong.

    With *in_turns*, variants are compiled for two targets each, the first for others than the second.
    """
    rows: list[list[object]] = []
    wrong: list[str] = []
    for number, (label, path, defines) in enumerate(programs(names)):
        allowed = MOST_SCALAR_SPILLS.get(path, 0)
        for target in TARGETS["amd"][number % 2 :: 2] if in_turns and defines else TARGETS["amd"]:
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
                if k.vector_spills or k.scalar_spills > allowed or k.scratch_bytes
            ]
            shown = [[k] for k in kernels] if every_kernel else [kernels]
            rows += [
                [
                    label,
                    target.name,
                    group[0].name if every_kernel else len(group),
                    max(k.vector_registers for k in group),
                    max(k.scalar_registers for k in group),
                    sum(k.spills for k in group),
                    max(k.scratch_bytes for k in group),
                    max(k.local_bytes for k in group),
                ]
                for group in shown
            ]
    return rows, wrong


def check_nvidia(names: Sequence[str]) -> tuple[list[list[object]], list[str]]:
    """Compile for NVIDIA and assemble where possible; return table rows and what is wrong."""
    rows: list[list[object]] = []
    wrong: list[str] = []
    ptxas = shutil.which("ptxas")
    for label, path, defines in programs(names):
        assembled: set[str] = set()  # for an earlier GPU, which later ones take as it is
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
