"""Ways to damage the files of ``fuzz_readers.py``: bytes, words and lines, JSON documents, arrays of archives."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Damage = Callable[[bytes, Generator], bytes]
EXTREMES = (
    "0", "-1", "1", "1.5", "2147483647", "2147483648", "-2147483649", "4294967296", "9223372036854775807",
    "9223372036854775808", "-9223372036854775809", "99999999999999999999", "1073741824", "1e5", "1e38", "1e39", "1e308",
    "1e309", "-1e309", "1e-400", "nan", "inf", "-inf", "infinity", "0x10", "1_0", "x", ".", "1e", "+1", ".5", "5.",
    "--1", "²", "a", "p", "c", "%", "#", ",", "::", "true", "null", "\0", "\n", "", " ", "\t", "\r\n", "\ufeff",
    "1" + "0" * 400, "9" * 5000,
)  # fmt: skip
DTYPES = ("?", "i1", "u1", "i2", "u4", "i8", "u8", "f2", "f4", "f8", "f16", "c8", "U3", "S2", "M8[s]", ">i4", ">f4")


def damage_bytes(content: bytes, rng: Generator) -> bytes:
    """Flip a bit, cut, insert, remove, repeat or overwrite; as likely near the end, where archives have their table."""
    size = len(content)
    at = int(rng.integers(max(0, size - 300) if rng.random() < 0.5 else 0, size + 1))
    n = int(rng.integers(1, 9)) if rng.random() < 0.7 else int(rng.integers(1, 200))
    before, after = content[:at], content[at:]
    flipped = bytes([after[0] ^ (1 << rng.integers(8))]) if after else b""
    changed = (
        before + flipped + after[1:], before + flipped + after[1:], before, before + rng.bytes(n) + after,
        before + after[n:], before + after[:n] + after, before + rng.bytes(n) + after[n:],
        before + bytes([rng.choice([0, 127, 128, 255])]) * n + after[n:],
    )  # fmt: skip
    return changed[rng.integers(len(changed))]


def damage_text(content: bytes, rng: Generator) -> bytes:
    """Replace a word, or remove, repeat, swap or join lines; as likely among the first lines, where headers are."""
    lines = content.split(b"\n")
    i, j = (int(k) for k in rng.integers(min(len(lines), 4) if rng.random() < 0.5 else len(lines), size=2))
    way = rng.integers(8)
    if way == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif way == 1:
        lines.insert(j, lines[i])
    elif way == 2:
        del lines[i]
    elif way == 3:
        lines[i : i + 2] = [b" ".join(lines[i : i + 2])]
    else:
        words = re.split(rb"([\s,:]+)", lines[i])
        word = EXTREMES[rng.integers(len(EXTREMES))].encode()
        at = int(rng.integers(len(words)))
        words[at] = word if rng.random() < 0.8 else words[at] + word
        lines[i] = b"".join(words)
    return b"\n".join(lines)


def damage_document(content: bytes, rng: Generator) -> bytes:
    """Replace, remove or rename one member of a JSON document, or nest very deeply."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return damage_bytes(content, rng)
    places: list[tuple[Any, Any]] = [({"": document}, "")]
    for container, key in places:
        inner = container[key]
        if isinstance(inner, dict | list):
            places += [(inner, k) for k in (inner if isinstance(inner, dict) else range(len(inner)))]
    if len(places) == 1:
        return damage_text(content, rng)
    container, key = places[rng.integers(1, len(places))]
    values: list[Any] = [
        None, True, False, -1, 0, 1, 1.5, 10**18, 10**400, 2.0**1000, 5e-324, "", "x", [], {}, [[]], {"1": 1},
        {"x": {}}, float("nan"), float("inf"), -float("inf"), "deep", "digits", *(c[k] for c, k in places),
    ]  # fmt: skip
    value, way = values[rng.integers(len(values))], rng.integers(6)
    if way == 0:
        del container[key]
    elif way == 1 and isinstance(container, dict):
        container[EXTREMES[rng.integers(len(EXTREMES))]] = container.pop(key)
    else:
        container[key] = copy.deepcopy(value)
    text = json.dumps(document)
    for name, long in (("deep", "[" * 100_000 + "]" * 100_000), ("digits", "7" * 5000)):
        text = text.replace(f'"{name}"', long)
    return text.encode()


