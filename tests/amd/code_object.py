"""Reads the relocatable code objects of clang: machine code, and each kernel's descriptor and arguments."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

_DESCRIPTOR_BYTES = 64
_SYMTAB, _RELA, _NOTE = 2, 4, 7
_FUNCTION, _IS_CODE = 2, 4
_RELATIVE_LOW, _RELATIVE_HIGH = 10, 11  # R_AMDGPU_REL32_LO and _HI


class CodeObjectError(ValueError):
    """A code object has something that the loader does not know."""


class Argument(NamedTuple):
    """An argument of a kernel: its place in the block of arguments, and its kind in the metadata."""

    offset: int
    size: int
    kind: str


@dataclass(frozen=True)
class Kernel:
    """One kernel of a code object.

    Attributes
    ----------
    entry, n_code_bytes : int
        The place of the first instruction in the code, and the bytes of the kernel's own code.
    arguments : tuple of Argument
        The arguments, with the hidden ones of the runtime at the end.
    n_argument_bytes, n_local_bytes, n_private_bytes : int
        Sizes of the block of arguments, of local memory a work-group, and of private memory a work-item.
    registers, properties : int
        The word COMPUTE_PGM_RSRC2 and the kernel code properties of the descriptor.
    n_vectors : int
        Vector registers of a wave.
    wave : int
        Lanes of a wave.
    """

    name: str
    entry: int
    n_code_bytes: int
    arguments: tuple[Argument, ...]
    n_argument_bytes: int
    n_local_bytes: int
    n_private_bytes: int
    registers: int
    properties: int
    wave: int
    n_vectors: int


class CodeObject(NamedTuple):
    """The code of a program, the bytes ``first:last`` of each function in it, and its kernels."""

    code: bytes
    functions: tuple[tuple[int, int], ...]
    kernels: dict[str, Kernel]


class _Symbol(NamedTuple):
    name: str
    kind: int
    section: int
    place: int
    size: int


def read_code_object(elf: bytes) -> CodeObject:
    """Return the code and the kernels of *elf*, a relocatable object for amdgcn-amd-amdhsa."""
    if elf[:6] != b"\x7fELF\x02\x01":
        raise CodeObjectError("no little-endian 64-bit ELF file")
    (at,), (n_sections,) = struct.unpack_from("<Q", elf, 40), struct.unpack_from("<H", elf, 60)
    # name, type, flags, address, offset, size, link, info, alignment, entry size
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, at + 64 * i) for i in range(n_sections)]
    symbols = [symbol for header in sections if header[1] == _SYMTAB for symbol in _symbols(elf, header, sections)]
    named = {symbol.name: symbol for symbol in symbols}
    functions = [symbol for symbol in symbols if symbol.kind == _FUNCTION]
    if not functions or len({symbol.section for symbol in functions}) > 1:
        raise CodeObjectError("the functions are not in one section")
    section = functions[0].section
    code = bytearray(elf[sections[section][4] : sections[section][4] + sections[section][5]])
    for header in sections:
        if header[1] == _RELA and sections[header[7]][2] & _IS_CODE:
            _relocate(code, elf, header, section, symbols)
    kernels = {}
    for fields in _metadata(elf, sections):
        function, descriptor = named[fields[".name"]], named[fields[".symbol"]]
        if descriptor.size != _DESCRIPTOR_BYTES:
            raise CodeObjectError(f"{function.name}: a descriptor of {descriptor.size} bytes")
        place = sections[descriptor.section][4] + descriptor.place
        first, registers, properties = struct.unpack_from("<IIH", elf, place + 48)
        arguments = (Argument(of[".offset"], of[".size"], of[".value_kind"]) for of in fields[".args"])
        sizes = (".kernarg_segment_size", ".group_segment_fixed_size", ".private_segment_fixed_size")
        kernels[function.name] = Kernel(
            function.name, function.place, function.size, tuple(arguments), *(fields[name] for name in sizes),
            registers, properties, fields[".wavefront_size"], 8 * ((first & 63) + 1),
        )  # fmt: skip
    places = tuple((symbol.place, symbol.place + symbol.size) for symbol in functions)
    return CodeObject(bytes(code), places, kernels)


def _symbols(elf: bytes, header: tuple[int, ...], sections: list[tuple[int, ...]]) -> list[_Symbol]:
    names, found = sections[header[6]][4], []
    for place in range(header[4], header[4] + header[5], 24):
        name, info, _other, section, value, size = struct.unpack_from("<IBBHQQ", elf, place)
        end = elf.index(b"\0", names + name)
        found.append(_Symbol(elf[names + name : end].decode(), info & 15, section, value, size))
    return found


def _relocate(code: bytearray, elf: bytes, header: tuple[int, ...], section: int, symbols: list[_Symbol]) -> None:
    """Write the distances to other functions into *code*; they are the only relocations that it may have."""
    for at in range(header[4], header[4] + header[5], 24):
        place, info, addend = struct.unpack_from("<QQq", elf, at)
        symbol, kind = symbols[info >> 32], info & 0xFFFFFFFF
        if kind not in (_RELATIVE_LOW, _RELATIVE_HIGH) or symbol.section != section:
            raise CodeObjectError(f"relocation {kind} of {symbol.name or 'a section'}")
        distance = symbol.place + addend - place
        word = distance >> (32 if kind == _RELATIVE_HIGH else 0)
        struct.pack_into("<I", code, place, word & 0xFFFFFFFF)


def _metadata(elf: bytes, sections: list[tuple[int, ...]]) -> list[dict[str, Any]]:
    """Return the metadata of all kernels, which a note holds as MessagePack."""
    for header in sections:
        if header[1] == _NOTE:
            name_size, size, _kind = struct.unpack_from("<III", elf, header[4])
            first = header[4] + 12 + -(-name_size // 4) * 4
            found, _ = _unpacked(elf[first : first + size], 0)
            kernels: list[dict[str, Any]] = found["amdhsa.kernels"]
            return kernels
    raise CodeObjectError("no note with metadata")


def _unpacked(data: bytes, at: int) -> tuple[Any, int]:
    """Return the value of MessagePack at byte *at*, and the first byte behind it. Only kinds in notes are known."""
    kind, at = data[at], at + 1
    if kind < 0x80:
        return kind, at
    if kind < 0x90 or kind in (0xDE, 0xDF):
        n, at = (kind & 15, at) if kind < 0x90 else _number(data, at, 2 << (kind - 0xDE))
        pairs = {}
        for _ in range(n):
            key, at = _unpacked(data, at)
            pairs[key], at = _unpacked(data, at)
        return pairs, at
    if kind < 0xA0 or kind in (0xDC, 0xDD):
        n, at = (kind & 15, at) if kind < 0xA0 else _number(data, at, 2 << (kind - 0xDC))
        items = []
        for _ in range(n):
            item, at = _unpacked(data, at)
            items.append(item)
        return items, at
    if kind < 0xC0 or kind in (0xD9, 0xDA, 0xDB):
        n, at = (kind & 31, at) if kind < 0xC0 else _number(data, at, 1 << (kind - 0xD9))
        return data[at : at + n].decode(), at + n
    if kind in (0xC2, 0xC3):
        return kind == 0xC3, at
    if 0xCC <= kind <= 0xCF:
        return _number(data, at, 1 << (kind - 0xCC))
    if kind >= 0xE0:
        return kind - 256, at
    raise CodeObjectError(f"metadata of kind {kind:#x}")


def _number(data: bytes, at: int, n_bytes: int) -> tuple[int, int]:
    return int.from_bytes(data[at : at + n_bytes], "big"), at + n_bytes
