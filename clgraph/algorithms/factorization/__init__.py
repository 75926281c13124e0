"""Matrix factorisation by stochastic gradient descent, with ten ways to run steps in parallel.

A rating is an edge between a user and an item. A step on a rating changes the factor rows of both, so two steps that
share a vertex must not run at the same time. The strategies differ in how they prevent that.

Strategies
----------
``edge_locked``
    Work-items process ratings and lock both vertices. A rating with a locked vertex is deferred to the next pass [1]_.
``node_locked``
    A team of work-items owns an item and locks only the users [1]_.
``hybrid_locked``
    One pass of ``node_locked``, then ``edge_locked`` on the deferred ratings [1]_.
``hogwild``
    No locks: races are accepted. This baseline does not keep the serial semantics [2]_.
``matching_edge``
    Maximal matchings, one after the other. A group of lanes processes each rating (AGM-E [1]_).
``matching_node``
    Matchings inside blocks of items. The lanes of an item keep its row during a block (AGM-N [1]_).
``subgraph_matching``
    ``matching_node``, but items are sorted by degree, and each block has matchings of its own (SGM [1]_).
``diagonal``
    The diagonals of the matrix, one after the other (Diag [1]_).
``block_diagonal``
    The block-diagonals of the matrix, one after the other. A work-group keeps the rows of its block in local memory
    (BlkDiag [1]_).
``block_grid``
    A grid of p × p blocks, of which p run at a time, each on a sub-group [3]_.

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
    """The factors of users and items after the last training sweep, and ``info``, a :class:`RunInfo`."""

    info: RunInfo


def _answer(_problem: FactorizationProblem, plan: FactorizationPlan) -> Trained:
    return Trained(*plan.model.get())


def _check(problem: FactorizationProblem, result: Trained) -> None:
    from clgraph.reference.factorization import check_factorization

    check_factorization(problem.ratings, result)


ALGORITHM = Algorithm("factorization", STRATEGIES, contenders, as_problem, _answer, _check, "ratings")
"""``solve`` trains at a constant learning rate. The estimator runs the plan itself, sweep by sweep: between sweeps it
reads the errors, sets the rate, and saves the factors, so that Ctrl-C does not lose them."""
