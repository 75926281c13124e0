"""Matrix factorisation by stochastic gradient descent, under every way to keep two steps off one vertex.

Strategies
----------
``edge_locked``
    Work-items take ratings and lock both vertices; what is locked is put off to the next pass [1]_.
``node_locked``
    A team of work-items owns an item and locks only the users [1]_.
``hybrid_locked``
    One pass of ``node_locked`` runs first, then ``edge_locked`` takes what is left [1]_.
``hogwild``
    There are no locks, and races are accepted: this baseline does not keep the serial semantics [2]_.
``matching_edge``
    Maximal matchings are taken one after the other; each rating has a slot (AGM-E [1]_).
``matching_node``
    Matchings are taken inside blocks of items, whose rows stay with their slots (AGM-N [1]_).
``subgraph_matching``
    It works as ``matching_node``, but items are sorted by degree, and each block has matchings of its own (SGM [1]_).
``diagonal``
    The diagonals of the matrix are taken one after the other (Diag [1]_).
``block_diagonal``
    Block-diagonals are taken one after the other; a work-group has the rows of its block in local memory
    (BlkDiag [1]_).
``block_grid``
    The matrix is a grid of p × p blocks, of which p run at a time, each on a sub-group [3]_.

References
----------
.. [1] R. Kaleem, A. Venkat, S. Pai, M. Hall, K. Pingali. "Synchronization Trade-offs in GPU Implementations of
   Graph Algorithms." IPDPS 2016.
.. [2] B. Recht, C. Re, S. Wright, F. Niu. "Hogwild!: A Lock-Free Approach to Parallelizing Stochastic Gradient
   Descent." NIPS 2011.
.. [3] Y. Zhuang, W.-S. Chin, Y.-C. Juan, C.-J. Lin. "A Fast Parallel SGD for Matrix Factorization in Shared
   Memory Systems." RecSys 2013.
"""
from __future__ import annotations

from typing import get_args

import numpy as np

from clgraph.algorithms.factorization import work
from clgraph.algorithms.factorization.block_diagonal import BlockDiagonal
from clgraph.algorithms.factorization.block_grid import BlockGrid
from clgraph.algorithms.factorization.diagonal import Diagonal
from clgraph.algorithms.factorization.edge_locked import EdgeLocked
from clgraph.algorithms.factorization.factors import MAX_RANK, Storage, row_layout
from clgraph.algorithms.factorization.hogwild import Hogwild
from clgraph.algorithms.factorization.hybrid_locked import HybridLocked
from clgraph.algorithms.factorization.matching_edge import MatchingEdge
from clgraph.algorithms.factorization.matching_node import MatchingNode
from clgraph.algorithms.factorization.node_locked import NodeLocked
from clgraph.algorithms.factorization.subgraph_matching import SubgraphMatching
from clgraph.arguments import check_choice, checked_count, checked_flag
from clgraph.data.ratings import Ratings
from clgraph.model.strategy import Choice, Strategy, choose
from clgraph.runtime.session import Session

STRATEGIES: dict[str, Strategy] = {
    "edge_locked": Strategy("online", EdgeLocked, work.whole("edge_locked")),
    "node_locked": Strategy("online", NodeLocked, work.whole("node_locked")),
    "hybrid_locked": Strategy("online", HybridLocked, work.whole("hybrid_locked")),
    "hogwild": Strategy("online", Hogwild, work.whole("hogwild")),
    "matching_edge": Strategy("offline", MatchingEdge, work.whole("matching_edge")),
    "matching_node": Strategy("offline", MatchingNode, work.whole("matching_node")),
    "subgraph_matching": Strategy("offline", SubgraphMatching, work.whole("subgraph_matching")),
    "diagonal": Strategy("offline", Diagonal, work.whole("diagonal")),
    "block_diagonal": Strategy("offline", BlockDiagonal, work.whole("block_diagonal")),
    "block_grid": Strategy("offline", BlockGrid, work.whole("block_grid")),
}
_RACY = "hogwild"  # never picked by "auto": the caller must accept lost steps by name


def choose_strategy(
    session: Session, ratings: Ratings, *, rank: int = 16, n_sweeps: int = 20, storage: Storage = "float32",
    biases: bool = False, strategy: str = "auto",
) -> Choice:
    """Return *strategy*, or for ``"auto"`` the one that the cost model predicts to be fastest.

    Parameters
    ----------
    session : Session
    ratings : Ratings
    rank : int
        Number of factors, 1 … 128.
    n_sweeps : int
        Sweeps wanted. The predicted seconds cover the preprocessing and all of them.
    storage : {"float32", "float16"}
    biases : bool
    strategy : str

    Returns
    -------
    Choice
        ``hogwild`` is among the predictions only if it was asked for: it is not a choice of ``"auto"``.

    Raises
    ------
    InputError
        *rank*, *n_sweeps* or *storage* is not allowed.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    """
    rank, n_sweeps = checked_count("rank", rank, MAX_RANK), checked_count("n_sweeps", n_sweeps, 2**31)
    check_choice("storage", storage, get_args(Storage))
    biases = checked_flag("biases", biases)
    is_racy = isinstance(strategy, str) and strategy == _RACY
    candidates = {name: s for name, s in STRATEGIES.items() if name != _RACY or is_racy}
    padded, number_bytes = row_layout(rank, session.facts).padded, np.dtype(storage).itemsize
    task = work.Task(ratings.stats, padded, number_bytes, biases, n_sweeps)
    return choose(candidates, strategy, lambda: task, session.facts, session.profile.rates)
