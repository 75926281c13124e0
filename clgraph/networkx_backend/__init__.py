"""A backend for networkx: clgraph runs networkx's functions, without changes in the user's code.

networkx finds it by the entry point ``networkx.backends``. ``docs/networkx.md`` explains how to switch it on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clgraph.networkx_backend.convert import convert_from_nx as convert_from_nx
    from clgraph.networkx_backend.convert import convert_to_nx as convert_to_nx
    from clgraph.networkx_backend.interface import backend as backend

__all__ = ["backend", "convert_from_nx", "convert_to_nx", "profile"]


def profile(*, reset: bool = False) -> Any:
    """Return counts and times of the calls that networkx has sent to this backend, since the start or last *reset*.

    Returns
    -------
    dispatch_profile.Profile
        A dictionary by name of the function, which prints as a table.
    """
    from clgraph.networkx_backend import dispatch_profile

    return dispatch_profile.profile(reset=reset)


def __getattr__(name: str) -> Any:
    if name in ("convert_from_nx", "convert_to_nx"):
        from clgraph.networkx_backend import convert

        return getattr(convert, name)
    if name == "backend":
        from clgraph.networkx_backend.interface import backend

        return backend
    raise AttributeError(f"module 'clgraph.networkx_backend' has no attribute {name!r}")
