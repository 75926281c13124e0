"""Types of the public names for type checkers and editors, and errors for mistyped keywords."""

import ast
import functools
import importlib
import inspect
import operator
import re
import subprocess
import sys
import typing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import clgraph as cg
from clgraph import io
from clgraph.algorithms import explain
from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.data.graphs.csr import Duplicates
from clgraph.engine.options import option_names
from clgraph.errors import InputError

TYPED = sorted(set(MODULES) - {"factorization"})  # an estimator, whose options are a dictionary
CALLS = {name: (lambda name=name, **options: getattr(cg, name)(GRAPH, *ARGUMENTS.get(name, ()), **options))
         for name in [*TYPED, "color_columns"]}  # fmt: skip
ARGUMENTS = {"bfs": (0,), "sssp": (0,), "partition": (2,)}
GRAPH = cg.generators.path(4)


def test_a_type_checker_sees_every_public_name_where_it_is() -> None:
    tree = ast.parse((ROOT / "clgraph" / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module if alias.name != "generators" else "clgraph.generators"
        for node in ast.walk(block) if isinstance(node, ast.ImportFrom) for alias in node.names
    }  # fmt: skip
    assert seen == cg._EXPORTS


def union(hints: list[Any]) -> Any:
    return functools.reduce(operator.or_, hints)


def function_of(plan: Any) -> Any:
    """Return the function whose keyword-only parameters are the options of a *plan*."""
    while not inspect.isfunction(plan):
        plan = plan.func if isinstance(plan, partial) else plan.recipe
    return plan


@pytest.mark.parametrize("algorithm", TYPED)
def test_the_options_of_a_function_are_those_of_its_strategies(algorithm: str) -> None:
    found: dict[str, list[Any]] = {}
    entry = find_algorithm(algorithm)
    for strategy in entry.strategies.values():
        hints = typing.get_type_hints(function_of(strategy.plan))
        for option in option_names(strategy):
            found.setdefault(option, []).append(hints[option])
    split = entry.split_options
    declared = typing.get_type_hints(importlib.import_module(MODULES[algorithm]).Options)
    assert set(declared) == {*found, *split}
    assert {name: declared[name] for name in found} == {name: union(hints) for name, hints in found.items()}


def test_the_options_of_explain_are_the_settings_of_all_problems() -> None:
    found: dict[str, list[Any]] = {}
    for algorithm in MODULES:
        problem = find_algorithm(algorithm).problem
        hints = typing.get_type_hints(problem)
        for p in inspect.signature(problem).parameters.values():
            if p.kind is p.KEYWORD_ONLY:
                found.setdefault(p.name, []).append(hints[p.name])
    declared = typing.get_type_hints(explain.Options)
    assert set(declared) == set(found)
    general = {"vertex_weights", "target_weights", "source"}  # whatever numpy takes
    for name in set(found) - general:
        assert declared[name] == union(found[name]), name


def test_the_options_of_read_are_those_of_the_formats() -> None:
    found = {p for module in io.FORMATS.values() for p in inspect.signature(module.read).parameters}
    assert set(typing.get_type_hints(io.Options)) == found - set(inspect.signature(io.read).parameters)
    assert typing.get_type_hints(io.Options)["duplicates"] == Duplicates | None


def test_mypy_finds_mistyped_keywords_and_names(tmp_path: Path) -> None:
    calls = [f"cg.{name}(g, {''.join(f'{a}, ' for a in ARGUMENTS.get(name, ()))}verfy=True)" for name in CALLS]
    lines = [
        "import clgraph as cg", "import clgraph.distributed as cd", "g = cg.generators.path(4)", *calls,
        "cg.explain('bfs', g, verfy=True)", "cg.read('x', verfy=True)", "cg.no_such_function(1)", "cd.no_such_name",
        "x: cg.Graph = cg.bfs(g, 0)",
    ]  # fmt: skip
    right = [
        "cg.bfs(g, 0, strategy='node_splitting', mda=3)",
        "cg.connected_components(g, devices=['pocl'], shares='equal')",
        "cg.read('x', ids='compact')", "cg.bfs(g, 0).distances.max()", "cd.SGDMatrixFactorization",
    ]  # fmt: skip
    (tmp_path / "user.py").write_text("\n".join([*lines, *right, ""]), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "user.py"]
    child = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert child.stderr == ""
    wrong = {int(line) for line in re.findall(r"^user\.py:(\d+): error", child.stdout, re.MULTILINE)}
    assert wrong == set(range(4, len(lines) + 1)), child.stdout


@pytest.mark.parametrize("name", CALLS)
def test_a_mistyped_keyword_is_told_with_the_one_that_is_meant(name: str) -> None:
    called = "color" if name == "color_columns" else name
    with pytest.raises(InputError, match=f"^{called} has no argument verfy; did you mean verify\\?$"):
        CALLS[name](verfy=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cg.sssp(GRAPH, 0, limt=3), "sssp has no argument limt; did you mean limit?"),
        (lambda: cg.sssp(GRAPH, 0, strategy="host", dleta=3), "sssp has no argument dleta; did you mean delta?"),
        (lambda: cg.bfs(GRAPH, 0, zzz=3), "bfs has no argument zzz; it has alpha, atomic, balance, beta, "),
        (lambda: cg.bfs(GRAPH, 0, mda=3), "(mda: node_splitting)"),
        (lambda: cg.bfs(GRAPH, 0, strategy="host", mda=3), "host has no option mda; it has none"),
        (lambda: cg.connected_components(GRAPH, device="pocl"), "did you mean devices?"),
        (lambda: cg.connected_components(GRAPH, devices=["pocl"], verfy=True), "did you mean verify?"),
        (lambda: cg.minimum_spanning_forest(GRAPH, devices=["pocl"], verfy=True), "did you mean verify?"),
        (lambda: cg.connected_components(GRAPH, shares="equal"), "shares: allowed together with devices=[…]"),
        (lambda: cg.explain("bfs", GRAPH, measur=True), "explain of bfs has no argument measur; did you mean measure?"),
        (lambda: cg.read(ROOT / "README.md", format="metis", duplicate=1), "read of metis has no argument duplicate"),
    ],
)
def test_an_argument_that_is_not_there_is_told(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        call()
