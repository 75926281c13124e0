"""Loads whose items do not depend on each other: the two of the study, and irregular ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from clgraph.hetero import Kernel, Output, Work, elementwise, map_rows

BLOCK = 256  # characters that a work-item looks at
TILE = 32
GROUP = 256
PRODUCT = "result = 0; for (int k = 0; k < length; k++) result += row[k] * vector[columns[k]];"


def string_search(patterns: Sequence[bytes]) -> Work:
    """Return the work of counting each of *patterns* in a text, an array of bytes; matches may overlap."""
    joined = np.frombuffer(b"".join(patterns), np.uint8)
    offsets = np.cumsum([0, *map(len, patterns)]).astype(np.int32)
    longest = max(map(len, patterns))

    def cut(text: NDArray[np.uint8], start: int, stop: int) -> dict[str, Any]:
        part = text[start * BLOCK : stop * BLOCK + longest - 1]  # matches of the last block may end in the next one
        return {"text": part, "n_bytes": part.size, "n_patterns": len(patterns)}

    return Work(
        Kernel("hetero/string_search.cl", "string_search", {"BLOCK": BLOCK}),
        count=lambda text: -(-text.size // BLOCK),
        cut=cut,
        outputs={"counts": Output(np.int32, (len(patterns),))},
        shared=lambda _text: {"patterns": joined, "pattern_offsets": offsets},
        collect=lambda _text, outputs: outputs["counts"].sum(0, dtype=np.int64),
    )


def matrix_multiply() -> Work:
    """Return the work of multiplying two matrices of floats; an item is a row of the left one."""

    def cut(load: Any, start: int, stop: int) -> dict[str, Any]:
        left, right = load
        return {"left": left[start:stop].reshape(-1), "depth": left.shape[1], "n_columns": right.shape[1]}

    def work_items(n: int, values: Any) -> int:
        return -(-n // TILE) * -(-values["n_columns"] // TILE) * GROUP

    return Work(
        Kernel("hetero/matrix_multiply.cl", "matrix_multiply", {"TILE": TILE}, GROUP, work_items),
        count=lambda load: len(load[0]),
        cut=cut,
        outputs=lambda load: {"product": Output(np.float32, (load[1].shape[1],))},
        shared=lambda load: {"right": load[1].reshape(-1)},
        grain=TILE,
    )


def sparse_product(vector: NDArray[np.float32]) -> Work:
    """Return the work of multiplying a CSR matrix of floats by *vector*; an item is a row."""
    return map_rows(PRODUCT, dtype=np.float32, sparse=True, shared={"vector": vector})


def polynomial(n_terms: int) -> Work:
    """Return the work of evaluating a polynomial of *n_terms* terms at each number of an array."""
    terms = "1.0f"
    for _ in range(n_terms):
        terms = f"fma({terms}, x * 0.5f, 0.25f)"
    return elementwise(terms, inputs={"x": np.float32}, dtype=np.float32)


def polynomial_of(x: NDArray[np.float32], n_terms: int) -> NDArray[np.float64]:
    """Return the right answer of :func:`polynomial` for numbers from 0 to 1, a geometric series."""
    half = 0.5 * x.astype(np.float64)
    power = half**n_terms
    return power + 0.25 * (1 - power) / (1 - half)


def text_with(patterns: Sequence[bytes], n_bytes: int, seed: int = 0) -> NDArray[np.uint8]:
    """Return random small letters, with *patterns* at random places."""
    rng = np.random.default_rng(seed)
    text = rng.integers(97, 123, n_bytes, dtype=np.uint8)
    for pattern in patterns:
        for at in rng.integers(0, max(1, n_bytes - len(pattern)), max(1, n_bytes // 4096)):
            text[at : at + len(pattern)] = np.frombuffer(pattern, np.uint8)[: n_bytes - at]
    return text


def count_in(text: NDArray[np.uint8], patterns: Sequence[bytes]) -> list[int]:
    """Return the number of places of each pattern in *text*; they may overlap."""
    content = text.tobytes()
    return [len(re.findall(b"(?=" + re.escape(pattern) + b")", content)) for pattern in patterns]


def power_law_matrix(n_rows: int, n_columns: int, mean: float, seed: int = 0) -> sp.csr_matrix:
    """Return a matrix whose rows have lengths of a power law, the longest first: equal parts are unequal work."""
    rng = np.random.default_rng(seed)
    lengths = np.sort(rng.pareto(1.5, n_rows))[::-1]
    lengths = np.minimum(n_columns, np.ceil(lengths * mean / lengths.mean())).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = rng.integers(0, n_columns, offsets[-1], dtype=np.int32)
    values = rng.random(offsets[-1], dtype=np.float32)
    return sp.csr_matrix((values, columns, offsets), (n_rows, n_columns))
