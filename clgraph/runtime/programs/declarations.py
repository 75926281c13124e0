"""A parser of kernel files that finds the parameters of kernels and the values of constants.

So kernel signatures come from the source, for every driver. OpenCL's own query (clGetKernelArgInfo) is not enough: not
every driver supports the query, and it returns a typedef's name instead of its type. This module implements the part of
the preprocessor that ``cl/`` uses: conditions, and macros with and without parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from clgraph.errors import KernelSourceError

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_WORD = re.compile(r"\d[\w.]*|[A-Za-z_]\w*")
_NAME = re.compile(r"\b[A-Za-z_]")
_OPENING = re.compile(r"\s*\(")
_DEFINITION = re.compile(r"(\w+)(\([^)]*\))?\s*(.*)")
_DEFINED = re.compile(r"defined\s*\(?\s*(\w+)\s*\)?")
_BUILTIN = re.compile(r"__has_builtin\s*\(\s*\w+\s*\)")
_NUMBER = re.compile(r"(0x[0-9a-f]+|\d+)[ul]*", re.IGNORECASE)
_KERNEL = re.compile(r"__kernel\b[^{;]*?\bvoid\s+(\w+)\s*\(([^)]*)\)\s*\{")
_TYPEDEF = re.compile(r"typedef\s+(\w+)\s+(\w+)\s*;")
_STRUCT = re.compile(r"typedef\s+struct\s*\{((?:\s*\w+\s+\w+\s*;)+)\s*\}\s*(\w+)\s*;")
_LANES = re.compile(r"(2|3|4|8|16)$")
_QUALIFIERS = {"const", "volatile", "restrict"}
_SPACES = {"__global": "global", "__local": "local", "__constant": "constant"}
_TYPES = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32, "double": np.float64,
}  # fmt: skip
_PYTHON = tuple((re.compile(c), python) for c, python in (
    ("&&", " and "), (r"\|\|", " or "), ("!(?!=)", " not "), ("/", "//"),
    (r"\(([^()?:]+)\?([^()?:]+):([^()?:]+)\)", r"((\2) if (\1) else (\3))"),
))  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its name, address space and type.

    Attributes
    ----------
    space : str
        ``"value"``, ``"global"``, ``"local"`` or ``"constant"``.
    dtype : numpy.dtype or None
        The type of the value or of the items to which it points. For a vector, the type of its elements; for a
        structure of numbers, a structured type; for other structures, ``None``.
    """

    name: str
    space: str
    dtype: np.dtype[Any] | None


@dataclass(frozen=True)
class _Macro:
    parameters: tuple[str, ...] | None
    body: str


