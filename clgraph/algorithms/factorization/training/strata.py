"""A matrix of ratings cut into a grid of blocks.

Training takes one stratum of blocks at a time.

The blocks of a stratum have no user and no item in common, so steps on different blocks cannot conflict.
After R. Gemulla, E. Nijkamp, P. J. Haas, Y. Sismanis, "Large-Scale Matrix Factorization with Distributed Stochastic
Gradient Descent", KDD 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import Factors
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import by_descending_degree
from clgraph.data.graphs.pairs import in_threads
from clgraph.data.ratings.ratings import Ratings
from clgraph.data.ratings.stats import chunks

_ALIGNMENT = 32  # ratings, or 128 bytes. A CPU reads an array in place only if it is aligned.


@dataclass(frozen=True)
class Cut:
    """A partition of the users, or of the items, into blocks for training on several devices.

    Attributes
    ----------
    block, place : int32 array, shape (n,)
        The block of each user or item, and its number within the block.
    members : tuple of int array
        The users or items of each block, in the order of these numbers.
    """

    block: NDArray[np.int32]
    place: NDArray[np.int32]
    members: tuple[NDArray[np.int64], ...]


def cut(counts: NDArray[np.int64], n_blocks: int) -> Cut:
    """Partition users or items into blocks with nearly equal numbers of ratings.

    *counts* has the ratings of each one.

    Users (or items) are dealt in descending order of ratings, alternately from the first block to the last and back.
    So each block gets some with many ratings and some with few. No block is empty.
    """
    order = np.concatenate([by_descending_degree(counts), np.flatnonzero(counts == 0)])
    turns = np.arange(counts.size) % (2 * n_blocks)
    block = np.empty(counts.size, np.int32)
    block[order] = np.minimum(turns, 2 * n_blocks - 1 - turns)
    members = tuple(np.flatnonzero(block == k) for k in range(n_blocks))
    place = np.empty(counts.size, np.int32)
    for who in members:
        place[who] = np.arange(who.size, dtype=np.int32)
    return Cut(block, place, members)


class Strata:
    """Ratings cut into n × n blocks.

    Stratum s has the blocks (d, (d + s) % n) for all d, which share no user or item. ``empty(size, dtype)`` returns an
    uninitialised array for the blocks.

    Attributes
    ----------
    users, items : Cut
    blocks : list of list of Ratings
        ``blocks[d][q]`` has the ratings of items of block q by users of block d, numbered within the blocks.
    """

    def __init__(self, ratings: Ratings, n_blocks: int, empty: Callable[[int, Any], NDArray[Any]] = np.empty) -> None:
        self.n_blocks, self._empty = n_blocks, empty
        self.users = cut(np.diff(ratings.user_offsets), n_blocks)
        self.items = cut(np.diff(ratings.item_offsets), n_blocks)
        self.blocks = self.blocks_of(ratings)

    def problems(self, problem: FactorizationProblem) -> list[list[FactorizationProblem]]:
        """Return *problem*, whose ratings were cut, with the ratings and weights of each block."""
        weights, n = problem.weights, self.n_blocks
        parts = [None] * n**2 if weights is None else self._parts(problem.ratings, (weights, None))[0]
        return [
            [replace(problem, ratings=self.blocks[d][q], weights=parts[d * n + q]) for q in range(n)] for d in range(n)
        ]

    def blocks_of(self, ratings: Ratings) -> list[list[Ratings]]:
        """Return the blocks of *ratings*, which may be other ratings of the same users and items."""
        n, shapes = self.n_blocks, [(u.size, i.size) for u in self.users.members for i in self.items.members]
        columns = (ratings.users, self.users.place), (ratings.items, self.items.place), (ratings.values, None)
        # Blocks keep the order of users and items, so the ratings of a block stay sorted.
        parts = zip(*self._parts(ratings, *columns), shapes, strict=True)
        made = [Ratings._trusted(users, items, values, *shape) for users, items, values, shape in parts]
        return [made[k : k + n] for k in range(0, n**2, n)]

    def _parts(self, ratings: Ratings, *columns: tuple[NDArray[Any], NDArray[Any] | None]) -> list[list[NDArray[Any]]]:
        """Return the parts of the *columns*, which have a value for each of the *ratings*: a part for each block.

        A part keeps the order of the ratings. If a column comes with an array, its values are positions in this array,
        whose elements the parts have. Several threads cut chunks of ratings, because chunks fit the cache.
        """
        n_cells, pieces = self.n_blocks**2, [*chunks(ratings.n_ratings)]
        # The numbers of blocks are small integers, for which numpy's stable sort is a fast radix sort.
        cells = np.empty(ratings.n_ratings, np.min_scalar_type(n_cells))
        rows = (self.users.block * np.int32(self.n_blocks)).astype(cells.dtype)
        places = self.items.block.astype(cells.dtype)

        def count(piece: slice) -> NDArray[np.intp]:
            np.add(rows.take(ratings.users[piece]), places.take(ratings.items[piece]), out=cells[piece])
            return np.bincount(cells[piece], minlength=n_cells)

        counts = np.reshape([*in_threads(count, pieces)], (-1, n_cells)).astype(np.int64)
        sizes = counts.sum(axis=0)
        room = -(-sizes // _ALIGNMENT) * _ALIGNMENT
        firsts = room.cumsum() - room
        ends = firsts + counts.cumsum(axis=0)
        made = [self._empty(int(room.sum()), column.dtype) for column, _ in columns]

        def fill(k: int) -> None:
            order, splits = cells[pieces[k]].argsort(kind="stable"), counts[k].cumsum()[:-1]
            for whole, (column, numbers) in zip(made, columns, strict=True):
                values = column[pieces[k]].take(order)
                values = values if numbers is None else numbers.take(values)
                for part, end in zip(np.split(values, splits), ends[k], strict=True):
                    whole[end - part.size : end] = part

        for _ in in_threads(fill, range(len(pieces))):
            pass
        return [[whole[first : first + size] for first, size in zip(firsts, sizes, strict=True)] for whole in made]

    def part(self, factors: Factors, d: int, q: int) -> Factors:
        """Return the part of *factors* for block d of the users and block q of the items."""
        who, what = self.users.members[d], self.items.members[q]
        members = (who, what, who, what)
        return Factors(*(a if a is None else a[m] for a, m in zip(factors, members, strict=True)))  # type: ignore[arg-type]

    def whole(self, parts: list[Factors]) -> Factors:
        """Return the factors of all users and items, where ``parts[d]`` has the factors of block d."""

        def joined(arrays: list[NDArray[np.float32] | None], side: Cut) -> NDArray[np.float32] | None:
            there = [array for array in arrays if array is not None]
            if not there:
                return None
            array = np.empty((side.block.size, *there[0].shape[1:]), np.float32)
            for members, part in zip(side.members, there, strict=True):
                array[members] = part
            return array

        sides = self.users, self.items, self.users, self.items
        columns = (list(column) for column in zip(*parts, strict=True))
        return Factors(*map(joined, columns, sides))  # type: ignore[arg-type]
