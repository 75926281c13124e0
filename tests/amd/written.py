"""Instructions with C of their own: handlers of memory and control, and bodies where the pseudocode does not do.

``WRITTEN`` has for each name the fields of :class:`amd.pseudocode.Body`. These differ from the tables:

* ``V_MAC_F32``, ``V_MAD_F32``, ``V_MADMK_F32`` and ``V_MADAK_F32`` of gfx90a are in no table. LLVM's AMDGPU
  documentation has them: the product is rounded before the sum.
* ``V_DIV_FMAS``: the tables multiply by 2**32 (2**64 for doubles). ``V_DIV_SCALE`` scales by 2**64 (2**128) up or
  down, so the factor here undoes what the scaling did.
* Minima and maxima of floats compare as IEEE's minNum with -0 < +0; signalling NaNs are taken as quiet ones.
"""

from __future__ import annotations

import re

_WIDE3 = {0: 64, 1: 64, 2: 64}
_THREE = {0: 32, 1: 32, 2: 32}
_TWO = {0: 32, 1: 32}


def _value(text: str, widths: dict[int, int], bits: int = 32, *, carry: bool = False, is_float: bool = False) -> tuple:
    """Return the fields of a body that writes a vector register of *bits*."""
    return text, widths, bits, carry, False, False, is_float


def _pair(low: str, high: str, widths: dict[int, int]) -> tuple:
    """Return a body that computes two floats: OPSEL and OPSEL_HI choose the half of each source."""
    picks = "".join(
        f"float l{n} = S{n}.f[OPSEL >> {n} & 1], h{n} = S{n}.f[OPSEL_HI >> {n} & 1]; "
        f"if (NEG >> {n} & 1) l{n} = -l{n}; if (ABS >> {n} & 1) h{n} = -h{n};"
        for n in widths
    )
    return _value(f"{picks} D0.f[0] = {low}; D0.f[1] = {high};", dict.fromkeys(widths, 64), 64, is_float=True)


def _mixed(assign: str) -> tuple:
    """Return a body that multiplies and adds floats or halves, as OPSEL_HI and OPSEL say of each source."""
    loads = "".join(
        f"float x{n} = !(OPSEL_HI >> {n} & 1) ? S{n}.f32 : f16_to_f32((U16)(S{n}.u32 >> (OPSEL >> {n} & 1 ? 16 : 0)));"
        f"if (ABS >> {n} & 1) x{n} = fabsf(x{n}); if (NEG >> {n} & 1) x{n} = -x{n};"
        for n in range(3)
    )
    return _value(f"{loads} {assign}", _THREE)


def _scale(kind: str, bits: int) -> tuple:
    text = f"int scaled; D0.{kind} = div_scale_{kind}(S0.{kind}, S1.{kind}, S2.{kind}, &scaled); carry = scaled;"
    return text, dict.fromkeys(range(3), bits), bits, False, True, False, True


