"""A session's cache of strategy choices and plans for later calls on the same graph, while the graph exists."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

# Largest number of cached plans. The limit holds for small arrays, too, since each plan has kernel objects.
MAX_PLANS = 128
_MEMORY_SHARE = 8  # Cached plans take at most 1/8 of the device's memory.


class Kept:
    """A session's cache of plans and strategy choices for graphs, which does not keep the graphs alive.

    A plan is taken out while it runs, so that two threads never run the same plan, and is put back afterwards. If there
    are too many plans, or they hold too much memory, the least recently used ones are dropped.

    *memory_bytes* is the memory of the device.
    """

    def __init__(self, memory_bytes: int) -> None:
        self.most_bytes = memory_bytes // _MEMORY_SHARE
        self.choices: WeakKeyDictionary[Any, dict[Hashable, Any]] = WeakKeyDictionary()  # graph: its choices
        # Choices of strategies for scipy matrices, by WrappedGraph.glimpse.
        self.choices_of_matrices: dict[Hashable, Any] = {}
        # Plans and their sizes in bytes, by graph and key. The least recently used plan comes first.
        self._plans: dict[tuple[weakref.ref[Any], Hashable], tuple[Any, int]] = {}
        # The lock is reentrant: any line below may delete a graph, and the same thread then drops the graph's plans.
        self._lock = threading.RLock()

    def take(self, graph: Any, key: Hashable) -> Any:
        """Take the plan that was cached for *graph* under *key* out of the cache and return it;
        ``None`` if there is none.
        """
        with self._lock:
            plan, _ = self._plans.pop((weakref.ref(graph), key), (None, 0))
            return plan

    def put(self, graph: Any, key: Hashable, plan: Any, n_bytes: int) -> None:
        """Cache *plan* while *graph* exists.

        The plan takes *n_bytes* on the device, and must not refer to *graph*.
        """
        with self._lock:
            # Another thread may have cached a plan under the same key meanwhile.
            old, _ = self._plans.pop((weakref.ref(graph), key), (None, 0))
            self._plans[weakref.ref(graph, partial(_forget, weakref.ref(self))), key] = plan, n_bytes
            gone = [] if old is None else [old]
            n_held = sum([held for _, held in self._plans.values()])
            while n_held > self.most_bytes or len(self._plans) > MAX_PLANS:
                oldest, held = self._plans.pop(next(iter(self._plans)))
                n_held -= held
                gone.append(oldest)
        for each in gone:
            each.release()

    def forget(self, graph: weakref.ref[Any] | None = None) -> bool:
        """Drop the cached plans of *graph*, or of all graphs if it is ``None``.

        Return whether there were any.
        """
        with self._lock:
            keys = [key for key in list(self._plans) if graph is None or key[0] is graph]
            gone = [self._plans.pop(key)[0] for key in keys]
        for plan in gone:
            plan.release()
        return bool(gone)


def _forget(kept: weakref.ref[Kept], graph: weakref.ref[Any]) -> None:
    if (found := kept()) is not None:
        found.forget(graph)


def key_of(*parts: Any) -> Hashable:
    """Return a key that identifies a call by its *parts*, or ``None`` if a part, such as an array, cannot be hashed."""
    try:
        key = tuple(map(_frozen, parts))
        hash(key)
    except Exception:
        # The user's values may raise any error when they are hashed, and a list may even contain itself.
        return None
    return key


def _frozen(value: Any) -> Hashable:
    """Return a hashable pair of *value* and its type, since settings 1 and 1.0 are equal but not both allowed."""
    if isinstance(value, Mapping):
        return tuple((name, _frozen(each)) for name, each in sorted(value.items()))
    return type(value), tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value
