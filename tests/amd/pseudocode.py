"""Translates AMD's pseudocode of arithmetic instructions to C.

A value is a union ``V``, whose members have the names of the pseudocode's types, so most expressions are C already. The
translation rewrites casts, slices of bits, loops and conditions. Instructions of memory and of lanes, and some others,
have no pseudocode that this understands; ``patterns.py`` has C for them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TYPES = {"U": {32: "U32", 64: "U64", 16: "U16", 1: "U32"}, "I": {32: "I32", 64: "I64", 16: "I16"}}
_TYPES |= {"F": {32: "float", 64: "double"}, "B": {32: "U32", 64: "U64"}}
_REGISTERS = r"(?:S0|S1|S2|D0|SIMM16)"
_LOCALS = ("tmp", "result", "saveexec", "ThreadMask", "MaskedValue", "lane")


class UntranslatableError(ValueError):
    """The pseudocode has a construction that is not translated."""


class Body(NamedTuple):
    """Statements of C, the widths of source operands and destination in bits, and the masks that it reads or writes."""

    text: str
    widths: dict[int, int]
    d_bits: int
    reads_carry: bool
    writes_carry: bool
    writes_mask: bool
    is_float: bool


def translate(pseudocode: str) -> Body:
    """Return the C of *pseudocode*, one instruction of the tables."""
    code = re.sub(r"//.*", "", pseudocode)
    code = re.sub(r"declare [^;]*;", "", code)
    if re.search(r"\*\*|lambda|VGPR|MEM|\{|OPSEL|bf16|65'|PC\b|\.f16|WAVE", code):
        raise UntranslatableError(pseudocode)
    widths = {n: 64 if re.search(rf"S{n}\.[uibf]64|S{n}\[63", code) else 32 for n in range(3) if f"S{n}" in code}
    d_bits = 64 if re.search(r"D0\.[uibf]64 =", code) else 32 if re.search(r"D0\.[uibf]\d+ [-+]?=", code) else 0
    reads_carry = bool(re.search(r"VCC\.u64\[laneId\](?! =)", code))
    code = re.sub(r"(?:EXEC|D0)\.u64\[laneId\] = ", "d_bit = ", code).replace("d_bit = d_bit", "d_bit")
    code = re.sub(r"VCC\.u64\[laneId\] = ", "carry = ", code)
    code = re.sub(r"VCC\.u64\[laneId\](?:\.u\d+)?", "carry_in", code)
    writes_mask, writes_carry = "d_bit =" in code, "carry =" in code
    is_float = bool(re.search(r"D0\.f(32|64) [-+]?=", code))
    return Body(
        _statements(_expressions(code)),
        widths,
        0 if writes_mask else d_bits,
        reads_carry,
        writes_carry,
        writes_mask,
        is_float,
    )


def _expressions(code: str) -> str:
    code = re.sub(r"(\d+)'([UIFB])\(", lambda m: f"({_TYPES[m[2]][int(m[1])]})(", code)
    code = re.sub(r"\d+'(\d+)U?", r"\1u", code)
    code = code.replace("<>", "!=")
    code = re.sub(r"(\bS[0-2]\.u32)\[(\w+\.u32\[4 : 0\])\]", r"BIT(\1, \2)", code)
    for _ in range(3):  # slices within indices
        code = re.sub(rf"({_REGISTERS})\.([uib]\d+)\[(\w+) : (\w+)\](?:\.[uib]\d+)?", r"BITS(\1.\2, \3, \4)", code)
        code = re.sub(rf"({_REGISTERS})\[(\w+) : (\w+)\](?:\.[uib]\d+)?", r"BITS(\1.u64, \2, \3)", code)
        code = re.sub(r"(ThreadMask)\[(\w+) : (\w+)\](?:\.[uib]\d+)?", r"BITS(\1, \2, \3)", code)
    code = re.sub(rf"({_REGISTERS})\.i(16|32|64)\[([^\]]+)\]", r"BIT(\1.u\2, \3)", code)
    code = re.sub(rf"({_REGISTERS})\.u(\d+)\[([^\]]+)\]", r"BIT(\1.u\2, \3)", code)
    code = re.sub(rf"({_REGISTERS})\[(\w+)\](?:\.u32)?", r"BIT(\1.u64, \2)", code)
    code = re.sub(rf"({_REGISTERS})\.([ui])24", r"\g<2>24(\1.u32)", code)
    code = re.sub(r"\btmp\.[ui](?:32|64) =", "tmp =", code)
    code = re.sub(r"\btmp\.u32\[([^\]]+)\]", r"BIT(tmp, \1)", code)
    code = re.sub(r"\b(tmp|MaskedValue)\[(\w+)\]", r"BIT(\1, \2)", code)
    code = re.sub(
        r"\b(tmp|saveexec|result)\.([ui])(32|64)", lambda m: f"({_TYPES[m[2].upper()][int(m[3])]})({m[1]})", code
    )
    code = re.sub(r"\blaneId\.u32", "lane", code)
    code = re.sub(r"\bSCC\.u(32|64)", r"(U\1)SCC", code)
    return re.sub(r"\bisNAN\(", "isnan(", code).replace("laneId", "lane")


def _statements(code: str) -> str:
    """Return *code* with the conditions and loops of C, and declarations of its own variables."""
    lines = []
    for line in filter(None, (line.strip() for line in code.split("\n"))):
        line = line.removesuffix(";")
        if found := re.fullmatch(r"for (\w+) in (\w+) : (\w+) do", line):
            line = "for (int {0} = {1}; {0} <= (int){2}; {0}++) {{".format(*found.groups())
        elif found := re.fullmatch(r"(if|elsif) (.*) then", line):
            line = ("if" if found[1] == "if" else "} else if") + f" ({found[2]}) {{"
        elif line == "else":
            line = "} else {"
        elif line in ("endif", "endfor"):
            line = "}"
        else:
            line += ";"
        lines.append(line)
    text = "\n".join(lines)
    if "[" in text or "'" in text:
        raise UntranslatableError(text)
    declared = [f"I64 {name} = 0; (void){name};" for name in _LOCALS if re.search(rf"\b{name} [-+]?=", text)]
    return "\n".join((*declared, text))