WRITTEN: dict[str, tuple] = {
    "V_MAC_F32": _value("float product = S0.f32 * S1.f32; D0.f32 = product + D0.f32;", _TWO, is_float=True),
    "V_MAD_F32": _value("float product = S0.f32 * S1.f32; D0.f32 = product + S2.f32;", _THREE, is_float=True),
    "V_MADMK_F32": _value("float product = S0.f32 * S2.f32; D0.f32 = product + S1.f32;", _THREE, is_float=True),
    "V_MADAK_F32": _value("float product = S0.f32 * S1.f32; D0.f32 = product + S2.f32;", _THREE, is_float=True),
    "V_FMAMK_F32": _value("D0.f32 = fmaf(S0.f32, S2.f32, S1.f32);", _THREE, is_float=True),
    "V_FMAAK_F32": _value("D0.f32 = fmaf(S0.f32, S1.f32, S2.f32);", _THREE, is_float=True),
    "V_FMAC_F32": _value("D0.f32 = fmaf(S0.f32, S1.f32, D0.f32);", _TWO, is_float=True),
    "V_FMAC_F64": _value("D0.f64 = fma(S0.f64, S1.f64, D0.f64);", {0: 64, 1: 64}, 64, is_float=True),
    "V_FMA_F32": _value("D0.f32 = fmaf(S0.f32, S1.f32, S2.f32);", _THREE, is_float=True),
    "V_FMA_F64": _value("D0.f64 = fma(S0.f64, S1.f64, S2.f64);", _WIDE3, 64, is_float=True),
    "V_FMA_MIXLO_F16": _mixed("D0.u32 = (D0.u32 & 0xffff0000) | f32_to_f16(fmaf(x0, x1, x2));"),
    "V_FMA_MIXHI_F16": _mixed("D0.u32 = (D0.u32 & 0xffff) | (U32)f32_to_f16(fmaf(x0, x1, x2)) << 16;"),
    "V_PK_FMA_F32": _pair("fmaf(l0, l1, l2)", "fmaf(h0, h1, h2)", _THREE),
    "V_PK_MUL_F32": _pair("l0 * l1", "h0 * h1", _TWO),
    "V_PK_ADD_F32": _pair("l0 + l1", "h0 + h1", _TWO),
    "V_PK_MOV_B32": _value(
        "U32 low = S0.w[OPSEL & 1], high = S1.w[OPSEL >> 1 & 1]; D0.w[0] = low; D0.w[1] = high;", {0: 64, 1: 64}, 64
    ),
    "V_PACK_B32_F16": _value(
        "D0.u32 = (S0.u32 >> (OPSEL & 1 ? 16 : 0) & 0xffff) | S1.u32 >> (OPSEL & 2 ? 16 : 0) << 16;", _TWO
    ),
    "V_CVT_F16_F32": _value("D0.u16 = f32_to_f16(S0.f32);", {0: 32}),
    "V_CVT_F32_F16": _value("D0.f32 = f16_to_f32(S0.f16);", {0: 32}, is_float=True),
    "V_ALIGNBIT_B32": _value("D0.u32 = (U32)(((U64)S0.u32 << 32 | S1.u32) >> (S2.u32 & 31));", _THREE),
    "V_PERM_B32": _value("D0.u32 = perm_b32(S0.u32, S1.u32, S2.u32);", _THREE),
    "V_BFREV_B32": _value("D0.u32 = __builtin_bitreverse32(S0.u32);", {0: 32}),
    "V_MED3_F32": _value("D0.f32 = med3_f32(S0.f32, S1.f32, S2.f32);", _THREE, is_float=True),
    "V_MED3_I32": _value("D0.i32 = med3_i32(S0.i32, S1.i32, S2.i32);", _THREE),
    "V_MED3_U32": _value("D0.u32 = med3_u32(S0.u32, S1.u32, S2.u32);", _THREE),
    "V_MIN_F32": _value("D0.f32 = min_f32(S0.f32, S1.f32);", _TWO, is_float=True),
    "V_MAX_F32": _value("D0.f32 = max_f32(S0.f32, S1.f32);", _TWO, is_float=True),
    "V_MIN_F64": _value("D0.f64 = min_f64(S0.f64, S1.f64);", {0: 64, 1: 64}, 64, is_float=True),
    "V_MAX_F64": _value("D0.f64 = max_f64(S0.f64, S1.f64);", {0: 64, 1: 64}, 64, is_float=True),
    "V_LDEXP_F32": _value("D0.f32 = ldexpf(S0.f32, S1.i32);", _TWO, is_float=True),
    "V_LDEXP_F64": _value("D0.f64 = ldexp(S0.f64, S1.i32);", {0: 64, 1: 32}, 64, is_float=True),
    "V_EXP_F32": _value("D0.f32 = exp2f(S0.f32);", {0: 32}, is_float=True),
    "V_LOG_F32": _value("D0.f32 = log2f(S0.f32);", {0: 32}, is_float=True),
    "V_TRUNC_F32": _value("D0.f32 = truncf(S0.f32);", {0: 32}, is_float=True),
    "V_FLOOR_F32": _value("D0.f32 = floorf(S0.f32);", {0: 32}, is_float=True),
    "V_DIV_SCALE_F32": _scale("f32", 32),
    "V_DIV_SCALE_F64": _scale("f64", 64),
    "V_DIV_FMAS_F32": _value(
        "D0.f32 = fmaf(S0.f32, S1.f32, S2.f32);"
        "if (carry_in) D0.f32 = ldexpf(D0.f32, exponent_f32(S2.f32) > 127 ? 64 : -64);", _THREE,
        carry=True, is_float=True,
    ),
    "V_DIV_FMAS_F64": _value(
        "D0.f64 = fma(S0.f64, S1.f64, S2.f64);"
        "if (carry_in) D0.f64 = ldexp(D0.f64, exponent_f64(S2.f64) > 1023 ? 128 : -128);", _WIDE3, 64, carry=True,
        is_float=True,
    ),
    "V_DIV_FIXUP_F32": _value("D0.f32 = div_fixup_f32(S0.f32, S1.f32, S2.f32);", _THREE, is_float=True),
    "V_DIV_FIXUP_F64": _value("D0.f64 = div_fixup_f64(S0.f64, S1.f64, S2.f64);", _WIDE3, 64, is_float=True),
    "V_CMP_CLASS_F32": ("d_bit = class_f32(S0.f32, S1.u32);", _TWO, 0, False, False, True, False),
    "V_MAD_U64_U32": (
        "U64 product = (U64)S0.u32 * S1.u32; D0.u64 = product + S2.u64; carry = D0.u64 < product;",
        {0: 32, 1: 32, 2: 64}, 64, False, True, False, False,
    ),
    "V_MAD_I64_I32": (
        "I64 product = (I64)S0.i32 * S1.i32; carry = __builtin_add_overflow(product, S2.i64, &D0.i64);",
        {0: 32, 1: 32, 2: 64}, 64, False, True, False, False,
    ),
    "S_BREV_B32": _value("D0.u32 = __builtin_bitreverse32(S0.u32);", {0: 32}),
    "S_BITSET1_B32": _value("D0.u32 = w->s[i->dst] | 1u << (S0.u32 & 31);", {0: 32}),
}  # fmt: skip

