"""The backend object, which networkx loads through the entry point ``networkx.backends``."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from clgraph.errors import ClgraphError
from clgraph.networkx_backend import convert
from clgraph.networkx_backend import dispatch_profile as profile
from clgraph.networkx_backend.convert import BACKEND
from clgraph.networkx_backend.graph import BackendGraph
from clgraph.networkx_backend.table import TABLE, Entry
from clgraph.networkx_backend.ties import TIES


class Backend:
    """The object that networkx expects of a backend: it converts graphs and answers calls.

    It has the two conversions, the functions of the table as attributes, ``can_run`` and ``should_run``.
    """

    convert_from_nx = staticmethod(convert.convert_from_nx)
    convert_to_nx = staticmethod(convert.convert_to_nx)

    def __getattr__(self, name: str) -> Any:
        if name not in TABLE:
            raise AttributeError(f"the networkx backend of clgraph has no {name}")
        found = self.__dict__[name] = _dispatched(TABLE[name])
        return found

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *TABLE]

    @staticmethod
    def can_run(name: str, args: Any, kwargs: dict[str, Any]) -> bool | str:
        """Return whether the backend can run a networkx call with these arguments, or the reason why not.

        This reads no graph data.
        """
        if name not in TABLE:
            return False
        reason = TABLE[name].why_not(args, kwargs)
        if reason is None:
            return True
        profile.fell_back(name, reason)
        return reason

    @staticmethod
    def should_run(name: str, args: Any, kwargs: dict[str, Any]) -> bool | str:
        """Return whether the backend is probably faster than networkx at a call, or the reason why not."""
        graph = args[0] if args else kwargs["G"]
        cache = getattr(graph, "__networkx_cache__", None) or {}
        is_cached = isinstance(graph, BackendGraph) or bool(cache.get("backends", {}).get(BACKEND))
        needed = TABLE[name].needed_nodes(TABLE[name].arguments(args, kwargs), is_cached)
        if len(graph) >= needed:
            return True
        reason = f"{len(graph)} nodes; faster from {needed} on{' with a cached graph' * is_cached}"
        profile.fell_back(name, f"fewer than {needed} nodes")
        return reason

    @staticmethod
    def on_start_tests(items: Any) -> None:
        """Mark the networkx tests in ``TIES`` as expected failures, because
        they accept only one of several right answers.
        """
        import pytest

        for item in items:
            for name, reason in TIES.items():
                if item.nodeid.endswith(name):
                    item.add_marker(pytest.mark.xfail(reason=reason, strict=False))


def _dispatched(entry: Entry) -> Callable[..., Any]:
    """Return the function that networkx calls for *entry*.

    If a device fails, networkx then runs its own function.
    """

    @wraps(entry.run)
    def call(*args: Any, **kwargs: Any) -> Any:
        graph = args[0] if args else kwargs.get("G")
        began = time.perf_counter()
        try:
            if not isinstance(graph, BackendGraph):
                raise NotImplementedError("the graph was not converted")
            found = entry.run(*args, **kwargs)
        except (ClgraphError, MemoryError, OverflowError) as error:
            reason = f"{type(error).__name__}: {error}"
            profile.fell_back(entry.name, reason)
            raise NotImplementedError(reason) from error
        except NotImplementedError as error:
            profile.fell_back(entry.name, str(error))
            raise
        profile.answered(entry.name, time.perf_counter() - began)
        return found

    return call


backend = Backend()
