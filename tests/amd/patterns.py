"""C functions for patterns of instructions: what one instruction does to a wave, whatever registers it names.

A pattern is an instruction's format, name and modifiers. Most arithmetic comes from AMD's pseudocode; ``WRITTEN`` has
the bodies of instructions for which the pseudocode is missing, wrong or no plain expression.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from amd.decoder import Instruction
from amd.pseudocode import Body, UntranslatableError, translate
from amd.written import HANDLERS, WRITTEN

_TABLES = {"gfx90a": "cdna", "gfx1100": "rdna3"}
_SEL = ("({0} & 255)", "({0} >> 8 & 255)", "({0} >> 16 & 255)", "({0} >> 24)", "({0} & 65535)", "({0} >> 16)", "{0}")
_SIGNED_SEL = ("(U32)(int8_t){0}", "(U32)(int8_t)({0} >> 8)", "(U32)(int8_t)({0} >> 16)", "(U32)(int8_t)({0} >> 24)",
               "(U32)(I16){0}", "(U32)(I16)({0} >> 16)", "{0}")  # fmt: skip


class Pattern(NamedTuple):
    """An instruction without its registers and constants."""

    format: str
    name: str
    name_y: str
    modifiers: tuple[tuple[str, int], ...]


_MODIFIERS = ("neg", "neg_hi", "abs", "clmp", "omod", "opsel", "opsel_hi", "opsel_hi2")


def pattern_of(instruction: Instruction) -> Pattern:
    """Return the pattern of *instruction*."""
    fields = instruction.fields
    kept = {name: fields[name] for name in _MODIFIERS if fields.get(name)}
    if "sdwa" in fields:
        kept["sdwa"] = fields["sdwa"] >> 8 & 0x7F7FFF  # all but the registers
    if "dpp" in fields:
        raise UntranslatableError(f"{instruction.name} with DPP")
    if instruction.name in HANDLERS:
        return Pattern("", HANDLERS[instruction.name], "", ())
    return Pattern(instruction.format, instruction.name, instruction.name_y, tuple(sorted(kept.items())))


@cache
def _pseudocode(target: str) -> dict[str, str]:
    from importlib import import_module

    table = import_module(f"tinygrad.runtime.autogen.amd.{_TABLES[target]}.str_pcode").PCODE
    return {re.sub("_E(32|64)$", "", operation.name): text for operation, text in table.items()}


@cache
def body_of(name: str, target: str) -> Body:
    """Return the statements of instruction *name*; :class:`UntranslatableError` if none are known."""
    if name in WRITTEN:
        return Body(*WRITTEN[name])
    try:
        return translate(_pseudocode(target)[name])
    except KeyError:
        raise UntranslatableError(f"no pseudocode of {name}") from None


def function_of(pattern: Pattern, target: str, name: str) -> str:
    """Return the C function *name* that carries out *pattern*."""
    if not pattern.format:
        raise ValueError(f"{pattern.name} has a handler")
    if pattern.format.startswith("SOP"):
        statements = _scalar(pattern, body_of(pattern.name, target))
    elif pattern.format == "VOPD":
        statements = _dual(pattern, target)
    else:
        statements = _vector(pattern, body_of(pattern.name, target))
    return f"static void {name}(Wave *w, const Ins *i) {{ /* {pattern} */\n{statements}\n}}\n"


def _scalar(pattern: Pattern, body: Body) -> str:
    loads = [f"OPERAND({n}) V S{n} = SCALAR({n}, {int(bits == 64)}); (void)S{n}; (void)high{n};"
             for n, bits in body.widths.items()]  # fmt: skip
    if pattern.format == "SOPK":
        if "SIMM16" in body.text:
            loads.append("V SIMM16 = {.u32 = (U32)i->imm[1][0]};")
        elif not pattern.name.startswith("S_CMPK"):  # the source is the constant
            loads = ["V S0 = {.u32 = (U32)i->imm[1][0]}; (void)S0;"]
    head = [*loads, "V D0 = {.u64 = 0}; U32 SCC = w->scc; (void)D0;"]
    if body.d_bits and re.search(r"D0\.\w+ (?:[-+]=|=.*D0)|= D0", body.text):
        head.append("D0.u32 = w->s[i->dst];")
    tail = ["w->scc = SCC;"]
    if "EXEC" in body.text:
        head.append("V EXEC = {.u64 = EXEC(w)};")
        tail.append("set_mask(w, EXEC_, EXEC.u64);")
    if body.d_bits:
        tail.insert(0, f"set_scalar(w, i->dst, D0.u64, {body.d_bits // 32});")
    return "\n".join((*head, body.text, *tail))


def _modified(number: int, body: Body, modifiers: dict[str, int]) -> str:
    """Return statements that apply sub-word selection, absolute value and sign to a source."""
    source, text = f"S{number}", ""
    if sdwa := modifiers.get("sdwa", 0):
        bits = sdwa >> (8 if number == 0 else 16)  # the modifiers begin at bit 8 of the word
        select, sext, neg, absolute = bits & 7, bits >> 3 & 1, bits >> 4 & 1, bits >> 5 & 1
        if number < 2:
            text += f"{source}.u32 = {(_SIGNED_SEL if sext else _SEL)[select].format(source + '.u32')};"
    else:
        neg, absolute = modifiers.get("neg", 0) >> number & 1, modifiers.get("abs", 0) >> number & 1
    if neg or absolute:
        bits, member = (63, "u64") if body.widths[number] == 64 else (31, "u32")
        if f"{source}.f16" in body.text or f"f16_to_f32({source}" in body.text:
            bits = 15
        text += f"{source}.{member} &= ~(1ull << {bits});" if absolute else ""
        text += f"{source}.{member} ^= 1ull << {bits};" if neg else ""
    return text


def _vector(pattern: Pattern, body: Body) -> str:
    modifiers = dict(pattern.modifiers)
    head = [f"OPERAND({n})" + ("" if bits == 64 else f" (void)high{n};") for n, bits in body.widths.items()]
    lane = [
        f"V S{n} = VECTOR({n}, {int(bits == 64)}); {_modified(n, body, modifiers)}" for n, bits in body.widths.items()
    ]
    lane += [f"const int OPSEL = {modifiers.get('opsel', 0)}; (void)OPSEL;"] if "OPSEL" in body.text else []
    if "OPSEL_HI" in body.text:
        high = modifiers.get("opsel_hi", 0) | modifiers.get("opsel_hi2", 0) << 2
        lane.append(
            f"const int OPSEL_HI = {high}, NEG = {modifiers.get('neg', 0)}, ABS = {modifiers.get('neg_hi', 0)};"
        )
        lane.append("(void)NEG; (void)ABS;")
    if body.reads_carry:
        with_register = pattern.format in ("VOP3", "VOP3SD") and pattern.name not in (
            "V_DIV_FMAS_F32",
            "V_DIV_FMAS_F64",
        )
        head.append(f"const U64 carries = MASK({'operand(w, i, 2, &unused)' if with_register else 'w->s + VCC_'});")
        head.insert(0, "U32 unused; (void)unused;")
        lane.append("const U32 carry_in = carries >> lane & 1;")
    lane += ["U32 d_bit;"] if body.writes_mask else []
    lane += ["U32 carry = 0;"] if body.writes_carry else []
    head += ["U64 mask = 0;"] if body.writes_mask or body.writes_carry else []
    if body.d_bits:
        high = "to[WAVE]" if body.d_bits == 64 else "0"
        lane.append(f"U32 *to = w->v + (size_t)i->dst * WAVE + lane; V D0 = {{.w = {{to[0], {high}}}}};")
    lane.append(body.text)
    lane += _written(pattern, body, modifiers)
    tail = []
    if body.writes_mask:
        to_exec = "CMPX" in pattern.name
        tail.append("set_mask(w, i->sdst, mask);" if not to_exec else "set_mask(w, EXEC_, mask);")
    elif body.writes_carry:
        tail.append("set_mask(w, i->sdst, mask);")
    return "\n".join((*head, "LANES(w) {", *lane, "}", *tail))


def _written(pattern: Pattern, body: Body, modifiers: dict[str, int]) -> list[str]:
    """Return the statements that write a lane's results."""
    lines = []
    if body.writes_mask or body.writes_carry:
        lines.append(f"mask |= (U64)(({'d_bit' if body.writes_mask else 'carry'}) & 1) << lane;")
    if not body.d_bits:
        return lines
    member = "f64" if body.d_bits == 64 else "f32"
    sdwa = modifiers.get("sdwa", 0)
    if "D0.u16 =" in body.text:
        lines.append("if (!RDNA) D0.u32 &= 0xffff;  /* gfx9 clears the upper half, later GPUs keep it */")
    if omod := modifiers.get("omod", 0):
        lines.append(f"D0.{member} *= {(1, 2, 4, 0.5)[omod]};")
    if modifiers.get("clmp") or sdwa >> 5 & 1:
        lines.append(_clamped(pattern, body, member))
    if "sdwa" in modifiers and pattern.format != "VOPC" and sdwa & 7 != 6:
        select, unused = sdwa & 7, sdwa >> 3 & 3
        shift, width = (8 * select, 8) if select < 4 else (16 * (select - 4), 16)
        if unused == 1:
            raise UntranslatableError(f"{pattern.name}: sign extension of a part of the destination")
        mask = ((1 << width) - 1) << shift
        kept = f"(to[0] & {~mask & 0xFFFFFFFF}u)" if unused == 2 else "0"
        lines.append(f"D0.u32 = {kept} | ((D0.u32 << {shift}) & {mask}u);")
    lines.append("to[0] = D0.w[0];" + (" to[WAVE] = D0.w[1];" if body.d_bits == 64 else ""))
    return lines


