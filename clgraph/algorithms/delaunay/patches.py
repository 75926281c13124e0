"""Refinement of patches, each by a work-group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clgraph.algorithms.delaunay.problem import RefineProblem
from clgraph.primitives.sort import Sort
from clgraph.runtime.session import Session

GROUP_PATCHES = "delaunay/group_patches.cl"
_CURVE = 49152.0  # steps of the curve over the mesh; the rest of 2^16 is room to move it
_SHIFTS = (0.0, 9362.0, 3277.0, 14043.0, 6242.0)


class GroupPatches:
    """Divides a mesh into patches along a Hilbert curve and has a work-group refine each.

    Parameters
    ----------
    session : Session
    problem : RefineProblem
    group : int
        Work-items of a work-group.
    rim : int
        How many edges the rim of a cavity may have; larger ones are left out.
    """

    def __init__(self, session: Session, problem: RefineProblem, *, group: int, rim: int) -> None:
        self._session, self._group = session, group
        self._program = session.program(GROUP_PATCHES, {"WG_SIZE": group, "MOST_RIM": rim})
        self._groups = 8 * session.facts.compute_units
        left, bottom, right, top = problem.bounds
        columns = self._groups * group
        self._scope: dict[str, Any] = {
            "low_x": left,
            "low_y": bottom,
            "scale": _CURVE / max(right - left, top - bottom),
            "rim": session.empty(4 * rim * columns, np.int32),
            "cavity": session.empty(2 * rim * columns, np.int32),
        }

    def launch(
        self, number: int, shared: Mapping[str, Any], n_triangles: int, slots: int, *, least_urgency: int = 1
    ) -> None:
        """Enqueue one pass over all patches; each *number* has other borders between them.

        Parameters
        ----------
        number : int
        shared : mapping
            Arrays and values of the refinement.
        n_triangles, slots : int
            How many triangles there are, and how many there may be.
        least_urgency : int
            Only triangles that are as urgent are processed.
        """
        session, program = self._session, self._program
        n_patches = -(-n_triangles // program.constant("PATCH"))
        keys, sorted_keys = (session.empty(n_triangles, np.uint32) for _ in range(2))
        items, order = (session.empty(n_triangles, np.int32) for _ in range(2))
        scope = {
            **shared,
            **self._scope,
            "keys": keys,
            "items": items,
            "order": order,
            "n_triangles": n_triangles,
            "n_patches": n_patches,
            "places": session.empty(slots, np.uint32),
            "shift": _SHIFTS[number % len(_SHIFTS)],
            "least_urgency": least_urgency,
        }
        program.bind("key_places", n_triangles, scope)()
        Sort(session, keys, sorted_keys, items, order).run_checked()
        program.bind("own_patches", n_triangles, scope)()
        program.bind("refine_groups", min(n_patches, self._groups) * self._group, scope)()
