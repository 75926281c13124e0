"""Write a mesh to the device in spatial order, and read the refined mesh back from the device."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.refine_mesh.problem import RefineProblem
from clgraph.primitives.sort import Sort
from clgraph.runtime.driver.failure import STATUS_STUCK, check_status
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

START, FLIPS = "refine_mesh/start.cl", "refine_mesh/flips.cl"


class Placement:
    """The transfer of a mesh to the device arrays of cl/refine_mesh/mesh.h, and back after refinement.

    ``given`` has two inputs of the kernels that never change: the ends of segments and the area bounds. ``flips`` is
    the number of edges that were found not Delaunay, summed over all rounds of flips.
    """

    def __init__(self, session: Session, problem: RefineProblem) -> None:
        self._session, self._problem = session, problem
        self._program = session.program(START)
        self._segment_order, rows, ends = problem.segments_by_row()
        sharp = problem.sharp_points().astype(np.int32)
        self._n_sharp, self._sharp_points = sharp.size, session.upload(sharp if sharp.size else np.zeros(1, np.int32))
        self._rows, n_segments = session.upload(rows), max(1, len(ends))
        self._ends = session.upload(ends.ravel() if ends.size else np.zeros(2, np.int32))
        self.given = {"segment_ends": session.empty(2 * n_segments, np.int32), "caps": session.upload(problem.caps())}
        self._point_order: DeviceArray | None = None

    def place(self, arrays: dict[str, DeviceArray]) -> None:
        """Write the mesh to the device arrays *arrays*, such that near
        points and near triangles are close in memory.
        """
        mesh, session, program = self._problem.mesh, self._session, self._program
        n, t = mesh.n_points, mesh.n_triangles
        left, bottom, right, top = self._problem.bounds
        whole: dict[str, NDArray[Any]] = {
            "given": mesh.points,
            "triangles": mesh.triangles,
            "neighbors": mesh.neighbors,
        }
        scope: dict[str, Any] = {
            **self.given,
            **arrays,
            # A CPU's kernels read these numpy arrays in place, so this function returns only after all kernels ended.
            **{name: session.upload(array.ravel(), in_place=True) for name, array in whole.items()},
            "n_points": n,
            "n_triangles": t,
            "n_segments": len(self._segment_order),
            "segment_rows": self._rows,
            "given_ends": self._ends,
            "low_x": left,
            "low_y": bottom,
            "scale": 65536.0 / max(right - left, top - bottom),
            "ask": self._problem.demands(),
            "ranks": session.empty(n, np.int32),
            "slots": session.empty(t, np.int32),
        }
        scope["point_order"] = self._point_order = self._sorted("key_points", n, scope, 32)
        program.bind("place_points", n, scope)()
        sharp = self._sharp_points
        program.bind("sharpen_points", sharp.size, scope, n_sharp=self._n_sharp, sharp_points=sharp)()
        program.bind("place_segments", len(self._segment_order), scope)()
        scope["triangle_order"] = self._sorted("key_triangles", t, scope, max(1, (n - 1).bit_length()))
        for kernel in ("place_triangles", "start"):
            program.bind(kernel, t, scope)()
        self._flip(scope)
        program.bind("look", t, scope)()
        session.finish()

    def _flip(self, scope: dict[str, Any]) -> None:
        """Flip edges of the mesh on the device until it is Delaunay.

        The contents of the array ``owners`` are lost.
        """
        session, n, t = self._session, self._problem.mesh.n_points, self._problem.mesh.n_triangles
        cpu, units = session.facts.is_cpu, session.facts.compute_units
        program = session.program(FLIPS, {"WG_SIZE": 1 if cpu else 64})
        items = (32 if cpu else 128) * units
        scope = {
            **scope,
            "found": session.zeros(program.constant("FOUND_WORDS"), np.uint32),
            "round": 0,
            "edges": session.empty(t, np.uint8),
            "words": session.empty(items * program.constant("WIDE_WORDS"), np.uint64),
        }
        scope["owners"].fill(0)
        propose, flip = (program.bind(kernel, items, scope) for kernel in ("propose", "flip"))
        # An edge that was flipped away never returns, so the number of vertex pairs bounds the number of flips.
        self.flips, most = 0, n * (n - 1) // 2
        for number in count(1):
            propose.set(round=number)
            propose()
            if not (found := scope["found"].item(program.constant("N_FLIPS"))):
                break
            self.flips += found
            if self.flips > most:
                check_status(STATUS_STUCK, f"{number} rounds of flips")
            flip.set(round=number)
            flip()
            scope["found"].fill(0)
        if number > 1:
            scope["owners"].fill(0)

    def _sorted(self, kernel: str, n: int, scope: dict[str, Any], bits: int) -> DeviceArray:
        """Return the numbers 0 … *n* − 1, sorted by the key that *kernel* computes for each of the numbers."""
        session = self._session
        keys, out_keys = session.empty(n, np.uint32), session.empty(n, np.uint32)
        items, out = session.empty(n, np.int32), session.empty(n, np.int32)
        self._program.bind(kernel, n, scope, keys=keys, items=items)()
        Sort(session, keys, out_keys, items, out, end_bit=bits).run_checked()
        return out

    def read(self, arrays: dict[str, DeviceArray], n: int, t: int) -> dict[str, NDArray[Any]]:
        """Return the refined mesh of *n* points and *t* triangles as a dictionary of numpy arrays.

        Its keys are "points", "triangles", "neighbors", "origins", "segments" and "wholes". "wholes" has the number of
        the original segment of each segment. The points of the given mesh come first, in their order, and the new
        points follow.
        """
        session, mesh = self._session, self._problem.mesh
        most_parts = len(self._segment_order) + n - mesh.n_points
        out = {
            "triangles": session.empty(3 * t, np.int32),
            "neighbors": session.empty(3 * t, np.int32),
            "origins": session.empty(t, np.int32),
            "parts": session.empty(4 * max(most_parts, 1), np.int32),
            "n_parts": session.zeros(1, np.uint32),
        }
        self._program.bind(
            "finish", t, {**arrays, **out}, n_triangles=t, n_given=mesh.n_points, point_order=self._point_order
        )()
        new_points, triangles, neighbors, origins, parts = session.read(
            (arrays["points"], 2 * mesh.n_points, 2 * n),
            (out["triangles"], 0, 3 * t),
            (out["neighbors"], 0, 3 * t),
            (out["origins"], 0, t),
            (out["parts"], 0, 4 * out["n_parts"].item()),
        )
        parts = parts.reshape(-1, 4)
        parts = parts[np.argsort(parts[:, 0])]
        return {
            "points": np.concatenate([mesh.points, new_points.reshape(-1, 2)]),
            "triangles": triangles.reshape(-1, 3),
            "neighbors": neighbors.reshape(-1, 3),
            "origins": origins,
            "segments": np.ascontiguousarray(parts[:, 1:3]),
            "wholes": self._segment_order[parts[:, 3]],
        }
