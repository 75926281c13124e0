"""Hash functions of vertex numbers, from 32 bits to 32 bits.

``cl/common/hashes.h`` computes the same values.

The colour of a vertex is the low bits of its hash. The functions are listed in the order of :data:`HASHES`; the first
15 are used by default:

=====================  ================================================================================================
``murmur3``            finaliser of MurmurHash3, A. Appleby, 2011
``fibonacci``          multiplication by 2**32 over the golden ratio, its high bits first; D. Knuth, "The Art of
                       Computer Programming" 3, section 6.4
``xorshift``           one step of the generator (13, 17, 5), G. Marsaglia, "Xorshift RNGs", 2003; linear
``tabulation``         exclusive or of a random word for each byte, J. L. Carter, M. N. Wegman, "Universal classes of
                       hash functions", 1979; the words are ``murmur3`` of 1024 fixed numbers
``lowbias32``          two multiplications found by search, C. Wellons, "Prospecting for hash functions", 2018
``splitmix64``         first number of the generator seeded with the vertex, G. Steele, D. Lea, C. Flood, "Fast
                       splittable pseudorandom number generators", 2014
``jenkins``            six rounds of shifts and additions, B. Jenkins, "4-byte integer hashing"
``wang``               shifts, additions and a multiplication, T. Wang, "Integer hash function", 1997
``mueller``            the same constant twice, between shifts by 16, T. Mueller, 2012
``pcg``                one step of PCG-RXS-M-XS, M. O'Neill, 2014; as a hash M. Jarzynski, M. Olano, "Hash functions
                       for GPU rendering", 2020
``fnv1a``              FNV-1a of the four bytes, G. Fowler, L. C. Noll, K.-P. Vo, 1991
``xxhash32``           xxHash32 of the four bytes with seed 0, Y. Collet, 2012
``one_at_a_time``      hash of the four bytes, B. Jenkins, "Hash functions", Dr. Dobb's Journal, 1997
``identity``           the vertex itself: neighbours in a band never collide
``bit_reversal``       the vertex with its low 16 bits reversed: blocks of consecutive vertices share a colour
``triple32``           three multiplications found by search, C. Wellons, 2018
``crc32c``             cyclic redundancy check of the four bytes, G. Castagnoli and others, 1993; linear
``gray``               the Gray code of the vertex
=====================  ================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = Any  # Arrays of uint32. The alias is Any, because numpy's stubs type a shifted array as signed.


def _mixed(x: Words, *steps: tuple[int, int], last: int) -> Words:
    """Return *x* after several xorshifts, each followed by a multiplication, and a final xorshift by *last* bits.

    *steps* are pairs of a shift and a factor.
    """
    for shift, factor in steps:
        x = (x ^ (x >> shift)) * np.uint32(factor)
    return x ^ (x >> last)


def _murmur3(x: Words) -> Words:
    return _mixed(x, (16, 0x85EBCA6B), (13, 0xC2B2AE35), last=16)


def _reversed_bits(x: Words) -> Words:
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        x = ((x >> shift) & np.uint32(mask)) | ((x & np.uint32(mask)) << shift)
    return x


def _fibonacci(x: Words) -> Words:
    return _reversed_bits(x * np.uint32(0x9E3779B9))


def _xorshift(x: Words) -> Words:
    x = x ^ (x << 13)
    x = x ^ (x >> 17)
    return x ^ (x << 5)


def _tabulation(x: Words) -> Words:
    hashed = np.zeros_like(x)
    for byte in range(4):
        hashed ^= _murmur3(((x >> (8 * byte)) & np.uint32(255)) + np.uint32(256 * byte + 1))
    return hashed


def _lowbias32(x: Words) -> Words:
    return _mixed(x, (16, 0x7FEB352D), (15, 0x846CA68B), last=16)


def _splitmix64(x: Words) -> Words:
    z = x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))).astype(np.uint32)


def _jenkins(x: Words) -> Words:
    x = (x + np.uint32(0x7ED55D16)) + (x << 12)
    x = (x ^ np.uint32(0xC761C23C)) ^ (x >> 19)
    x = (x + np.uint32(0x165667B1)) + (x << 5)
    x = (x + np.uint32(0xD3A2646C)) ^ (x << 9)
    x = (x + np.uint32(0xFD7046C5)) + (x << 3)
    return (x ^ np.uint32(0xB55A4F09)) ^ (x >> 16)


def _wang(x: Words) -> Words:
    x = (x ^ np.uint32(61)) ^ (x >> 16)
    x = x + (x << 3)
    x = (x ^ (x >> 4)) * np.uint32(0x27D4EB2D)
    return x ^ (x >> 15)


def _mueller(x: Words) -> Words:
    return _mixed(x, (16, 0x45D9F3B), (16, 0x45D9F3B), last=16)


def _pcg(x: Words) -> Words:
    state = x * np.uint32(747796405) + np.uint32(2891336453)
    word = ((state >> ((state >> 28) + np.uint32(4))) ^ state) * np.uint32(277803737)
    return (word >> 22) ^ word


def _fnv1a(x: Words) -> Words:
    hashed = np.full_like(x, 0x811C9DC5)
    for byte in range(4):
        hashed = (hashed ^ ((x >> (8 * byte)) & np.uint32(255))) * np.uint32(0x01000193)
    return hashed


def _xxhash32(x: Words) -> Words:
    hashed = np.uint32(0x165667B1 + 4) + x * np.uint32(0xC2B2AE3D)
    hashed = ((hashed << 17) | (hashed >> 15)) * np.uint32(0x27D4EB2F)
    hashed = (hashed ^ (hashed >> 15)) * np.uint32(0x85EBCA77)
    hashed = (hashed ^ (hashed >> 13)) * np.uint32(0xC2B2AE3D)
    return hashed ^ (hashed >> 16)


def _one_at_a_time(x: Words) -> Words:
    hashed = np.zeros_like(x)
    for byte in range(4):
        hashed = hashed + ((x >> (8 * byte)) & np.uint32(255))
        hashed = hashed + (hashed << 10)
        hashed = hashed ^ (hashed >> 6)
    hashed = hashed + (hashed << 3)
    hashed = hashed ^ (hashed >> 11)
    return hashed + (hashed << 15)


def _identity(x: Words) -> Words:
    return x.copy()


def _bit_reversal(x: Words) -> Words:
    return (x & np.uint32(0xFFFF0000)) | (_reversed_bits(x) >> 16)


def _triple32(x: Words) -> Words:
    return _mixed(x, (17, 0xED5AD4BB), (11, 0xAC4C1B51), (15, 0x31848BAB), last=14)


def _crc32c(x: Words) -> Words:
    x = ~x
    for _ in range(32):
        x = (x >> 1) ^ (np.uint32(0x82F63B78) * (x & np.uint32(1)))
    return ~x


def _gray(x: Words) -> Words:
    return x ^ (x >> 1)


HASHES: dict[str, Callable[[Words], Words]] = {
    "murmur3": _murmur3,
    "fibonacci": _fibonacci,
    "xorshift": _xorshift,
    "tabulation": _tabulation,
    "lowbias32": _lowbias32,
    "splitmix64": _splitmix64,
    "jenkins": _jenkins,
    "wang": _wang,
    "mueller": _mueller,
    "pcg": _pcg,
    "fnv1a": _fnv1a,
    "xxhash32": _xxhash32,
    "one_at_a_time": _one_at_a_time,
    "identity": _identity,
    "bit_reversal": _bit_reversal,
    "triple32": _triple32,
    "crc32c": _crc32c,
    "gray": _gray,
}


def hash_colors(name: str, n_vertices: int, bits: int) -> NDArray[np.int32]:
    """Return a colour of *bits* bits for each vertex, 0 … 2**bits − 1, by the hash function *name*;
    *bits* is 1 … 31.
    """
    hashed = HASHES[name](np.arange(n_vertices, dtype=np.uint32))
    colors: NDArray[np.int32] = (hashed & np.uint32((1 << bits) - 1)).view(np.int32)
    return colors


def order_key(seed: int) -> int:
    """Return the 32-bit key that makes a random order of vertices depend on *seed*.

    The order goes by the hash ``murmur3`` of the vertex xor the key. The offset 9 saves colours on meshes for seed 0.
    """
    return (seed + 9) * 0x9E3779B9 & 0xFFFFFFFF
