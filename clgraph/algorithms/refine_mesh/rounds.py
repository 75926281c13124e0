"""Delaunay refinement of a mesh on one device, in rounds that insert many points each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.refine_mesh.launches import MARK, GroupPatches, Launches, Sizes
from clgraph.algorithms.refine_mesh.placement import Placement
from clgraph.algorithms.refine_mesh.problem import RefineProblem
from clgraph.progress import begin
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

MOST_ROUNDS = 1 << 14  # A refinement makes at most 2^14 rounds, and its history has room for one item per round.
_BY_CLAIMS = {"patches", "atomic"}
# Two strategies check a round's new triangles in their own way. All other strategies check new triangles "AT_ONCE".
_CHECKS = {"two_stage_balanced": "LISTED", "child_launch": "BY_CHILDREN"}
_UNREAD_ROUNDS = 8  # The host reads after 8 rounds whether the mesh still has bad triangles.
# A round has at most this number of candidates. More candidates need more memory, but keep all cores of a GPU busy.
_MAX_CANDIDATES, _MAX_GPU_CANDIDATES = 1 << 17, 1 << 20
_SUMS = ("leaders", "bads", "winners", "slots", "rims")  # Each of these arrays holds one number per work-group.
# The first rounds refine only the most urgent bad triangles, but at least 5 % of all bad triangles.
_FIRST_SHARE = 0.05
# Work-groups refine patches of the mesh in at most 8 passes, because later passes insert few points.
# Passes end earlier if a pass inserts at most 1/16 of the number of points that the first pass inserted.
_MAX_PASSES, _MIN_GAIN = 8, 16
MOST_RIM = 1 << 15  # The rim of a cavity has at most this number of edges.


class Refinement:
    """The refinement of one mesh on one device.

    Each ``run()`` starts from the given mesh.

    Parameters
    ----------
    method : str
        The name of a strategy.
    workers : int
        Number of work-items of "patches" and "atomic"; 0 takes a default for the device.
    from_device : bool
        Whether kernels of "child_launch" launch other kernels themselves. If not, the host launches them.
    group_size : int, optional
        Size of the work-groups that refine "patches", rounded up to whole sub-groups unless it is 1. With 0 a single
        work-item refines a patch, as on CPUs.

    Attributes
    ----------
    arrays : dict of str to DeviceArray
        The arrays of cl/refine_mesh/mesh.h.
    stopped : str
        The reason why the last run ended before it had improved all triangles that it could; else empty.
    history : int64 array, shape (rounds, 2)
        The numbers of bad triangles and of points at the beginning of each round of the last run.
    """

    def __init__(
        self,
        session: Session,
        problem: RefineProblem,
        *,
        method: str = "priority",
        workers: int = 0,
        from_device: bool = False,
        group_size: int | None = None,
    ) -> None:
        self.session, self.problem, self._from_device = session, problem, from_device
        mesh, facts = problem.mesh, session.facts
        sizes, cpu = Sizes(facts), facts.is_cpu
        self._workers = workers or sizes.workers
        group_size, width = (0 if cpu else 128) if group_size is None else group_size, facts.sub_group_size
        if group_size > 1:
            group_size = -(-group_size // width) * width
        in_groups = bool(group_size) and method == "patches"
        # The strategy of rounds over the whole mesh. If work-groups refine patches, rounds over the whole mesh follow.
        self._method = "priority" if in_groups else method
        self._rim = 32
        # A deterministic mesh must not depend on the device. So the size of its rounds, and the number of rounds after
        # which the host may enlarge the arrays, are the same everywhere.
        most_rows = _MAX_CANDIDATES if cpu or problem.deterministic else _MAX_GPU_CANDIDATES
        self._n_rows = min(max(1024, mesh.n_triangles // 4), most_rows)
        self._unread = 2 if cpu and not problem.deterministic else _UNREAD_ROUNDS
        self._placement = Placement(session, problem)
        constant = session.program(MARK, sizes.exact).constant
        self._state = session.empty(constant("STATE_WORDS"), np.uint32)
        words = ("N_POINTS", "N_TRIANGLES", "N_BAD", "N_GIVEN_UP", "N_TOO_LARGE", "N_STUCK")
        self._word = {name: constant(name) for name in words}
        self._history = session.zeros(2 * MOST_ROUNDS, np.uint32)
        self._urgency_counts = session.empty(constant("ENCROACHED + 1"), np.uint32)
        self._shared: dict[str, Any] = {
            "history": self._history,
            "totals": session.empty(2, np.uint32),
            **{name: session.empty(sizes.groups, np.uint32) for name in _SUMS},
            "counts": self._urgency_counts,
            "state": self._state,
            "round": 0,
            "least_urgency": 1,
            "ask": problem.demands(),
            **self._placement.given,
        }
        self._patches = GroupPatches(session, problem, group=group_size, rim=self._rim) if in_groups else None
        self.arrays: dict[str, DeviceArray] = {}
        self.stopped, self._number = "", 0
        room, most = 7 * mesh.n_points // 2 + 1024, problem.max_points
        self._make_room(room if most is None else max(min(room, most), mesh.n_points))

    # ---- memory

    def _make_room(self, most_points: int) -> None:
        """Enlarge the mesh's device arrays, so that they hold *most_points* points and all triangles between them.

        The contents of the arrays are kept.
        """
        mesh, session = self.problem.mesh, self.session
        slots = mesh.n_triangles + 2 * (most_points - mesh.n_points) + 1
        sizes = {
            "points": (2 * most_points, np.float64),
            "point_segments": (most_points, np.int32),
            "corners": (4 * slots, np.int32),
            "links": (4 * slots, np.int32),
            "sides": (4 * slots, np.int32),
            "urgencies": (slots, np.uint8),
            "owners": (slots, np.uint64),
        }
        session.check_memory({name: size * np.dtype(kind).itemsize for name, (size, kind) in sizes.items()})
        for name, (size, kind) in sizes.items():
            new = session.zeros(size, kind) if name == "owners" else session.empty(size, kind)
            if name in self.arrays:
                new.copy_from(self.arrays[name])
            self.arrays[name] = new
        self._most_points = most_points
        self._bind()

    def _scope(self) -> dict[str, Any]:
        """Return the arguments that all refinement kernels share, by the names of the kernels' parameters."""
        return {**self._shared, **self.arrays, "most_points": self._most_points}

    def _bind(self) -> None:
        """Bind the kernels of the refinement rounds to their arguments.

        The kernels of "priority" are always bound. If rounds of another strategy insert no point, the next rounds use
        "priority", because each round of "priority" has a candidate that wins all its triangles.
        """
        launches = Launches(self.session, self._scope(), rim=self._rim, n_rows=self._n_rows, workers=self._workers)
        self._launches, method = {"priority": launches.sets()}, self._method
        if method in _BY_CLAIMS:
            self._launches[method], self._count_urgencies = launches.claims(method == "patches")
        elif method != "priority":
            again, checks = 0 if method == "three_phase" else 2, _CHECKS.get(method, "AT_ONCE")
            self._launches[method] = launches.sets(False, again, checks, self._from_device)

    # ---- runs

    def run(self) -> None:
        """Refine the mesh until no triangle can be improved or the mesh has ``max_points`` points."""
        mesh = self.problem.mesh
        state = np.zeros(self._state.size, np.uint32)
        state[self._word["N_POINTS"]], state[self._word["N_TRIANGLES"]] = mesh.n_points, mesh.n_triangles
        self._state.set(state)
        self._placement.place(self.arrays)
        self.stopped, self._number = "", 0
        try:
            self._refine_patches()
            self._refine()
        except KeyboardInterrupt:
            if not self.problem.partial:
                raise
            self.session.finish()
            self.stopped = "it was interrupted"

    def _refine_patches(self) -> None:
        """Refine the inside of mesh patches in several passes with different
        patch borders, until a pass adds few points.
        """
        if self._patches is None:
            return
        tell, state, gains = begin("refining", unit="bad triangles"), self._read(), list[int]()
        while not self.stopped and len(gains) < _MAX_PASSES and (not gains or _MIN_GAIN * gains[-1] > gains[0]):
            self._number += 1
            for launch in self._launches["priority"][0][:2]:
                launch.set(round=self._number)
                launch()
            self._patches.launch(len(gains), self._scope(), state["N_TRIANGLES"])
            before, state = state["N_POINTS"], self._read()
            tell(state["N_BAD"])
            gains.append(state["N_POINTS"] - before)
            if state["N_POINTS"] >= self._most_points:
                self._grow()

    def _refine(self) -> None:
        tell, seen, method = begin("refining", unit="bad triangles"), self.problem.mesh.n_points, self._method
        level = self._first_level() if method in _BY_CLAIMS else 1
        while not self.stopped:
            for _ in range(self._unread if level == 1 else _UNREAD_ROUNDS):
                self._round(method, level)
                level = max(1, level - 1)
            state = self._read()
            tell(state["N_BAD"])
            if state["N_BAD"] == 0:
                return
            points = state["N_POINTS"]
            method = "priority" if points == seen and level == 1 else self._method
            if points >= self._most_points:
                self._grow()
            elif state["N_TOO_LARGE"] and points == seen:
                self._take_larger()
            seen = points
            if self._number + 3 * _UNREAD_ROUNDS >= MOST_ROUNDS:
                self.stopped = f"{self._number} rounds did not end it"

    def _first_level(self) -> int:
        """Return the urgency that triangles need in the first rounds: the highest that 5 % of the bad triangles reach.

        A mesh gets the fewest points if triangles with the shortest edges are refined first. These triangles have the
        highest urgency. But the very highest urgencies have few triangles, so they get no rounds of their own.
        """
        self._urgency_counts.fill(0)
        self._count_urgencies()
        # The last count, of encroached segments, is dropped, because rounds of any urgency split such segments.
        counts = self._urgency_counts.get()[:-1]
        above = counts[::-1].cumsum()[::-1]
        return int(np.flatnonzero(above >= _FIRST_SHARE * above[0]).max(initial=1)) if above[0] else 1

    def _round(self, method: str, level: int) -> None:
        for part in self._launches[method]:
            self._number += 1
            for launch in part:
                if launch.takes("round"):
                    launch.set(round=self._number)
                if launch.takes("least_urgency"):
                    launch.set(least_urgency=level)
                launch()

    def _read(self) -> dict[str, int]:
        """Return the refinement's counters in the device's state, such as points and triangles, by name.

        A kernel that found no room for a point has counted it nevertheless. The number of points is then set back to
        the number for which there is room.
        """
        state = self._state.get()
        place = self._word["N_POINTS"]
        if turns := state[self._word["N_STUCK"]]:
            check_status(STATUS_STUCK, f"refine_groups, round {turns} of a patch")
        if state[place] > self._most_points:
            state[place] = self._most_points
            self._state.set(state)
        return {name: int(state[at]) for name, at in self._word.items()}

    def _grow(self) -> None:
        most = self.problem.max_points
        if most is not None and self._most_points >= most:
            self.stopped = f"max_points = {most} is reached"
        else:
            self._make_room(2 * self._most_points if most is None else min(2 * self._most_points, most))

    def _take_larger(self) -> None:
        """Allow cavities with larger rims: from now on, a rim may have four times the present number of edges.

        This is called if all cavities that are left have longer rims than allowed.
        """
        if self._rim >= MOST_RIM:
            self.stopped = f"cavities have more than {MOST_RIM} edges"
            return
        self._rim, self._n_rows = 4 * self._rim, max(self._n_rows // 4, 64)
        self._workers = max(self._workers // 4, 64)
        self._bind()

    # ---- results

    def read(self) -> dict[str, NDArray[Any]]:
        """Return the refined mesh after ``run()`` as a dictionary of numpy arrays."""
        state = self._read()
        return self._placement.read(self.arrays, state["N_POINTS"], state["N_TRIANGLES"])

    @property
    def history(self) -> NDArray[np.int64]:
        rows: NDArray[np.int64] = self._history.get(2, 2 * self._number + 2).astype(np.int64).reshape(-1, 2)
        return rows[: np.count_nonzero(rows[:, 0]) + 1]

    @property
    def details(self) -> dict[str, Any]:
        """The details of the last refinement run, which the result shows as ``info.details``."""
        told: dict[str, Any] = {
            "launched_rounds": self._number,  # the last ones may do nothing, and have no row in the history
            "flips": self._placement.flips,
            "given_up": self._read()["N_GIVEN_UP"],
            "stopped": self.stopped,
        }
        if self._method == "child_launch":
            told["launched_by"] = "device" if self._from_device else "host"
        return told

    def release(self) -> None:
        """Release all device arrays of this refinement."""
        self.arrays, self._launches, self._shared = {}, {}, {}