class Unpickled:
    """Raises an exception that no reader catches when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("raise SystemExit('a pickle was loaded')",)


def damage_archive(content: bytes, rng: Generator) -> bytes:
    """Change one member of an .npz archive: its header, values, type, shape, order or name; the zip file is right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if not members:
        return content
    name = list(members)[rng.integers(len(members))]
    way = rng.integers(9)
    if way == 0:
        members[EXTREMES[rng.integers(len(EXTREMES))].replace("\0", "0")[:99] + ".npy"] = members.pop(name)
    elif way == 1:
        del members[name]
    elif way == 2:
        members[name] = damage_bytes(members[name], rng)
    elif way == 3:
        head = members[name][10:127].replace(b"(", b" ( ").replace(b")", b" ) ").replace(b"'", b" ' ")
        head = damage_text(re.sub(rb" +", b" ", head).replace(b" ' ", b"'"), rng)[:60_000].ljust(117) + b"\n"
        members[name] = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + members[name][128:]
    else:
        members[name] = _other_array(members[name], way, rng)
    made = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if rng.random() < 0.3 else zipfile.ZIP_STORED
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member, method)
    return made.getvalue()


def _other_array(member: bytes, way: int, rng: Generator) -> bytes:
    try:
        array = np.load(io.BytesIO(member))
    except Exception:
        return member
    with np.errstate(all="ignore"):
        if way == 4:
            array = _other_value(array, rng)
        elif way == 5:
            with contextlib.suppress(ValueError, OverflowError, RuntimeError):  # the last is of dates
                array = array.astype(DTYPES[rng.integers(len(DTYPES))])
        elif way == 6:
            flat = array.reshape(-1)
            shapes = (array[None], flat, array[..., None], flat[:0], np.zeros((0, 2**40), array.dtype))
            shapes += (flat[: rng.integers(flat.size + 1)], np.repeat(flat, 2), np.resize(flat, ()))
            array = shapes[rng.integers(len(shapes))]
        elif way == 7:
            array = np.asfortranarray(array if array.ndim > 1 else np.tile(array, (2, 1)))
        else:
            array = np.array([Unpickled(), 1], object)
    made = io.BytesIO()
    np.save(made, array)
    return made.getvalue()


def damage_cache(content: bytes, rng: Generator) -> bytes:
    """Damage a cache file and give it the checksum that fits."""
    if rng.random() < 0.5:
        head = damage_document(content[25:4096].strip(), rng).ljust(4071)
        content = content[:25] + head + content[4096:]
    else:
        content = damage_bytes(content, rng)
    return content[:16] + b"%08x\n" % zlib.crc32(content[25:]) + content[25:]


def _other_value(array: NDArray[Any], rng: Generator) -> NDArray[Any]:
    try:
        values = array.reshape(-1).tolist()
    except SystemError:  # An earlier damage has made a text with a character that is none.
        values = []
    if not values:
        return array
    at = int(rng.integers(len(values)))
    if array.dtype.kind == "U":
        damage = damage_document if array.ndim == 0 else damage_text
        values[at] = damage(values[at].encode(), rng).decode("utf-8", "replace")
        return np.array(values).reshape(array.shape)
    extremes = (0, -1, 1, 2**31 - 1, 2**31, 2**62, -(2**63), np.nan, np.inf, 1e30, 1e300)
    other = array.reshape(-1).copy()
    other[at] = np.asarray(extremes[rng.integers(len(extremes))]).astype(array.dtype)
    return other.reshape(array.shape)
