"""Calls in another process, which is ended when one takes longer than it may.

A kernel that runs cannot be left, so a call that may take minutes is made by a process that can be killed. The process
keeps what its first call of ``make()`` has returned, such as a session, for the calls that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Self

_LEAVING_SECONDS = 20.0  # A driver has this long to free the memory of a killed process.
_made: list[Any] = []  # in the other process


class LimitError(Exception):
    """A call took longer than its limit of *seconds*."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not done after {seconds:g} s")
        self.seconds = seconds


class LimitedCalls:
    """A process that answers calls ``function(made, *given)``, *made* by ``make(*of)`` in that process.

    Functions are sent by name, and what they take and return is pickled. An error of a call is raised here.
    """

    def __init__(self, make: Callable[..., Any], *of: Any) -> None:
        self._make, self._of = make, of
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def is_running(self) -> bool:
        """Whether the process still has the state of earlier calls."""
        return self._pool is not None

    def __call__(self, function: Callable[..., Any], *given: Any, limit_seconds: float | None = None) -> Any:
        """Return ``function(made, *given)``.

        Raises
        ------
        LimitError
            It took more than *limit_seconds*, and the process was killed. The next call starts another.
        """
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, get_context("spawn"))
            self._pool.submit(_keep, self._make, self._of).result()
        answer = self._pool.submit(_answer, function, given)
        try:
            return answer.result(limit_seconds)
        except TimeoutError:
            if answer.done():  # it is an error of the call
                raise
            assert limit_seconds is not None
            self.end()
            raise LimitError(limit_seconds) from None
        except BrokenExecutor:
            self.end()
            raise

    def end(self) -> None:
        """End the process."""
        if self._pool is not None:
            processes = list((self._pool._processes or {}).values())
            for process in processes:
                process.kill()
            for process in processes:
                process.join(_LEAVING_SECONDS)
            self._pool.shutdown(wait=False)
        self._pool = None


def _keep(make: Callable[..., Any], of: tuple[Any, ...]) -> None:
    _made.append(make(*of))


def _answer(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    return function(_made[0], *given)
