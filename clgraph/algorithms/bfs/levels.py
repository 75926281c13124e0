"""Breadth-first search that the host drives level by level, for GPUs without a grid barrier."""

from __future__ import annotations

from clgraph.engine.plan import Plan
from clgraph.runtime.programs.program import Launch

SOURCE = "bfs/frontier.cl"


class Levels:
    """A breadth-first search whose levels the host launches: top-down, but bottom-up while the frontier is large.

    After each kernel the host reads how many vertices and edges the kernel found, and chooses the next kernel.

    Parameters
    ----------
    plan : Plan
        A plan whose lists hold the frontier of turn 0 when the search runs.
    alpha, beta : int
        As in :func:`bfs`. With an alpha of 0 the search never goes bottom-up.
    """

    def __init__(self, plan: Plan, *, alpha: int, beta: int) -> None:
        session, graph, program = plan.session, plan.problem.graph, plan.program(SOURCE)
        n, scope = graph.n_vertices, {**plan.scope, "turn": 0, "depth": 1}
        self._n, self._n_edges, self._state, self._program = n, graph.n_edges, scope["state"], program
        self._max_depth, self._alpha, self._beta = scope["max_depth"], alpha, beta
        many = 8 * session.facts.compute_units * program.work_group_size
        self._expand = program.bind("expand_level", many, scope)
        self._list = program.bind("list_level", many, scope)
        if alpha:
            self._mark = program.bind("mark_level", many, scope)
            self._pull = program.bind("pull_level", many, scope)

    def run(self) -> None:
        """Run the breadth-first search, starting from the vertices in the device's frontier lists."""
        turn, depth, explored = 0, 1, 0
        while depth <= self._max_depth:
            light, heavy, edges, _ = self._sizes(turn)
            if not light + heavy:
                return
            if self._alpha and edges * self._alpha > max(0, self._n_edges - explored - edges):
                turn, depth = self._step_bottom_up(turn, depth)
            else:
                self._launch(self._expand, turn=turn, depth=depth)
                turn, depth = turn + 1, depth + 1
            explored += edges

    def _sizes(self, turn: int) -> list[int]:
        """Return four counts of a search *turn*: listed vertices, listed
        pieces of long rows, edges, and found vertices.
        """
        size = self._program.constant("SIZES")
        first = self._program.constant("STATE_SIZES") + size * (turn & 3)
        return [int(word) for word in self._state.get(first, first + 4)]

    def _step_bottom_up(self, turn: int, depth: int) -> tuple[int, int]:
        """Search bottom-up until a level finds few vertices, and list these vertices.

        Return the next turn and depth.
        """
        while depth <= self._max_depth:
            self._launch(self._mark, depth=depth)
            self._launch(self._pull, turn=turn, depth=depth)
            turn, depth = turn + 1, depth + 1
            found = self._sizes(turn)[3]
            if not found:
                return turn, self._max_depth + 1
            if found * self._beta <= self._n:
                break
        self._launch(self._list, turn=turn, depth=depth)
        return turn, depth

    def _launch(self, launch: Launch, **values: int) -> None:
        launch.set(**values)
        launch()