HANDLERS = {
    "S_ENDPGM": "end_program", "S_BARRIER": "barrier", "S_BRANCH": "branch",
    "S_CBRANCH_SCC0": "branch_unless_scc", "S_CBRANCH_SCC1": "branch_if_scc",
    "S_CBRANCH_VCCZ": "branch_unless_vcc", "S_CBRANCH_VCCNZ": "branch_if_vcc",
    "S_CBRANCH_EXECZ": "branch_if_no_lanes", "S_CBRANCH_EXECNZ": "branch_if_lanes",
    "S_GETPC_B64": "get_pc", "S_SETPC_B64": "set_pc", "S_SWAPPC_B64": "swap_pc",
    "V_READFIRSTLANE_B32": "read_first_lane", "V_READLANE_B32": "read_lane", "V_WRITELANE_B32": "write_lane",
    "V_SWAP_B32": "swap", "DS_BPERMUTE_B32": "backward_permute",
    "BUFFER_WBINVL1_VOL": "invalidate", "BUFFER_GL0_INV": "invalidate", "BUFFER_GL1_INV": "invalidate_shared",
    "S_DCACHE_INV": "invalidate_scalar",
    **dict.fromkeys((
        "S_NOP", "S_WAITCNT", "S_WAITCNT_VSCNT", "S_WAITCNT_DEPCTR", "S_CLAUSE", "S_DELAY_ALU",
        "S_SENDMSG", "S_SET_INST_PREFETCH_DISTANCE", "S_SLEEP",
    ), "nothing"),
}  # fmt: skip

_ATOMICS = {
    "ADD_F32": "ADD_F", "ADD_F64": "ADD_F", "ADD": "ADD", "SUB": "SUB", "SMIN": "MIN_I", "SMAX": "MAX_I",
    "UMIN": "MIN_U", "UMAX": "MAX_U", "MIN_I": "MIN_I", "MAX_I": "MAX_I", "MIN_U": "MIN_U", "MAX_U": "MAX_U",
    "AND": "AND", "OR": "OR",
    "XOR": "XOR", "SWAP": "SWAP", "CMPSWAP": "COMPARE", "CMPST": "COMPARE", "CMPSTORE": "COMPARE", "WRXCHG": "SWAP",
    "STOREXCHG": "SWAP",
}  # fmt: skip
_KINDS = ["ADD", "SUB", "MIN_I", "MAX_I", "MIN_U", "MAX_U", "AND", "OR", "XOR", "SWAP", "COMPARE", "ADD_F"]
_BYTES = {
    "DWORDX2": 8, "DWORDX3": 12, "DWORDX4": 16, "DWORDX8": 32, "DWORDX16": 64, "DWORD": 4, "B32": 4, "B64": 8,
    "B96": 12, "B128": 16, "B256": 32, "B512": 64, "UBYTE": 1, "SBYTE": 1, "BYTE": 1, "U8": 1, "I8": 1,
    "B8": 1, "USHORT": 2,
    "SSHORT": 2, "SHORT": 2, "U16": 2, "I16": 2, "B16": 2,
}  # fmt: skip


def memory_handler(name: str) -> tuple[str, int, int] | None:
    """Return the handler, the kind and the bytes of the instruction of memory *name*, or None if it is another."""
    if found := re.fullmatch(r"S_LOAD_(\w+)", name):
        return "scalar_load", 0, _BYTES[found[1]]
    if found := re.fullmatch(r"(GLOBAL|DS)_(?:ATOMIC_)?(\w+?)(?:_RTN)?(?:_([UIBF](?:32|64)))?(_X2)?", name):
        space, what, kind, twice = found.groups()
        key = next((key for key in (f"{what}_{kind}", f"{what}_{(kind or '')[:1]}", what) if key in _ATOMICS), None)
        if key is not None:
            wide = bool(twice) or (kind or "").endswith("64")
            handler = "global_atomic" if space == "GLOBAL" else "local_atomic"
            return handler, _KINDS.index(_ATOMICS[key]), 8 if wide else 4
    if found := re.fullmatch(r"DS_(READ|LOAD|WRITE|STORE)(2|_2ADDR)(ST64|_STRIDE64)?_B(32|64)", name):
        handler = "local_load_two" if found[1] in ("READ", "LOAD") else "local_store_two"
        return handler, 0, int(found[4]) // 8
    if found := re.fullmatch(r"(GLOBAL|SCRATCH|DS)_(READ|LOAD|WRITE|STORE)_(\w+?)(_D16)?(_HI)?", name):
        space = {"GLOBAL": "global", "SCRATCH": "scratch", "DS": "local"}[found[1]]
        what = "load" if found[2] in ("READ", "LOAD") else "store"
        if found[3].startswith("D16_"):
            return f"{space}_{what}", 4 if "HI" in name else 3, 2
        part = 4 if found[5] else 3 if found[4] else 2 if found[3][0] in "SI" and found[3] != "SHORT" else 1
        n_bytes = _BYTES.get(found[3])
        return None if n_bytes is None else (f"{space}_{what}", part if n_bytes < 4 else 0, n_bytes)
    return None
