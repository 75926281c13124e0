"""Refinement in rounds on one device."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.delaunay.placement import Placement
from clgraph.algorithms.delaunay.problem import RefineProblem
from clgraph.progress import begin
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

MARK, ROUNDS, PATCHES = "delaunay/mark.cl", "delaunay/rounds.cl", "delaunay/patches.cl"
MOST_ROUNDS = 1 << 14
_BY_CLAIMS = {"patches", "atomic"}
_WAITING = 32  # new bad triangles that a worker remembers; the next round finds others
_UNREAD_ROUNDS = 8  # so many are launched before the host looks how far they came
_STEP, _FIRST_SHARE = 1, 0.05
MOST_RIM = 1 << 15  # edges of a cavity's rim that are tried


class Refinement:
    """One refinement of one mesh, ready to run; each ``run()`` begins with the mesh that was given.

    Parameters
    ----------
    session : Session
    problem : RefineProblem
    method : {"patches", "atomic", "priority", "three_phase", "two_stage"}
        A strategy.
    workers : int
        How many work-items there are for "patches" and "atomic"; 0 leaves it to the device.

    Attributes
    ----------
    arrays : dict of str to DeviceArray
        Those of cl/delaunay/mesh.h.
    stopped : str
        Why the last run ended before no triangle was left that it could improve; empty if it did not.
    history : int64 array, shape (rounds, 2)
        The bad triangles and the points of the last run when each round began.
    """

    def __init__(self, session: Session, problem: RefineProblem, *, method: str = "priority", workers: int = 0) -> None:
        self.session, self.problem, self._method = session, problem, method
        self._partial = problem.partial
        mesh, facts = problem.mesh, session.facts
        cpu, units = facts.is_cpu, facts.compute_units
        self._group, self._groups = ({"WG_SIZE": 1}, 8 * units) if cpu else ({"WG_SIZE": 128}, 16 * units)
        self._walkers = 4 * self._groups if cpu else self._groups
        self._exact, self._exact_groups = ({"WG_SIZE": 1}, 32 * units) if cpu else ({"WG_SIZE": 32}, units)
        self._workers = workers or (32 * units if cpu else 128 * units)
        self._rim = 32
        self._n_rows = min(max(1024, mesh.n_triangles // 4), 1 << (15 if cpu else 18))
        self._placement = Placement(session, problem)
        constant = session.program(MARK, self._exact).constant
        self._state = session.empty(constant("STATE_WORDS"), np.uint32)
        words = ("N_POINTS", "N_TRIANGLES", "N_BAD", "N_GIVEN_UP", "N_TOO_LARGE")
        self._word = {name: constant(name) for name in words}
        self._history = session.zeros(2 * MOST_ROUNDS, np.uint32)
        self._urgency_counts = session.empty(constant("ENCROACHED + 1"), np.uint32)
        self._shared: dict[str, Any] = {
            "history": self._history, "totals": session.empty(2, np.uint32),
            **{name: session.empty(self._groups, np.uint32) for name in ("leaders", "bads", "winners", "slots")},
            "counts": self._urgency_counts, "state": self._state,
            "round": 0, "least_urgency": 1, "ask": problem.demands(), **self._placement.given,
        }
        self.arrays: dict[str, DeviceArray] = {}
        self.stopped, self._number = "", 0
        room, most = 7 * mesh.n_points // 2 + 1024, problem.max_points
        self._make_room(room if most is None else max(min(room, most), mesh.n_points))

    # ---- memory

    def _make_room(self, most_points: int) -> None:
        """Give the mesh room for *most_points*, and for the triangles that these can make; what it has stays."""
        mesh, session = self.problem.mesh, self.session
        slots = mesh.n_triangles + 2 * (most_points - mesh.n_points) + 1
        sizes = {
            "points": (2 * most_points, np.float64), "point_segments": (most_points, np.int32),
            "corners": (4 * slots, np.int32), "links": (4 * slots, np.int32), "sides": (4 * slots, np.int32),
            "urgencies": (slots, np.uint8), "owners": (slots, np.uint64),
        }
        session.check_memory({name: size * np.dtype(kind).itemsize for name, (size, kind) in sizes.items()})
        for name, (size, kind) in sizes.items():
            new = session.zeros(size, kind) if name == "owners" else session.empty(size, kind)
            if name in self.arrays:
                new.copy_from(self.arrays[name])
            self.arrays[name] = new
        self._most_points, self._slots = most_points, slots
        self._bind()

    def _bind(self) -> None:
        """Bind the launches of rounds; "priority" is there for all, since none of its rounds ends without a winner."""
        self._launches = {"priority": self._bind_sets()}
        if self._method in _BY_CLAIMS:
            self._launches[self._method] = self._bind_claims()
        elif self._method != "priority":
            self._launches[self._method] = self._bind_sets(False, 2 if self._method == "two_stage" else 0)

    def _rows(self, n_rows: int) -> dict[str, DeviceArray]:
        session = self.session
        sizes = {"rim": 4 * self._rim, "cavity": 2 * self._rim}
        return {name: session.empty(n_rows * size, np.int32) for name, size in sizes.items()}

    def _words(self, items: int) -> DeviceArray:
        return self.session.empty(items * self.session.program(MARK, self._exact).constant("WIDE_WORDS"), np.uint64)

    def _bind_sets(self, claim: bool = True, again: int = 0) -> list[list[Launch]]:
        """Bind rounds in which candidates without conflicts are found before any goes in.

        Parameters
        ----------
        claim : bool
            Whether candidates claim triangles by atomics; else they write keys.
        again : int
            How many times those that have lost try once more, by atomics.
        """
        session, n_rows, group = self.session, self._n_rows, self._group
        exact_items = self._exact["WG_SIZE"] * self._exact_groups
        scope: dict[str, Any] = {
            **self._shared, **self.arrays, **self._rows(n_rows), "n_rows": n_rows, "most_points": self._most_points,
            "most_candidates": n_rows, "keys": session.empty(n_rows, np.uint64), "words": self._words(exact_items),
            "heads": session.empty(4 * n_rows, np.int32), "spots": session.empty(2 * n_rows, np.float64),
            **{name: session.empty(n_rows, np.int32) for name in ("candidates", "unsure", "needs", "ends")},
        }
        rounds, items = session.program(ROUNDS, group), self._groups * group["WG_SIZE"]
        insert = rounds.bind("insert", items, scope)

        def walked(claim: bool) -> list[Launch]:
            walks = {"MOST_RIM": self._rim, "CLAIM": int(claim)}
            written = [] if claim else [rounds.bind("write_keys", items, scope, only_raise=phase) for phase in (0, 1)]
            return [
                session.program(MARK, {**group, **walks}).bind("mark", self._walkers * group["WG_SIZE"], scope),
                session.program(MARK, {**self._exact, **walks, "EXACT": 1}).bind("mark", exact_items, scope),
                *written, rounds.bind("judge", items, scope, ring_counts=int(not claim)), insert,
            ]

        first = [rounds.bind(kernel, items, scope) for kernel in ("count_bad", "list_bad")]
        later = [rounds.bind("renew", items, scope), *walked(True)] if again else []
        return [first + walked(claim), *([later] * again)]

    def _bind_claims(self) -> list[list[Launch]]:
        """Bind rounds in which points go in as soon as their triangles are claimed."""
        session, group, workers, keeps = self.session, self._group, self._workers, self._method == "patches"
        rounds, items = session.program(ROUNDS, {**group, "SIFTED": 0}), self._groups * group["WG_SIZE"]
        patches = session.program(PATCHES, {
            **self._exact, "MOST_RIM": self._rim, "EXACT": int(session.facts.is_cpu), "MOST_WAITING": _WAITING * keeps,
        })  # fmt: skip
        scope: dict[str, Any] = {
            **self._shared, **self.arrays, **self._rows(workers), "most_candidates": self._slots, "n_workers": workers,
            "most_points": self._most_points, "keys": session.empty(self._slots, np.uint64),
            "candidates": session.empty(self._slots, np.int32), "words": self._words(workers),
            "waiting": session.empty(workers * _WAITING, np.int32),
        }
        self._count_urgencies = rounds.bind("count_urgencies", items, scope)
        return [[
            rounds.bind("count_bad", items, scope), rounds.bind("list_bad", items, scope),
            patches.bind("refine_patches", workers, scope),
        ]]  # fmt: skip

    # ---- runs

    def run(self) -> None:
        """Refine until no triangle is left that can be improved, or there are as many points as there may be."""
        mesh = self.problem.mesh
        state = np.zeros(self._state.size, np.uint32)
        state[self._word["N_POINTS"]], state[self._word["N_TRIANGLES"]] = mesh.n_points, mesh.n_triangles
        self._state.set(state)
        self._placement.place(self.arrays)
        self.stopped, self._number = "", 0
        try:
            self._refine()
        except KeyboardInterrupt:
            if not self._partial:
                raise
            self.session.finish()
            self.stopped = "it was interrupted"

    def _refine(self) -> None:
        tell, seen, method = begin("refining", unit="bad triangles"), self.problem.mesh.n_points, self._method
        level = self._first_level() if method in _BY_CLAIMS else 1
        unread = 2 if self.session.facts.is_cpu else _UNREAD_ROUNDS
        while not self.stopped:
            for _ in range(unread if level == 1 else _UNREAD_ROUNDS):
                self._round(method, level)
                level = max(1, level - _STEP)
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
        """Return the urgency above which a few of the bad triangles are, which are the first to be processed.

        A mesh has the fewest points if the shortest edges come first, but the first of all are so few that they need no
        rounds of their own.
        """
        self._urgency_counts.fill(0)
        self._count_urgencies()
        counts = self._urgency_counts.get()[:-1]  # encroached segments are split on any level
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
        """Return the words of the state; the number of points goes back to what there was room for."""
        state = self._state.get()
        place = self._word["N_POINTS"]
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
        """Let cavities have rims four times as long, since only such are left."""
        if self._rim >= MOST_RIM:
            self.stopped = f"cavities have more than {MOST_RIM} edges"
            return
        self._rim, self._n_rows = 4 * self._rim, max(self._n_rows // 4, 64)
        self._workers = max(self._workers // 4, 64)
        self._bind()

    # ---- results

    def read(self) -> dict[str, NDArray[Any]]:
        """Return what :meth:`Placement.read` does, after ``run()``."""
        state = self._read()
        return self._placement.read(self.arrays, state["N_POINTS"], state["N_TRIANGLES"])

    @property
    def history(self) -> NDArray[np.int64]:
        rows: NDArray[np.int64] = self._history.get(2, 2 * self._number + 2).astype(np.int64).reshape(-1, 2)
        return rows[: np.count_nonzero(rows[:, 0]) + 1]

    @property
    def details(self) -> dict[str, Any]:
        """What the last run tells of itself."""
        given_up = self._read()["N_GIVEN_UP"]
        return {
            "rounds": self._number, "flips": self._placement.flips, "given_up": given_up, "stopped": self.stopped,
        }  # fmt: skip

    def release(self) -> None:
        """Let go of all arrays."""
        self.arrays, self._launches, self._shared = {}, {}, {}
