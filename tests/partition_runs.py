"""Options that give a small graph many levels, and a partition without its warnings."""

import warnings

import pytest

import clgraph as cg
from clgraph.algorithms.partition import multilevel, partition

GRID = cg.generators.grid(40, 40)
SMALL = {"coarsest": 1, "individuals": 2}  # many levels of a small graph


@pytest.fixture(name="once")
def once_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels are made once, and not anew within the parts."""
    monkeypatch.setitem(multilevel._CYCLES, "normal", (0, 1 << 16))


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return partition(*args, **options)
