"""Faults that tests plant into the results of plans, which checks must refuse."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from clgraph.model.strategy import Strategy


def changed(*places: Any, to: int | None = None, by: int = 0) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a fault: the items at some *places* become *to*, or more *by* some."""

    def change(found: NDArray[Any]) -> NDArray[Any]:
        found = found.copy()
        for at in places:
            found[at] = found[at] + by if to is None else to
        return found

    return change


def numbered(change: Callable[[NDArray[Any]], NDArray[Any]], n: int) -> Callable[[Any], Any]:
    """Return a fault of the numbers of components, of which there are *n*."""
    return lambda found: (n, change(found[1]))


def same(found: Any) -> Any:
    return found


def of_both(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a fault of a result of two parts."""
    return lambda found: (first(found[0]), second(found[1]))


def of_edges(change: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Any], Any]:
    """Return a fault of a forest's edges, from which the answer then has to find their weight and their ends."""
    return lambda found: (change(found[0]), None, {})


class Planted:
    """A plan of whose result a fault is part."""

    def __init__(self, plan: Any, result: str, fault: Callable[[Any], Any]) -> None:
        self._plan, self._result, self._fault = plan, result, fault

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._plan, name)
        if name != self._result:
            return real
        return lambda: self._fault(real())


def planted(strategy: Strategy, result: str, fault: Callable[[Any], Any]) -> Strategy:
    return replace(strategy, plan=lambda *args, **options: Planted(strategy.plan(*args, **options), result, fault))
