"""How many functions a call enters before its first kernel: a reader of the code goes the same way."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import clgraph as cg
from clgraph.runtime.programs.program import Launch
from clgraph.runtime.session import Session

PACKAGE = str(Path(cg.__file__).parent)
MOST_FUNCTIONS, MOST_FILES, MOST_LINES, MOST_LINES_OF_SOLVE = 45, 17, 40, 30


def entered(call: Any) -> set[CodeType]:
    """Return the code of the package's functions that *call* enters before it enqueues a kernel."""
    found: set[CodeType] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if frame.f_code is Launch.__call__.__code__:
            sys.setprofile(None)
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            found.add(frame.f_code)

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def lines_of(code: CodeType) -> int:
    """Return how many lines the body of a function has without its docstring."""
    function = ast.parse(textwrap.dedent(inspect.getsource(code))).body[0]
    assert isinstance(function, ast.FunctionDef)
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]


def test_the_way_of_a_warm_call_is_short(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        pocl.commands, "facts", replace(pocl.facts, compute_units=2)
    )  # the host is as fast as many cores
    matrix = cg.generators.rmat(16, 16, seed=3).to_scipy()
    for _ in range(2):
        assert cg.bfs(matrix, 0, session=pocl).info.strategy == "frontier"
    codes = entered(lambda: cg.bfs(matrix, 0, session=pocl))
    names = sorted(code.co_qualname for code in codes)
    assert len(names) <= MOST_FUNCTIONS, names
    assert len({code.co_filename for code in codes}) <= MOST_FILES, {code.co_filename for code in codes}
    lengths = {code.co_qualname: lines_of(code) for code in codes}
    assert lengths["Algorithm.solve"] <= MOST_LINES_OF_SOLVE
    assert all(length <= MOST_LINES for length in lengths.values()), lengths
