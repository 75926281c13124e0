"""Kernel launches of a mesh refinement: rounds over the whole mesh, and passes in which work-groups refine patches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clgraph.algorithms.refine_mesh.problem import RefineProblem
from clgraph.device.facts import DeviceFacts
from clgraph.primitives.sort import Sort
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch
from clgraph.runtime.session import Session

MARK, ROUNDS, INSERT, PATCHES, GROUP_PATCHES = (
    f"refine_mesh/{file}.cl" for file in ("mark", "rounds", "insert", "patches", "group_patches")
)
# A work-item remembers up to 32 new bad triangles, which it refines in the same round.
# The next round finds the bad triangles that no work-item has remembered.
WAITING = 32
# Triangles are ordered by a Hilbert curve over 2^16 cells in x and in y. The mesh takes 49152; the rest is for shifts.
_CURVE = 49152.0
# Each pass shifts the mesh on the Hilbert curve by another number of cells, so that each pass has other patch borders.
_SHIFTS = (0.0, 9362.0, 3277.0, 14043.0, 6242.0)


class Sizes:
    """Work-group sizes and numbers of work-groups of the kernels for mesh refinement on one device.

    ``exact`` defines the work-group size of kernels with exact arithmetic, and ``group`` that size for other kernels.
    ``groups`` is the number of work-groups of most kernels. ``walkers`` and ``exact_groups`` are the numbers of
    work-groups that walk through cavities, without and with exact arithmetic. ``workers`` is the number of work-items
    that refine patches.
    """

    def __init__(self, facts: DeviceFacts) -> None:
        cpu, units = facts.is_cpu, facts.compute_units
        self.group, self.groups = ({"WG_SIZE": 1}, 8 * units) if cpu else ({"WG_SIZE": 128}, 16 * units)
        self.walkers = 4 * self.groups if cpu else self.groups
        self.exact, self.exact_groups = ({"WG_SIZE": 1}, 32 * units) if cpu else ({"WG_SIZE": 32}, units)
        self.workers = 32 * units if cpu else 128 * units


class Launches:
    """The kernels of mesh refinement rounds, bound to the arguments in *scope*: mesh arrays and shared values.

    The cavity of a point is the set of triangles that the point replaces; its rim is the boundary of the cavity. A rim
    may have at most *rim* edges. A round has at most *n_rows* candidates. In rounds that insert points as soon as their
    triangles are claimed, *workers* work-items refine at a time.
    """

    def __init__(self, session: Session, scope: Mapping[str, Any], *, rim: int, n_rows: int, workers: int) -> None:
        self._session, self._scope, self._rim, self._sizes = session, scope, rim, Sizes(session.facts)
        self._n_rows, self._workers, self._slots = n_rows, workers, scope["urgencies"].size

    def _rows(self, n_rows: int) -> dict[str, DeviceArray]:
        sizes = {"rim": 4 * self._rim, "cavity": 2 * self._rim}
        return {name: self._session.empty(n_rows * size, np.int32) for name, size in sizes.items()}

    def _words(self, items: int) -> DeviceArray:
        words = self._session.program(MARK, self._sizes.exact).constant("WIDE_WORDS")
        return self._session.empty(items * words, np.uint64)

    def sets(
        self, claim: bool = True, again: int = 0, checks: str = "AT_ONCE", from_device: bool = False
    ) -> list[list[Launch]]:
        """Return the launches of a refinement round that first finds candidates
        without conflicts and then inserts their points.

        With *claim*, candidates claim triangles by atomics; without it, they write keys to triangles. Candidates that
        lose try again, *again* times, by atomics. *checks* says how new triangles are checked: "AT_ONCE", "LISTED" or
        "BY_CHILDREN" (see cl/refine_mesh/insert.cl). With "BY_CHILDREN", kernels launch the grids that check if
        *from_device*; otherwise the host does.
        """
        session, n_rows, sizes = self._session, self._n_rows, self._sizes
        exact_items = sizes.exact["WG_SIZE"] * sizes.exact_groups
        scope: dict[str, Any] = {
            **self._scope,
            **self._rows(n_rows),
            "n_rows": n_rows,
            "most_candidates": n_rows,
            "keys": session.empty(n_rows, np.uint64),
            "words": self._words(exact_items),
            "heads": session.empty(4 * n_rows, np.int32),
            "spots": session.empty(2 * n_rows, np.float64),
            **{name: session.empty(n_rows, np.int32) for name in ("candidates", "unsure", "needs", "ends")},
            "made": session.empty(1 if checks == "AT_ONCE" else self._slots, np.int32),
            "n_groups": sizes.groups,
        }
        rounds, items = session.program(ROUNDS, sizes.group), sizes.groups * sizes.group["WG_SIZE"]
        looks = {"LISTED": ["check_shares"], "BY_CHILDREN": [] if from_device else ["check_groups"]}.get(checks, [])
        inserts = session.program(INSERT, {**sizes.group, "CHECKS": "LISTED" if looks else checks})
        ends = [inserts.bind(kernel, items, scope) for kernel in ("insert", *looks)]

        def walked(claim: bool) -> list[Launch]:
            walks = {"MOST_RIM": self._rim, "CLAIM": int(claim)}
            written = [] if claim else [rounds.bind("write_keys", items, scope, only_raise=phase) for phase in (0, 1)]
            mark, walkers = session.program(MARK, {**sizes.group, **walks}), sizes.walkers * sizes.group["WG_SIZE"]
            exact = session.program(MARK, {**sizes.exact, **walks, "EXACT": 1})
            return [
                mark.bind("mark", walkers, scope),
                exact.bind("mark", exact_items, scope),
                *written,
                rounds.bind("judge", items, scope, ring_counts=int(not claim)),
                *ends,
            ]

        first = [rounds.bind(kernel, items, scope) for kernel in ("count_bad", "list_bad")]
        later = [rounds.bind("renew", items, scope), *walked(True)] if again else []
        return [first + walked(claim), *([later] * again)]

    def claims(self, keeps: bool) -> tuple[list[list[Launch]], Launch]:
        """Return the launches of a refinement round whose work-items insert a
        point after claiming the triangles that change.

        The second result is the launch that counts the bad triangles of each urgency. With *keeps*, a work-item also
        refines the bad triangles that it has made itself.
        """
        session, sizes, workers = self._session, self._sizes, self._workers
        rounds, items = session.program(ROUNDS, {**sizes.group, "SIFTED": 0}), sizes.groups * sizes.group["WG_SIZE"]
        patches = session.program(PATCHES, {
            **sizes.exact, "MOST_RIM": self._rim, "EXACT": int(session.facts.is_cpu), "MOST_WAITING": WAITING * keeps,
        })  # fmt: skip
        scope: dict[str, Any] = {
            **self._scope,
            **self._rows(workers),
            "most_candidates": self._slots,
            "n_workers": workers,
            "keys": session.empty(self._slots, np.uint64),
            "candidates": session.empty(self._slots, np.int32),
            "words": self._words(workers),
            "waiting": session.empty(workers * WAITING, np.int32),
        }
        kernels = ("count_urgencies", "count_bad", "list_bad")
        counting, *listing = (rounds.bind(kernel, items, scope) for kernel in kernels)
        return [[*listing, patches.bind("refine_patches", workers, scope)]], counting


class GroupPatches:
    """Passes of mesh refinement.

    Each pass cuts the mesh into patches along a Hilbert curve, one per work-group.

    Cavities whose rims have more than *rim* edges are skipped.
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

    def launch(self, number: int, shared: Mapping[str, Any], n_triangles: int) -> None:
        """Enqueue refinement pass *number* over all patches of the mesh in *shared*.

        Passes have different patch borders.
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
            "places": session.empty(shared["urgencies"].size, np.uint32),
            "shift": _SHIFTS[number % len(_SHIFTS)],
        }
        program.bind("key_places", n_triangles, scope)()
        Sort(session, keys, sorted_keys, items, order).run_checked()
        program.bind("own_patches", n_triangles, scope)()
        program.bind("refine_groups", min(n_patches, self._groups) * self._group, scope)()
