"""A pick needs the prices of strategies, and makes nothing for their runs."""

from typing import Any

import numpy as np
import pytest

from clgraph import Ratings, generators
from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.model.recipe import Array, Setting
from clgraph.runtime.session import Session

GRAPHS = {"power law": generators.rmat(12, 16, seed=0), "grid": generators.grid(60, 60)}


def problem_of(name: str, graph: str) -> Any:
    if name != "factorization":
        settings = {"n_parts": 8} if name == "partition" else {}
        return find_algorithm(name).problem(GRAPHS[graph], **settings)
    users = np.arange(3000) % 100
    return find_algorithm(name).problem(Ratings.from_triples(users, np.arange(3000) // 30, np.ones(3000)))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", MODULES)
def test_a_pick_makes_no_setting(pocl: Session, name: str, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(name, graph)

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a price needs the steps alone")

    for kind in (Array, Setting):
        monkeypatch.setattr(kind, "__init__", refuse)
    assert find_algorithm(name).choose(pocl, problem).predicted
