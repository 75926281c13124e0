"""Reading of kernel sources, with their ``#include`` directives expanded on the host.

The compiler gets one complete text, so the keys of all binary caches depend on the included headers, too.
Otherwise, NVIDIA's and PoCL's own caches would miss a changed header. The package's own files are read once. Files of
the user are read at each use, because the user may change them while the process runs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from clgraph.errors import KernelSourceError

_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]+"([^"]+)"')
_WORD = re.compile(r"[A-Za-z_]\w*")
_LINE = re.compile(r'#line (\d+) "(.*)"')


@lru_cache(maxsize=1)
def kernel_root() -> Path:
    """Return the directory of the kernel sources: ``clgraph/cl`` in a wheel, ``cl`` in a checkout."""
    package = Path(__file__).parents[2]
    for root in (package / "cl", package.parent / "cl"):
        if (root / "common" / "types.h").is_file():
            return root
    raise KernelSourceError(f"no kernel sources under {package} or beside it; the installation is incomplete")


@lru_cache(maxsize=1024)
def _is_of_package(name: str) -> bool:
    return not os.path.isabs(name) and os.path.isfile(kernel_root() / name)


def located(name: str) -> str:
    """Return *name* if the package has a kernel file of this name, else the absolute path of the user's file."""
    return name if _is_of_package(name) else os.path.abspath(name)


def build_input(name: str, values: Mapping[str, int | str]) -> str:
    """Return the text for the OpenCL compiler: *values* as definitions,
    then the kernel file *name* with its includes.
    """
    # The definitions are in the text, because compilers differ in how options with blanks or brackets are quoted.
    words = ((key, int(value) if isinstance(value, bool) else value) for key, value in sorted(values.items()))
    return "".join(f"#define {key} {value}\n" for key, value in words) + flatten(name)


def known_to(name: str, values: Mapping[str, int | str]) -> dict[str, int | str]:
    """Return those *values* whose names occur in the kernel file *name*.

    Other values do not change the program.
    """
    words, seen = _words(flatten(name)), dict[str, int | str]()
    defined = {key: key.partition("(")[0] for key in values}  # The names of the macros without their parameters.
    while new := {key: value for key, value in values.items() if defined[key] in words and key not in seen}:
        seen |= new
        words = words.union(*(_WORD.findall(value) for value in new.values() if isinstance(value, str)))
    return seen


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


def name_places(log: str, text: str) -> str:
    """Return a compiler's message *log* about *text*, with positions replaced by original file names and lines.

    This is needed for NVIDIA's compiler, which ignores ``#line`` and writes ``<kernel>:line``.
    """
    places, name, number = [], "<kernel>", 0
    for line in text.splitlines():
        number += 1
        places.append(f"{name}:{number}")
        if moved := _LINE.match(line):
            number, name = int(moved[1]) - 1, moved[2]
    return re.sub(r"<kernel>:(\d+)", lambda found: places[min(int(found[1]), len(places)) - 1], log)


def flatten(name: str) -> str:
    """Return the text of the kernel file *name* with each include expanded once.

    ``#line`` directives make compiler messages name the original files. A file that the package does not have is looked
    up in the current directory. Its headers are looked up beside the file that includes them, then in the package.
    """
    return _flat_of_package(name) if _is_of_package(name) else _flat(os.path.abspath(name))


def _flat(name: str) -> str:
    lines: list[str] = []
    _expand(name, lines, set())
    return "\n".join(lines) + "\n"


_flat_of_package = lru_cache(maxsize=256)(_flat)


def _expand(name: str, lines: list[str], seen: set[str], includer: str = "") -> None:
    if name in seen:
        return
    seen.add(name)
    try:
        text = (kernel_root() / name).read_text(encoding="utf-8")  # An absolute name stands for itself.
    except FileNotFoundError as error:
        reason = f"{name}, which {includer} includes" if includer else name
        raise KernelSourceError(f"kernel source not found: {reason}; the package's are in {kernel_root()}") from error
    except (OSError, ValueError) as error:
        raise KernelSourceError(f"kernel source {name} cannot be read: {error}") from error
    lines.append(f'#line 1 "{name}"')
    for number, line in enumerate(text.splitlines(), start=1):
        if include := _INCLUDE.match(line):
            beside = os.path.normpath(os.path.join(os.path.dirname(name), include[1]))
            is_own = os.path.isabs(name) and os.path.isfile(beside)
            _expand(beside if is_own else include[1], lines, seen, name)
            lines.append(f'#line {number + 1} "{name}"')
        else:
            lines.append(line)
