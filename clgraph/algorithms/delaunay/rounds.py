"""Refinement in rounds on one device."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.delaunay.problem import RefineProblem
from clgraph.progress import begin
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

START, MARK, ROUNDS = "delaunay/start.cl", "delaunay/mark.cl", "delaunay/rounds.cl"
MOST_ROUNDS = 1 << 14
MOST_RIM = 1 << 15  # edges of a cavity's rim that are tried


class Refinement:
    """One refinement of one mesh, ready to run; each ``run()`` begins with the mesh that was given.

    Attributes
    ----------
    session : Session
    problem : RefineProblem
    arrays : dict of str to DeviceArray
        Those of cl/delaunay/mesh.h.
    stopped : str
        Why the last run ended before no triangle was left that it could improve; empty if it did not.
    """

    def __init__(self, session: Session, problem: RefineProblem, *, partial: bool = False) -> None:
        self.session, self.problem, self._partial = session, problem, partial
        self.stopped, self.rounds = "", [0]
        mesh, facts = problem.mesh, session.facts
        n, t, cpu = mesh.n_points, mesh.n_triangles, facts.is_cpu
        self._group = {"WG_SIZE": 1} if cpu else {"WG_SIZE": 128}
        self._groups = (8 if cpu else 16) * facts.compute_units
        self._walkers = (32 if cpu else 16) * facts.compute_units
        self._exact = {"WG_SIZE": 1} if cpu else {"WG_SIZE": 32}
        self._exact_groups = (32 if cpu else 1) * facts.compute_units
        self._rim = 32
        self._n_rows = min(max(1024, t // 4), 1 << (15 if cpu else 18))
        order, rows, ends = problem.segments_by_row()
        self._segment_order = order
        upload = session.upload
        self._given = {
            "segment_rows": upload(rows), "segment_ends": upload(ends.ravel() if ends.size else np.zeros(2, np.int32)),
            "caps": upload(problem.caps()),
        }
        words = session.program(MARK, self._exact).constant("STATE_WORDS")
        self._state = session.empty(words, np.uint32)
        self._word = {name: session.program(ROUNDS, self._group).constant(name) for name in (
            "N_POINTS", "N_TRIANGLES", "N_BAD", "N_CANDIDATES", "N_GIVEN_UP", "N_TOO_LARGE",
        )}
        self._points = n
        self.arrays: dict[str, DeviceArray] = {}
        self._make_room(self._first_room())

    def _first_room(self) -> int:
        """Return for how many points there is room at first: for twice as many as the mesh has, and some more."""
        room = 2 * self.problem.mesh.n_points + 1024
        most = self.problem.max_points
        return room if most is None else max(min(room, most), self.problem.mesh.n_points)

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
        self.most_points = most_points
        self._bind()

    def _bind(self) -> None:
        """Bind the launches of a round."""
        session, n_rows, rim = self.session, self._n_rows, self._rim
        constant = session.program(MARK, self._exact).constant
        rows = {
            "rim": session.empty(4 * n_rows * rim, np.int32), "cavity": session.empty(n_rows * rim, np.int32),
            "pending": session.empty(n_rows * rim, np.int32), "candidates": session.empty(n_rows, np.int32),
            "keys": session.empty(n_rows, np.uint64), "unsure": session.empty(n_rows, np.int32),
            "heads": session.empty(4 * n_rows, np.int32), "spots": session.empty(2 * n_rows, np.float64),
            "ends": session.empty(n_rows, np.int32), "needs": session.empty(n_rows, np.int32),
            "totals": session.empty(2, np.uint32), "history": session.zeros(2 * MOST_ROUNDS, np.uint32),
            **{name: session.empty(self._groups, np.uint32) for name in ("leaders", "bads", "winners", "slots")},
        }
        self._history = rows["history"]
        items = self._exact["WG_SIZE"] * self._exact_groups
        scope: dict[str, Any] = {
            **self._given, **self.arrays, **rows, "state": self._state, "n_rows": n_rows, "round": 0,
            "ask": self.problem.demands(), "most_points": self.most_points,
            "words": session.empty(items * constant("WIDE_WORDS"), np.uint64),
        }
        rounds = session.program(ROUNDS, self._group)
        walks = {"MOST_RIM": rim}
        group = self._group["WG_SIZE"]

        def bound(kernel: str) -> Launch:
            return rounds.bind(kernel, self._groups * group, scope)

        self._round = [
            bound("count_bad"), bound("list_bad"),
            session.program(MARK, {**self._group, **walks}).bind("mark", self._walkers * group, scope),
            session.program(MARK, {**self._exact, **walks, "EXACT": 1}).bind("mark", items, scope),
            bound("judge"), bound("insert"),
        ]
        self._counted = [launch for launch in self._round if launch.takes("round")]

    # ---- runs

    def run(self) -> None:
        """Refine until no triangle is left that can be improved, or there are as many points as there may be."""
        self._start()
        tell = begin("refining", unit="bad triangles")
        most = self.problem.max_points
        points, number, at_once, self.stopped = self.problem.mesh.n_points, 0, 1, ""
        try:
            while True:
                for number in range(number + 1, number + 1 + at_once):
                    self._one_round(number)
                state = self._state.get()
                bad, before, points = (int(state[self._word[name]]) for name in ("N_BAD", "N_TOO_LARGE", "N_POINTS"))
                tell(bad)
                if bad == 0:
                    break
                if points >= self.most_points:
                    if most is not None and points >= most:
                        self.stopped = f"max_points = {most} is reached"
                        break
                    self._grow()
                elif before and points == self._seen:
                    if self._rim >= MOST_RIM:
                        self.stopped = f"cavities have more than {MOST_RIM} edges"
                        break
                    self._rim, self._n_rows = 4 * self._rim, max(self._n_rows // 4, 64)
                    self._bind()
                if number + at_once >= MOST_ROUNDS:
                    self.stopped = f"{number} rounds did not end it"
                    break
                self._seen = points
        except KeyboardInterrupt:
            if not self._partial:
                raise
            self.session.finish()
            self.stopped = "it was interrupted"
        self._points = int(self._state.get()[self._word["N_POINTS"]])
        self.rounds = [number]

    def _one_round(self, number: int) -> None:
        for launch in self._counted:
            launch.set(round=number)
        for launch in self._round:
            launch()

    def _grow(self) -> None:
        room, most = 2 * self.most_points, self.problem.max_points
        history = self._history
        self._make_room(room if most is None else min(room, most))
        self._history.copy_from(history)

    def _start(self) -> None:
        mesh, session = self.problem.mesh, self.session
        state = np.zeros(self._state.size, np.uint32)
        state[self._word["N_POINTS"]], state[self._word["N_TRIANGLES"]] = mesh.n_points, mesh.n_triangles
        self._state.set(state)
        self._seen = mesh.n_points
        program = session.program(START)
        constant = program.constant
        kinds = np.full(mesh.n_points, constant("INPUT_POINT"), np.int32)
        kinds[self.problem.sharp_points()] = constant("SHARP_POINT")
        self.arrays["points"].set(mesh.points.ravel())
        self.arrays["point_segments"].set(kinds)
        self.arrays["owners"].fill(0)
        scope = {
            **self._given, **self.arrays, "n_triangles": mesh.n_triangles, "ask": self.problem.demands(),
            "triangles": session.upload(mesh.triangles.ravel()), "neighbors": session.upload(mesh.neighbors.ravel()),
        }
        for kernel in ("start", "look"):
            program.bind(kernel, mesh.n_triangles, scope)()
        session.finish()

    # ---- results

    def read(self) -> dict[str, NDArray[Any]]:
        """Return points, point_segments, triangles, neighbors, origins and the parts of segments, after ``run()``."""
        session, state = self.session, self._state.get()
        n, t = (int(state[self._word[name]]) for name in ("N_POINTS", "N_TRIANGLES"))
        most_parts = len(self._segment_order) + n - self.problem.mesh.n_points
        out = {
            "triangles": session.empty(3 * t, np.int32), "neighbors": session.empty(3 * t, np.int32),
            "origins": session.empty(t, np.int32), "parts": session.empty(4 * max(most_parts, 1), np.int32),
            "n_parts": session.zeros(1, np.uint32),
        }
        session.program(START).bind("finish", t, {**self.arrays, **out}, n_triangles=t)()
        n_parts = out["n_parts"].item()
        wanted = {
            "points": (self.arrays["points"], 2 * n), "point_segments": (self.arrays["point_segments"], n),
            "triangles": (out["triangles"], 3 * t), "neighbors": (out["neighbors"], 3 * t),
            "origins": (out["origins"], t), "parts": (out["parts"], 4 * n_parts),
            "history": (self._history, 2 * (self.rounds[0] + 1)),
        }
        found = session.read(*((array, 0, size) for array, size in wanted.values()))
        return dict(zip(wanted, found, strict=True))

    @property
    def segment_order(self) -> NDArray[np.intp]:
        """Which segment of the mesh each number of a segment on the device stands for."""
        return self._segment_order

    @property
    def details(self) -> dict[str, Any]:
        """What the last run tells of itself."""
        return {"rounds": self.rounds[0], "given_up": int(self._state.get()[self._word["N_GIVEN_UP"]])}

    def release(self) -> None:
        """Let go of all arrays."""
        self.arrays, self._round, self._counted = {}, [], []
