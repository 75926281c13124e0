"""Values that are wrong for most arguments."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp

import clgraph as cg


class Broken:
    """Raises whatever it is asked for."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("broken on purpose")

    __bool__ = __index__ = __int__ = __float__ = __len__ = __iter__ = __getitem__ = __array__ = __fspath__ = _refuse
    __hash__ = __eq__ = __lt__ = __contains__ = _refuse  # type: ignore[assignment]


class Liar:
    """Claims to be long, an index and a number, each wrongly."""

    def __len__(self) -> int:
        return 10**18

    def __getitem__(self, at: int) -> int:
        return at

    def __index__(self) -> int:
        return 10**30

    def __float__(self) -> float:
        return float("nan")


def _recursive() -> list[Any]:
    inner: list[Any] = [1]
    inner.append(inner)
    return inner


def _damaged() -> sp.csr_array:
    matrix = sp.csr_array(np.eye(4))
    matrix.indices = np.full(4, 10**6, np.int32)
    return matrix


HOSTILE: list[Callable[[], Any]] = [
    *(lambda value=value: value for value in (
        None, True, False, 0, 1, -1, 2, 2**31 - 1, 2**31, 2**63, 10**18, 10**400, -(10**400), 0.0, -0.0, 0.5, 1.0, -1.5,
        1e308, 1e-320, float("nan"), float("inf"), -float("inf"), 1j, "", "x", "auto", "\0", "a" * 10_000, b"x", b"\0",
        (), (1, 2), (1, 2, 3), Ellipsis, np, Fraction(1, 3), Decimal("0.5"), range(10**12), range(3), np.newaxis,
    )),
    lambda: [], lambda: {}, lambda: set(), lambda: [0, 1], lambda: [[1], [2, 3]], lambda: [None], lambda: ["a", 1],
    lambda: {"a": [1]}, lambda: [float("nan")] * 2, lambda: [2**64, -1], lambda: [[]], lambda: [Broken()], _recursive,
    object, Broken, Liar, itertools.count, lambda: iter([1, 2]), lambda: print, lambda: memoryview(b"abcd"), bytearray,
    *(lambda dtype=dtype: np.dtype(dtype).type(1) for dtype in "?bBhHiIlLqQefdgFDG"),
    *(
        lambda dtype=dtype: np.array([0, 1, 2]).astype(dtype)
        for dtype in ("?", "u1", ">i4", "u8", "f2", "g", "O", "S", "M8[s]")
    ),
    lambda: np.datetime64("NaT"), lambda: np.str_("x"), lambda: np.void(b"xy"), lambda: np.array(3),
    lambda: np.array("x"), lambda: np.zeros(0), lambda: np.zeros((2, 2)), lambda: np.zeros((0, 3), int),
    lambda: np.array([True, False]),
    lambda: np.array([2**64 - 1, 0], np.uint64), lambda: np.array([np.nan, np.inf, -np.inf]),
    lambda: np.zeros(2, "i4,f8"),
    lambda: np.ma.MaskedArray([0, 1, 2], [False, True, False]), lambda: np.broadcast_to(np.int32(1), 10**9),
    lambda: np.random.default_rng(1), lambda: np.random.SeedSequence(1),
    lambda: sp.csr_array((0, 0)), lambda: sp.coo_array((3, 5)), lambda: sp.csr_array(np.eye(3) * 1j), _damaged,
    lambda: sp.coo_array((2**31, 2**31)), lambda: sp.coo_array((2**40, 2)), lambda: sp.eye_array(3) * np.nan,
    nx.Graph, lambda: nx.DiGraph([("a", "b")]), lambda: nx.Graph([(0, 1, {"weight": "x"})]),
    lambda: cg.Graph([0], []), lambda: cg.generators.star(3), lambda: cg.Ratings([], [], [], 0, 0),
]  # fmt: skip

# What is nearly right: a good array in another form, or with one wrong element.
TWISTS: list[Callable[[np.ndarray[Any, Any]], Any]] = [
    *(lambda a, dtype=dtype: a.astype(dtype) for dtype in ("O", ">i8", "u1", "u8", "f8", "?", "S", "c8")),
    *(lambda a, value=value: np.array([value, *a.tolist()[1:]]) for value in (-1, 2**31, 2**64 - 1, 0.5, np.nan, None)),
    lambda a: np.ma.MaskedArray(a, np.arange(a.size) == a.size - 1), lambda a: np.repeat(a, 2)[::2], lambda a: a[::-1],
    lambda a: np.frombuffer(a.tobytes(), a.dtype), lambda a: memoryview(a), lambda a: a[:-1], lambda a: a[:, None],
]  # fmt: skip
