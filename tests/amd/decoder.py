"""Decodes AMD machine code by the tables of tinygrad, which come from AMD's machine-readable ISA.

The tables have CDNA 3 and RDNA 3. gfx90a is CDNA 2: EARLIER names the instructions of it whose codes mean something
else, or nothing, in CDNA 3. ``test_amd.py`` compares every decoded name with the assembly that clang printed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

LITERAL, SDWA, DPP, NULL = 255, 249, 250, 124
EARLIER = {  # (format, operation of gfx90a): its name
    ("VOP2", 22): "V_MAC_F32",
    ("VOP2", 23): "V_MADMK_F32",
    ("VOP2", 24): "V_MADAK_F32",
    ("VOP3", 278): "V_MAC_F32",
    ("VOP3", 449): "V_MAD_F32",
    ("MUBUF", 63): "BUFFER_WBINVL1_VOL",
}
LATER = {
    ("MUBUF", 43): "BUFFER_GL0_INV",
    ("MUBUF", 44): "BUFFER_GL1_INV",
}  # gfx1100 has these two in a format that the decoder does not try.
_FAMILY = {"gfx90a": "cdna", "gfx1100": "rdna3"}
_SOURCES = ("src0", "src1", "src2", "ssrc0", "ssrc1", "vsrc1", "srcx0", "srcy0")
# The order of tries: more specific formats first.
_FORMATS = [
    "VOPD",
    "VOP3P",
    "VOP3SD",
    "VOP3_SDST",
    "VOP3",
    "DS",
    "GLOBAL",
    "SCRATCH",
    "FLAT",
    "MUBUF",
    "SMEM",
    "SOP1",
    "SOPC",
    "SOPP",
    "SOPK",
    "VOPC",
    "VOP1_SDST",
    "VOP1",
    "SOP2",
    "VOP2",
]


class UnknownInstruction(ValueError):
    """No table has this code."""


class Instruction(NamedTuple):
    """A decoded instruction: its format, its name without suffix, and the raw bits of its fields.

    ``name_y`` is the second name of an instruction of two halves (VOPD). ``words`` is its size in words of 4 bytes.
    """

    format: str
    name: str
    name_y: str
    fields: dict[str, int]
    words: int


class _Format(NamedTuple):
    name: str
    mask: int
    bits: int
    n_bytes: int
    fields: dict[str, tuple[int, int]]  # shift and mask
    names: dict[str, dict[int, str]]  # names of operations by field


def _format(found: Any) -> _Format:
    mask = bits = 0
    fields: dict[str, tuple[int, int]] = {}
    names: dict[str, dict[int, str]] = {}
    for name, field in found._fields:
        kind = type(field).__name__
        if kind == "FixedBitField":
            mask |= field.mask << field.lo
            bits |= field.default << field.lo
            continue
        fields[name] = field.lo, field.mask
        if kind == "EnumBitField":
            kept = field._enum if field.allowed is None else field.allowed
            names[name] = {member.value: re.sub("_E(32|64)$", "", member.name) for member in kept}
    return _Format(found.__name__, mask, bits, found._size(), fields, names)


@cache
def _formats(target: str) -> list[_Format]:
    """Return the formats of *target*; the operations of a format with literals belong to the format without."""
    from importlib import import_module

    module = import_module(f"tinygrad.runtime.autogen.amd.{_FAMILY[target]}.ins")
    formats = []
    for name in _FORMATS:
        if (found := getattr(module, name, None)) is None:
            continue
        made = _format(found)
        for other in (getattr(module, name + "_LIT", None), getattr(module, name + "_SDST_LIT", None)):
            if other is not None:
                for field, members in _format(other).names.items():
                    made.names[field].update(members)
        corrections = EARLIER if target == "gfx90a" else LATER
        for (of, operation), meant in corrections.items():
            if of == name:
                made.names["op"][operation] = meant
        formats.append(made)
    if "MUBUF" not in {made.name for made in formats}:
        raise UnknownInstruction(f"the tables of {target} have no MUBUF")
    return formats


def decode(code: bytes, target: str) -> Instruction:
    """Decode the first instruction of *code*, which has up to 12 bytes."""
    value = int.from_bytes(code, "little")
    for made in _formats(target):
        if value & made.mask != made.bits or len(code) < made.n_bytes:
            continue
        fields = {name: value >> low & mask for name, (low, mask) in made.fields.items()}
        operation = "opx" if made.name == "VOPD" else "op"
        name = made.names[operation].get(fields[operation])
        if name is None:
            continue
        name_y = made.names["opy"].get(fields["opy"], "") if made.name == "VOPD" else ""
        return _finished(made, name, name_y, fields, value)
    raise UnknownInstruction(f"{target}: {code[:8].hex(' ', 4)}")


def _finished(made: _Format, name: str, name_y: str, fields: dict[str, int], value: int) -> Instruction:
    words = made.n_bytes // 4
    form = made.name.removesuffix("_SDST")
    if form in ("VOP1", "VOP2", "VOPC") and fields["src0"] in (SDWA, DPP):
        word = value >> 32 & 0xFFFFFFFF
        fields["sdwa" if fields["src0"] == SDWA else "dpp"] = word
        fields["src0"] = 256 + (word & 255)
        if fields.get("sdwa", 0) >> 23 & 1:
            fields["src0"] -= 256  # a scalar register
        if form in ("VOP2", "VOPC"):
            fields["vsrc1"] += 0 if fields.get("sdwa", 0) >> 31 & 1 else 256
        words += 1
    elif "vsrc1" in fields:
        fields["vsrc1"] += 256
    has_literal = any(fields.get(of) == LITERAL for of in _SOURCES)
    if has_literal or re.search("FMAAK|FMAMK|MADAK|MADMK|SETREG_IMM32", name + name_y):
        fields["literal"] = value >> 32 * words & 0xFFFFFFFF
        words += 1
    return Instruction(form, name, name_y, fields, words)
