"""Counter-based random words, a function of seed, stream and position.

``cl/common/philox.h`` makes the same words.

The function is Philox4x64-10 of J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy
as 1, 2, 3", SC 2011. numpy provides it as a bit generator.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.pairs import in_threads
from clgraph.progress import begin

BLOCK = 4  # Number of random words that Philox makes from each value of its counter.
# Number of random items that are drawn together, so that they fit the second-level cache of a CPU core.
CHUNK = 1 << 16
_LOW = np.uint64(2**32 - 1)


def key_of(seed: int) -> tuple[int, int]:
    """Return the two words of Philox's key for *seed*.

    A seed of more than 128 bits is hashed to 128 bits.
    """
    if seed >> 128:
        seed = int.from_bytes(np.random.SeedSequence(seed).generate_state(4).tobytes(), "little")
    return seed % 2**64, seed >> 64


def random_words(key: tuple[int, int], stream: int, first_block: int, count: int) -> NDArray[np.uint64]:
    """Return *count* random 64-bit words of stream number *stream*, from the block *first_block* on.

    Block b has the four words that Philox makes from the counter (b, *stream*, 0, 0).
    """
    # numpy increments the counter of Philox before it draws the first word, so the counter starts one below.
    before = ((stream << 64) + first_block - 1) % 2**256
    philox = np.random.Philox(counter=before, key=key[0] | key[1] << 64)
    # integers() returns the raw words of the bit generator if all 64-bit integers are allowed.
    return np.random.Generator(philox).integers(0, 2**64, count, dtype=np.uint64)


def random_shorts(key: tuple[int, int], stream: int, first_block: int, count: int) -> NDArray[np.uint16]:
    """Return *count* random numbers of 16 bits.

    Each random word is cut into four numbers, its lowest bits first.
    """
    words = random_words(key, stream, first_block, -(-count // 4))
    return words.astype("<u8", copy=False).view("<u2")[:count]


def below(words: NDArray[np.uint64], n: int) -> NDArray[np.uint64]:
    """Map each random word to a number in [0, *n*): the high 64 bits of the product of the word and *n*."""
    n_high, n_low = np.uint64(n >> 32), np.uint64(n & 0xFFFFFFFF)
    high, low = words >> np.uint64(32), words & _LOW
    low *= n_low
    low >>= np.uint64(32)
    if not n_high:
        high *= n_low
        high += low
        high >>= np.uint64(32)
        return high
    low += high * n_low
    middle = (words & _LOW) * n_high + (low & _LOW)
    product: NDArray[np.uint64] = high * n_high + (low >> np.uint64(32)) + (middle >> np.uint64(32))
    return product


def in_chunks(what: str, unit: str, total: int, make: Callable[[slice], None], share: int = 1) -> None:
    """Call *make* with each slice of *total* items, in several threads, and report the progress.

    A slice has ``CHUNK // share`` items.
    """
    tell = begin(what, total, unit)
    chunk = CHUNK // share
    parts = [slice(start, min(start + chunk, total)) for start in range(0, total, chunk)]
    for part, _ in zip(parts, in_threads(make, parts), strict=True):
        tell(part.stop)
