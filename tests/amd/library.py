"""Compiles C functions of patterns, and the scheduler, by clang, and keeps the libraries in the user's cache.

Patterns that no library has yet are compiled together into a new one, so a kernel costs seconds only when it is the
first with some instruction.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

from amd.patterns import Pattern, function_of

HERE = Path(__file__).resolve().parent
CLANG = os.environ.get("CLANG", "clang-15")
_HEADERS = ("machine.h", "arithmetic.h", "memory.h", "scheduler.h")
_SOURCES = (*_HEADERS, "patterns.py", "written.py", "pseudocode.py", "library.py")
_DEFINES = {"gfx90a": ("-DWAVE=64", "-DRDNA=0"), "gfx1100": ("-DWAVE=32", "-DRDNA=1")}
# Contraction would round a product and a sum once where the GPU rounds twice.
_OPTIONS = (
    "-O1",
    "-fPIC",
    "-shared",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-Werror=implicit-function-declaration",
)


def cache_folder() -> Path:
    """Return the folder of compiled code objects and libraries."""
    folder = Path(os.environ.get("CLGRAPH_AMD_CACHE", user_cache_path("clgraph-tests") / "amd"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Library:
    """The functions of one target's patterns, by pattern, and the scheduler."""

    def __init__(self, target: str) -> None:
        self.target = target
        text = "".join((HERE / name).read_text(encoding="utf-8") for name in _SOURCES)
        self._folder = cache_folder() / f"{target}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        self._folder.mkdir(exist_ok=True)
        self._found: dict[Pattern, tuple[ctypes.CDLL, int]] = {}
        self._read: set[Path] = set()

    def handlers(self, patterns: Sequence[Pattern]) -> list[int]:
        """Return the addresses of the functions of *patterns*. Functions that no library has are compiled first."""
        if not {*patterns} <= self._found.keys():
            self._read_folder()
        if not {*patterns} <= self._found.keys():
            with FileLock(self._folder / "lock"):
                self._read_folder()
                if missing := [pattern for pattern in dict.fromkeys(patterns) if pattern not in self._found]:
                    self._build(missing)
                    self._read_folder()
        addresses = []
        for pattern in patterns:
            library, index = self._found[pattern]
            table = (ctypes.c_void_p * (index + 1)).in_dll(library, "HANDLERS")
            addresses.append(int(table[index] or 0))
        return addresses

    @property
    def run(self) -> ctypes._NamedFuncPointer:
        """The function that runs a launch."""
        self.handlers([Pattern("", "nothing", "", ())])
        return next(iter(self._found.values()))[0].run_launch

    def _read_folder(self) -> None:
        for listed in sorted(self._folder.glob("*.json")):
            if listed in self._read:
                continue
            library = ctypes.CDLL(str(listed.with_suffix(".so")))
            rows = json.loads(listed.read_text(encoding="utf-8"))
            for index, (form, name, name_y, modifiers) in enumerate(rows):
                pattern = Pattern(form, name, name_y, tuple((key, value) for key, value in modifiers))
                self._found.setdefault(pattern, (library, index))
            self._read.add(listed)

    def _build(self, patterns: Sequence[Pattern]) -> None:
        listed = json.dumps(patterns)
        name = hashlib.sha256(listed.encode()).hexdigest()[:16]
        functions, table = [], []
        for number, pattern in enumerate(patterns):
            table.append(pattern.name if not pattern.format else f"pattern_{number}")
            if pattern.format:
                functions.append(function_of(pattern, self.target, table[-1]))
        text = "\n".join((
            '#include "machine.h"', '#include "arithmetic.h"', '#include "memory.h"', '#include "scheduler.h"',
            *functions, f"Handler *HANDLERS[] = {{{', '.join(table)}}};",
        ))  # fmt: skip
        source, made = self._folder / f"{name}.c", self._folder / f"{name}.so"
        source.write_text(text, encoding="utf-8")
        command = [CLANG, *_OPTIONS, *_DEFINES[self.target], f"-I{HERE}", "-o", str(made), str(source), "-lm"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(run.stderr[:4000])
        made.with_suffix(".json").write_text(listed, encoding="utf-8")


@cache
def library_of(target: str) -> Library:
    """Return the library of *target*, which this process loads once."""
    return Library(target)