def _clamped(pattern: Pattern, body: Body, member: str) -> str:
    if body.is_float:
        return f"D0.{member} = !(D0.{member} > 0) ? 0 : D0.{member} > 1 ? 1 : D0.{member};"
    if re.fullmatch("V_ADD(_NC)?_U32", pattern.name):
        return "if (D0.u32 < S0.u32) D0.u32 = UINT32_MAX;"
    if re.fullmatch("V_SUB(_NC)?_U32", pattern.name):
        return "if (S0.u32 < S1.u32) D0.u32 = 0;"
    raise UntranslatableError(f"{pattern.name} with clamp")


def _dual(pattern: Pattern, target: str) -> str:
    """Return the statements of two instructions in one: both read before either writes."""
    head, lane, tail = [], [], []
    for half, name in enumerate((pattern.name, pattern.name_y)):
        body = body_of("V_" + name.removeprefix("V_DUAL_"), target)
        inner = []
        if len(body.widths) > 2:
            raise UntranslatableError(f"{name} with a literal")
        for n in body.widths:
            head.append(f"OPERAND({2 * half + n}) (void)high{2 * half + n};")
            inner.append(f"V S{n} = VECTOR({2 * half + n}, 0);")
        if body.reads_carry:
            inner.append("const U32 carry_in = MASK(w->s + VCC_) >> lane & 1;")
        lane.append(f"V result{half}; {{ V D0 = {{.u32 = w->v[(size_t)i->{('dst', 'sdst')[half]} * WAVE + lane]}};")
        lane += [*inner, body.text, f"result{half} = D0; }}"]
        tail.append(f"w->v[(size_t)i->{('dst', 'sdst')[half]} * WAVE + lane] = result{half}.u32;")
    return "\n".join((*head, "LANES(w) {", *lane, *tail, "}"))
