"""Turns the code of a program into records that the machine runs: a handler, registers and constants each."""

from __future__ import annotations

import re
import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from amd.code_object import CodeObject
from amd.decoder import LITERAL, NULL, Instruction, decode
from amd.patterns import Pattern, body_of, pattern_of
from amd.written import HANDLERS, memory_handler

INSTRUCTION = np.dtype([
    ("run", np.uint64), ("src", np.int32, 4), ("imm", np.int32, (4, 2)),
    *((name, np.int32) for name in (
        "dst", "sdst", "addr", "data", "data2", "saddr", "offset", "offset2", "target", "bypass", "kind", "width", "pc",
        "pattern",
    )),
], align=True)  # fmt: skip

CONSTANT, VECTOR, VCC = -1, 256, 106
_FLOATS = {240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0, 246: 4.0, 247: -4.0, 248: 0.15915494309189532}
_HALF_SOURCES = re.compile("F32_F16")


class ProgramError(ValueError):
    """The code has an instruction whose operands the machine does not know."""


class Loaded(NamedTuple):
    """A program's records in the order of the code, its patterns, and the record at each word of the code, or -1."""

    records: NDArray[Any]
    patterns: list[Pattern]
    places: NDArray[np.int32]


def load(code_object: CodeObject, target: str) -> Loaded:
    """Decode all functions of *code_object*; the ``pattern`` of a record is its index in the patterns."""
    found: list[_Made] = []
    at: list[int] = []
    for first, last in sorted(code_object.functions):
        place = first
        while place < last:
            found.append(_made(code_object.code[place : place + 12], target))
            at.append(place)
            place += 4 * found[-1].words
    records = np.frombuffer(b"".join(made.record for made in found), INSTRUCTION).copy()
    records["pc"] = at
    places = np.full(len(code_object.code) // 4 + 1, -1, np.int32)
    places[records["pc"] // 4] = np.arange(len(records))
    jumps = np.array([made.jump for made in found])
    records["target"] = places[np.clip((records["pc"] + jumps) // 4, 0, len(places) - 1)]
    patterns: dict[Pattern, int] = {}
    records["pattern"] = [patterns.setdefault(made.pattern, len(patterns)) for made in found]
    return Loaded(records, [*patterns], places)


class _Made(NamedTuple):
    record: bytes
    pattern: Pattern
    words: int
    jump: int  # bytes from the instruction to the target of a branch


_known: dict[tuple[str, bytes], _Made] = {}


def _made(code: bytes, target: str) -> _Made:
    """Return the record of the first instruction of *code*. The same instruction is translated once a process."""
    for n_bytes in (4, 8, 12):
        if (known := _known.get((target, code[:n_bytes]))) is not None:
            return known
    instruction = decode(code, target)
    record = np.zeros(1, INSTRUCTION)[0]
    pattern = _fill(record, instruction, target)
    jump = 0
    if instruction.format == "SOPP" and "BRANCH" in instruction.name:
        jump = 4 + 4 * ((instruction.fields["simm16"] ^ 0x8000) - 0x8000)
    made = _Made(record.tobytes(), pattern, instruction.words, jump)
    _known[target, code[: 4 * made.words]] = made
    return made


def _fill(record: Any, instruction: Instruction, target: str) -> Pattern:
    """Write the operands of *instruction* into *record*, and return its pattern."""
    record["src"] = CONSTANT
    for name in ("dst", "sdst", "addr", "data", "data2", "saddr"):
        record[name] = -1
    if (handled := memory_handler(instruction.name)) is not None:
        handler, record["kind"], record["width"] = handled
        _fill_memory(record, instruction, target)
        return Pattern("", handler, "", ())
    fields, form = instruction.fields, instruction.format
    if form == "VOPD":
        _fill_dual(record, instruction)
    elif form == "SOPK":
        record["src"][0], record["dst"] = fields["sdst"], fields["sdst"]
        record["imm"][1] = (fields["simm16"] ^ 0x8000) - 0x8000, 0
    elif form not in ("SOPP", "MUBUF", "SMEM") and not (form == "DS" and "PERMUTE" not in instruction.name):
        _fill_arithmetic(record, instruction, target)
    elif instruction.name not in HANDLERS:
        raise ProgramError(f"{form} {instruction.name}")
    return pattern_of(instruction)


def _fill_memory(record: Any, instruction: Instruction, target: str) -> None:
    fields, form, name = instruction.fields, instruction.format, instruction.name
    no_scalar = 127 if target == "gfx90a" else NULL
    if form == "SMEM":
        record["dst"], record["addr"] = fields["sdata"], 2 * fields["sbase"]
        record["offset"] = (fields["offset"] ^ 0x100000) - 0x100000
        has_register = fields["soffset_en"] if target == "gfx90a" else fields["soffset"] != NULL
        if target == "gfx90a" and not fields["imm"]:
            raise ProgramError(f"{name} without an immediate offset")
        record["saddr"] = fields["soffset"] if has_register else -1
        return
    record["dst"], record["addr"] = fields["vdst"], fields["addr"]
    if form == "DS":
        record["data"], record["data2"] = fields["data0"], fields["data1"]
        if "READ2" in name or "WRITE2" in name or "2ADDR" in name:
            scale = int(record["width"]) * (64 if "64_" in name else 1)
            record["offset"], record["offset2"] = fields["offset0"] * scale, fields["offset1"] * scale
        else:
            record["offset"] = fields["offset0"] | fields["offset1"] << 8
        returns = "RTN" in name or "READ" in name or "LOAD" in name
    else:
        record["data"] = fields["data"]
        record["offset"] = (fields["offset"] ^ 0x1000) - 0x1000
        record["saddr"] = -1 if fields["saddr"] == no_scalar else fields["saddr"]
        bypasses = fields["sc0"] if target == "gfx90a" else fields["glc"]
        returns = "LOAD" in name or bool(bypasses)
        record["bypass"] = bypasses and "ATOMIC" not in name
        if form == "SCRATCH":
            has_vector = fields["sve"] if target != "gfx90a" else record["saddr"] < 0
            record["addr"] = fields["addr"] if has_vector else -1
    if not returns:
        record["dst"] = -1


def _fill_arithmetic(record: Any, instruction: Instruction, target: str) -> None:
    fields, form, name = instruction.fields, instruction.format, instruction.name
    if form == "DS":  # ds_bpermute
        record["dst"], record["addr"], record["data"] = fields["vdst"], fields["addr"], fields["data0"]
        record["offset"] = fields["offset0"] | fields["offset1"] << 8
        return
    names = ("ssrc0", "ssrc1") if form.startswith("SOP") else ("src0", "src1" if "src1" in fields else "vsrc1", "src2")
    widths = {} if name in HANDLERS else body_of(name, target).widths
    is_double = bool(re.search("F64", name))
    for n, of in enumerate(names):
        if of in fields:
            wide = widths.get(n, 32) == 64
            packed = name.startswith("V_PK_")
            _source(
                record,
                n,
                fields[of],
                fields.get("literal"),
                wide,
                is_double and wide,
                packed,
                bool(_HALF_SOURCES.search(name)),
            )
    if re.search("(AK|MK)_F32$", name):  # the literal is the third operand
        _source(record, 2, LITERAL, fields["literal"], False, False, False, False)
    record["dst"] = fields.get("sdst" if form.startswith("SOP") else "vdst", -1)
    record["sdst"] = VCC
    if form == "VOP3SD":
        record["sdst"] = fields["sdst"]
    elif form == "VOP3" and name.startswith("V_CMP"):
        record["sdst"] = fields["vdst"]
    elif form == "VOPC" and "sdwa" in fields and fields["sdwa"] >> 15 & 1:
        record["sdst"] = fields["sdwa"] >> 8 & 127


def _fill_dual(record: Any, instruction: Instruction) -> None:
    fields = instruction.fields
    record["dst"] = fields["vdstx"]
    record["sdst"] = fields["vdsty"] << 1 | (~fields["vdstx"] & 1)
    operands = (fields["srcx0"], VECTOR + fields["vsrcx1"], fields["srcy0"], VECTOR + fields["vsrcy1"])
    for n, operand in enumerate(operands):
        _source(record, n, operand, fields.get("literal"), False, False, False, False)


def _source(
    record: Any, n: int, operand: int, literal: int | None, wide: bool, is_double: bool, packed: bool, is_half: bool
) -> None:
    """Write source *n* into *record*: a register, or the two words of a constant."""
    if operand < 128 or operand >= VECTOR or operand in (251, 252, 253):
        record["src"][n] = operand
        return
    if operand == LITERAL:
        assert literal is not None
        low, high = (0, literal) if is_double else (literal, 0)
    elif operand in _FLOATS:
        if is_double:
            low, high = struct.unpack("<II", struct.pack("<d", _FLOATS[operand]))
        elif is_half:
            low, high = int(np.float16(_FLOATS[operand]).view(np.uint16)), 0
        else:
            low = high = struct.unpack("<I", struct.pack("<f", _FLOATS[operand]))[0]
            if wide and not packed:
                low, high = struct.unpack("<II", struct.pack("<d", _FLOATS[operand]))
    elif 128 <= operand <= 208:
        value = operand - 128 if operand <= 192 else 192 - operand
        low = high = value & 0xFFFFFFFF
        if not packed:
            high = 0xFFFFFFFF if value < 0 else 0
    else:
        raise ProgramError(f"source operand {operand}")
    record["imm"][n] = np.array([low, high], np.uint32).view(np.int32)
