"""Choices and plans that a session keeps for later calls on a graph, while the graph lives."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Hashable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

MOST_PLANS = 128  # each has kernels with arguments of their own, however small its arrays are
_MEMORY_SHARE = 8  # plans take at most an eighth of the device's memory


class Kept:
    """Plans and choices, each tied weakly to a graph.

    A plan is taken out while it runs, so that no two threads run the same one, and is put back afterwards. Where there
    are too many, or they hold too many bytes, those go first that were used longest ago.

    The device has *memory_bytes*.
    """

    def __init__(self, memory_bytes: int) -> None:
        self.most_bytes = memory_bytes // _MEMORY_SHARE
        self.choices: WeakKeyDictionary[Any, dict[Hashable, Any]] = WeakKeyDictionary()  # by graph
        self.choices_of_matrices: dict[Hashable, Any] = {}  # by WrappedGraph.glimpse, for scipy matrices
        self._plans: dict[tuple[weakref.ref[Any], Hashable], tuple[Any, int]] = {}  # least recently used first
        self._lock = threading.RLock()  # a graph may die, and take its plans along, in any line below

    def take(self, graph: Any, key: Hashable) -> Any:
        """Take out the plan that was put here for *graph* under *key*, or return ``None``."""
        with self._lock:
            plan, _ = self._plans.pop((weakref.ref(graph), key), (None, 0))
            return plan

    def put(self, graph: Any, key: Hashable, plan: Any, n_bytes: int) -> None:
        """Keep *plan*, which holds *n_bytes* on the device and no reference to *graph*, while *graph* lives."""
        with self._lock:
            old, _ = self._plans.pop((weakref.ref(graph), key), (None, 0))  # another thread has put it there
            self._plans[weakref.ref(graph, partial(_forget, weakref.ref(self))), key] = plan, n_bytes
            gone = [] if old is None else [old]
            n_held = sum([held for _, held in self._plans.values()])
            while n_held > self.most_bytes or len(self._plans) > MOST_PLANS:
                oldest, held = self._plans.pop(next(iter(self._plans)))
                n_held -= held
                gone.append(oldest)
        for each in gone:
            each.release()

    def forget(self, graph: weakref.ref[Any] | None = None) -> bool:
        """Let go of the plans of one graph, or of all; return whether there were any."""
        with self._lock:
            keys = [key for key in list(self._plans) if graph is None or key[0] is graph]
            gone = [self._plans.pop(key)[0] for key in keys]
        for plan in gone:
            plan.release()
        return bool(gone)


def _forget(kept: weakref.ref[Kept], graph: weakref.ref[Any]) -> None:
    if (found := kept()) is not None:
        found.forget(graph)
