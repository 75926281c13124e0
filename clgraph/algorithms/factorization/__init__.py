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

from clgraph.algorithms.factorization.factors import Factors
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import FactorizationProblem, as_problem
from clgraph.algorithms.factorization.strategies import STRATEGIES, contenders
from clgraph.engine.algorithm import Algorithm
from clgraph.runtime.driver.timing import RunInfo

__all__ = ["ALGORITHM", "STRATEGIES", "FactorizationProblem", "Trained", "as_problem"]


class Trained(Factors):
    """The factors after the last sweep, and what ran: ``info``, a :class:`RunInfo`."""

    info: RunInfo


def _answer(_problem: FactorizationProblem, plan: FactorizationPlan) -> Trained:
    return Trained(*plan.model.get())


def _check(problem: FactorizationProblem, result: Trained) -> None:
    from clgraph.reference.factorization import check_factorization

    check_factorization(problem.ratings, result)


ALGORITHM = Algorithm("factorization", STRATEGIES, contenders, as_problem, _answer, _check, "ratings")
"""``solve`` trains at one rate from start to end. The estimator drives the plan itself, sweep by sweep, since between
two of them it looks at the errors, sets the rate and keeps what Ctrl-C must not lose."""
