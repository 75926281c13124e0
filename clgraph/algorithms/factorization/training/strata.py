"""A matrix of ratings cut into a grid of blocks.

Training takes one stratum of blocks at a time.

The blocks of a stratum have no user and no item in common, so steps on different blocks cannot conflict.
After R. Gemulla, E. Nijkamp, P. J. Haas, Y. Sismanis, "Large-Scale Matrix Factorization with Distributed Stochastic
Gradient Descent", KDD 2011.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import Factors
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.data.ratings.ratings import Ratings


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
    order = np.argsort(-counts, kind="stable")
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

    Stratum s has the blocks (d, (d + s) % n) for all d, which share no user or item.

    Attributes
    ----------
    ratings : Ratings
    users, items : Cut
    blocks : list of list of Ratings
        ``blocks[d][q]`` has the ratings of items of block q by users of block d, numbered within the blocks.
    """

    def __init__(self, ratings: Ratings, n_blocks: int) -> None:
        self.ratings, self.n_blocks = ratings, n_blocks
        self.users = cut(np.diff(ratings.user_offsets), n_blocks)
        self.items = cut(np.diff(ratings.item_offsets), n_blocks)
        self.blocks = self.blocks_of(ratings)

    def problems(self, problem: FactorizationProblem) -> list[list[FactorizationProblem]]:
        """Return *problem*, whose ratings were cut, with the ratings and weights of each block."""
        weights, n = problem.weights, self.n_blocks
        parts = [None] * n**2 if weights is None else [weights[part] for part in self._positions(problem.ratings)]
        return [
            [replace(problem, ratings=self.blocks[d][q], weights=parts[d * n + q]) for q in range(n)] for d in range(n)
        ]

    def blocks_of(self, ratings: Ratings) -> list[list[Ratings]]:
        """Return the blocks of *ratings*, which may be other ratings of the same users and items."""
        users, items, made = self.users, self.items, []
        for k, part in enumerate(self._positions(ratings)):
            shape = [side.members[b].size for side, b in zip((users, items), divmod(k, self.n_blocks), strict=True)]
            columns = users.place[ratings.users[part]], items.place[ratings.items[part]], ratings.values[part]
            made.append(Ratings(*columns, *shape, copy=False))
        return [made[k : k + self.n_blocks] for k in range(0, len(made), self.n_blocks)]

    def _positions(self, ratings: Ratings) -> list[NDArray[np.int64]]:
        """Return the positions of each block's ratings in *ratings*, block by block."""
        users, items = self.users, self.items
        cell = users.block[ratings.users] * np.int32(self.n_blocks) + items.block[ratings.items]
        # Blocks keep the order of users and items, so after a stable sort by block, a block's ratings stay sorted.
        # The block numbers are small integers, for which numpy's stable sort is a fast radix sort.
        order = np.argsort(cell.astype(np.min_scalar_type(self.n_blocks**2)), kind="stable")
        return np.split(order, np.cumsum(np.bincount(cell, minlength=self.n_blocks**2))[:-1])

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
