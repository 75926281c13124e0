"""What a pick costs, by counts that are the same on every machine."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from clgraph import Ratings, generators
from clgraph.algorithms.table import find_algorithm
from clgraph.model.recipe import Array, Setting
from clgraph.runtime.session import Session

GRAPHS = {"power law": generators.rmat(12, 16, seed=0), "grid": generators.grid(60, 60)}
MAX_CALLS = {  # of Python functions by one choice
    "bfs": 150, "color": 170, "connected_components": 85, "factorization": 300, "hash_collisions": 125,
    "minimum_spanning_forest": 60, "partition": 45, "sssp": 150,
}  # fmt: skip


def problem_of(name: str, graph: str) -> Any:
    if name != "factorization":
        settings = {"n_parts": 8} if name == "partition" else {}
        return find_algorithm(name).problem(GRAPHS[graph], **settings)
    users = np.arange(3000) % 100
    return find_algorithm(name).problem(Ratings.from_triples(users, np.arange(3000) // 30, np.ones(3000)))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", MAX_CALLS)
def test_a_pick_makes_no_setting(pocl: Session, name: str, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(name, graph)

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a price needs the steps alone")

    for kind in (Array, Setting):
        monkeypatch.setattr(kind, "__init__", refuse)
    assert find_algorithm(name).choose(pocl, problem).predicted


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", MAX_CALLS)
def test_a_pick_makes_few_calls(pocl: Session, name: str, graph: str) -> None:
    algorithm, problem = find_algorithm(name), problem_of(name, graph)
    algorithm.choose(pocl, problem)  # constants of kernel files and rates between points are kept then
    problem, n_calls = replace(problem), 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal n_calls
        n_calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        algorithm.choose(pocl, problem)
    finally:
        sys.setprofile(before)
    assert n_calls <= MAX_CALLS[name]
