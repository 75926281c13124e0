"""Compiles kernel files for an AMD GPU by clang, and keeps the code objects in the cache of the tests."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tools")] if str(ROOT / "tools") not in sys.path else []

import check_kernels  # noqa: E402

from amd.code_object import CodeObject, read_code_object  # noqa: E402
from amd.library import cache_folder  # noqa: E402
from clgraph.runtime.programs.source import build_input  # noqa: E402

TARGETS = {"gfx90a": 64, "gfx1100": 32}  # lanes of a wave


@cache
def target_of(name: str) -> check_kernels.Target:
    """Return the target of GPU *name*, as ``tools/check_kernels.py`` compiles for it."""
    return check_kernels.amd_target(name, TARGETS[name])


def code_object(path: str, defines: Mapping[str, int | str], name: str) -> CodeObject:
    """Return kernel file *path*, compiled with *defines* for GPU *name*; RuntimeError with clang's message."""
    return read_code_object(elf(path, defines, name))


def elf(path: str, defines: Mapping[str, int | str], name: str) -> bytes:
    """Return the object file of :func:`code_object`."""
    target = target_of(name)
    every = {**target.facts.defines(), "WG_SIZE": check_kernels.WORK_GROUP_SIZE, **defines}
    text = "\0".join((check_kernels.CLANG, name, *target.arguments, build_input(path, every)))
    kept = cache_folder() / "objects" / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.o"
    if kept.exists():
        return kept.read_bytes()
    kept.parent.mkdir(exist_ok=True)
    file, made = tempfile.mkstemp(dir=kept.parent)
    os.close(file)
    how = (*check_kernels.arguments_for(target), target.optimisation, "-c", "-Werror=implicit-function-declaration")
    run = check_kernels.run_clang(path, defines, target.facts, (*how, "-o", made))
    if run.returncode:
        Path(made).unlink(missing_ok=True)
        raise RuntimeError(run.stderr)
    Path(made).replace(kept)
    return kept.read_bytes()
