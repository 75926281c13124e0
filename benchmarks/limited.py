"""Calls in another process, which is ended when one takes longer than it may.

A kernel that runs cannot be left, so a call that may take minutes is made by a process that can be killed. The process
keeps what its first call of ``make()`` has returned, such as a session, for the calls that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Self

_LEAVING_SECONDS = 20.0  # in which a driver must have freed what a killed process had


class LimitError(Exception):
    """A call took longer than it may, which is so many *seconds*."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not done after {seconds:g} s")
        self.seconds = seconds


class LimitedCalls:
    """A process that answers calls ``function(made, *given)``, *made* by ``make(*of)`` in that process.

    Functions are sent by name, and what they take and return is pickled. An error of a call is raised here.
    """

    def __init__(self, make: Callable[..., Any], *of: Any) -> None:
        self._make, self._of = make, of
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def is_running(self) -> bool:
        """Whether the process still has what earlier calls have left there."""
        return self._process is not None

    def __call__(self, function: Callable[..., Any], *given: Any, limit_seconds: float | None = None) -> Any:
        """Return ``function(made, *given)``.

        Raises
        ------
        LimitError
            It took more than *limit_seconds*, and the process was killed. The next call starts another.
        """
        if self._pipe is None:
            context = get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self._make, self._of), daemon=True)
            self._process.start()
            theirs.close()
            self._answer(None)
        self._pipe.send((function, given))
        return self._answer(limit_seconds)

    def _answer(self, limit_seconds: float | None) -> Any:
        assert self._pipe is not None
        if limit_seconds is not None and not self._pipe.poll(limit_seconds):
            self.end()
            raise LimitError(limit_seconds)
        try:
            found, error = self._pipe.recv()
        except EOFError:
            self.end()
            raise RuntimeError("the process that measures has ended") from None
        if error is not None:
            raise error
        return found

    def end(self) -> None:
        """End the process."""
        if self._process is not None and self._pipe is not None:
            self._pipe.close()
            self._process.kill()
            self._process.join(_LEAVING_SECONDS)
        self._process = self._pipe = None


def _serve(pipe: Connection, make: Callable[..., Any], of: tuple[Any, ...]) -> None:
    made = make(*of)
    pipe.send((None, None))
    while True:
        try:
            function, given = pipe.recv()
        except EOFError:
            return
        try:
            answer = function(made, *given), None
        except Exception as error:  # whatever it is, it is raised where the call was made
            answer = None, error
        pipe.send(answer)