class Declarations:
    """The kernels, types and constants that the text of a program declares.

    Attributes
    ----------
    kernels : dict of str to tuple of Parameter
        The parameters of each kernel, in order.
    """

    def __init__(self, text: str) -> None:
        self._macros: dict[str, _Macro] = {}
        self._types: dict[str, str] = {}
        self._structs: dict[str, np.dtype[Any]] = {}
        self._constants: dict[str, int] = {}
        self.kernels: dict[str, tuple[Parameter, ...]] = {}
        for statement in self._statements(text):
            self._declare(self._expand(statement))

    def constant(self, expression: str) -> int:
        """Return the integer value of *expression*, in which macros have their values at the end of the kernel source.

        Raises
        ------
        KernelSourceError
            A macro is not defined, or the value is not an integer.
        """
        if expression in self._constants:
            return self._constants[expression]
        text = self._expand(expression)
        value = None if _NAME.search(text) else _evaluate(text)
        if value is None:
            raise KernelSourceError(f"the kernel source defines no integer {expression!r}")
        self._constants[expression] = value
        return value

    def _statements(self, text: str) -> Iterator[str]:
        """Yield the typedefs of a kernel source, and the declarations of its kernels without bodies."""
        started = ""
        for line in self._active_lines(_COMMENT.sub(" ", text).replace("\\\n", " ")):
            if not started and not self._declares(line):
                continue
            started += line + "\n"
            if started.startswith("typedef"):
                is_complete = line.endswith(";") and started.count("{") == started.count("}")
            else:
                is_complete = not started.startswith(("KERNEL", "__kernel")) or "{" in started or ";" in started
            if is_complete and started.count("(") == started.count(")"):
                yield started
                started = ""

    def _declares(self, line: str) -> bool:
        word = _WORD.match(line)
        if word is None:
            return False
        macro = self._macros.get(word[0])
        return word[0] in ("KERNEL", "__kernel", "typedef") or (macro is not None and "KERNEL" in macro.body)

    def _active_lines(self, text: str) -> Iterator[str]:
        """Yield the lines of a kernel source that no ``#if`` excludes, and process the directives."""
        # For each open #if, whether its condition holds, or None if another of its branches was taken.
        active: list[bool | None] = []
        for line in map(str.strip, text.splitlines()):
            if not line.startswith("#"):
                if line and all(active):
                    yield line
                continue
            name, _, rest = line[1:].strip().partition(" ")
            if name in ("if", "ifdef", "ifndef"):
                active.append(self._holds(name, rest.strip()) if all(active) else None)
            elif name in ("elif", "else"):
                waits = active[-1] is False
                active[-1] = (name == "else" or self._holds("if", rest)) if waits else None
            elif name == "endif":
                active.pop()
            elif not all(active):
                continue
            elif name == "undef":
                self._macros.pop(rest.strip(), None)
            elif name == "define" and (found := _DEFINITION.match(rest.strip())):
                parameters = tuple(p.strip() for p in found[2][1:-1].split(",")) if found[2] else None
                self._macros[found[1]] = _Macro(parameters, found[3])

    def _holds(self, name: str, condition: str) -> bool:
        if name != "if":
            return (condition in self._macros) == (name == "ifdef")
        known = _DEFINED.sub(lambda found: str(int(found[1] in self._macros)), condition)
        value = _evaluate(self._expand(_BUILTIN.sub("0", known)))
        if value is None:
            raise KernelSourceError(f"a condition in a kernel source cannot be read: #if {condition}")
        return bool(value)

    def _expand(self, text: str, hidden: frozenset[str] = frozenset()) -> str:
        """Return *text* with macros expanded, except the *hidden* macros, because *text* is part of their expansion."""
        out, at = [], 0
        while word := _WORD.search(text, at):
            out.append(text[at : word.start()])
            at, macro = word.end(), self._macros.get(word[0])
            opening = _OPENING.match(text, at)
            if macro is None or word[0] in hidden or (macro.parameters is not None and opening is None):
                out.append(word[0])
                continue
            body = macro.body
            if macro.parameters is not None and opening is not None:
                arguments, at = _split_arguments(text, opening.end())
                values = dict(zip(macro.parameters, (self._expand(a, hidden) for a in arguments), strict=False))
                body = _WORD.sub(lambda found, values=values: values.get(found[0], found[0]), body)  # type: ignore[misc]
                body = re.sub(r"\s*##\s*", "", body)
            out.append(self._expand(body, hidden | {word[0]}))
        return "".join(out) + text[at:]

    def _declare(self, text: str) -> None:
        if found := _TYPEDEF.match(text):
            self._types[found[2]] = found[1]
        if found := _STRUCT.match(text):
            fields = [tuple(member.split()) for member in found[1].split(";") if member.strip()]
            if all(kind in _TYPES for kind, _ in fields):
                self._structs[found[2]] = np.dtype([(name, _TYPES[kind]) for kind, name in fields], align=True)
        for head in _KERNEL.finditer(text):
            self.kernels[head[1]] = tuple(map(self._parameter, head[2].split(",")))

    def _parameter(self, text: str) -> Parameter:
        *kinds, name = (word for word in _WORD.findall(text) if word not in _QUALIFIERS)
        space = next((_SPACES[word] for word in kinds if word in _SPACES), "value")
        kind = next(word for word in kinds if word not in _SPACES)
        while kind in self._types:
            kind = self._types[kind]
        scalar = self._structs.get(kind, _TYPES.get(_LANES.sub("", kind)))
        return Parameter(name, space, None if scalar is None else np.dtype(scalar))


@lru_cache(maxsize=256)
def read_declarations(text: str) -> Declarations:
    """Return the kernels, types and constants that *text* declares, the whole compiler input of a program."""
    return Declarations(text)


def _evaluate(expression: str) -> int | None:
    """Return the value of an integer *expression* of a kernel file.

    Unknown names count as 0, as in the preprocessor.
    """
    text = _WORD.sub(_as_python, expression)
    for pattern, word in _PYTHON:
        text = pattern.sub(word, text)
    try:
        return int(eval(text.strip(), {"__builtins__": {}}))
    except (SyntaxError, TypeError, ValueError):
        return None


def _as_python(word: re.Match[str]) -> str:
    number = _NUMBER.fullmatch(word[0])
    return number[1] if number else "0"


def _split_arguments(text: str, start: int) -> tuple[list[str], int]:
    """Return the arguments of a macro call, which begin at position *start*, and the position after the bracket."""
    arguments, depth, begin = [], 0, start
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        if depth < 0 or (text[at] == "," and not depth):
            arguments.append(text[begin:at].strip())
            begin = at + 1
        if depth < 0:
            return arguments, at + 1
    raise KernelSourceError(f"a macro's arguments do not end: {text[start : start + 60]}")
