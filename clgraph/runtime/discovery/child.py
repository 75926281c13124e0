"""Code that may crash or hang runs in a child process, and its answer is stored in a file."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from clgraph.runtime.programs.cache import TESTING, announced
from clgraph.user_cache import locked, write_whole

# An environment variable that is set in a child process, which must not start further children.
IN_CHILD = "CLGRAPH_IN_CHILD"
STARTED = "started"  # A child process prints this word after its imports.


class Answer(NamedTuple):
    """The answer of a child process: the JSON document in the last line of its output, or an error.

    ``died`` means that a driver is at fault, not the start of the interpreter: the child ended by a signal or by the
    time-out, or it failed after it had printed :data:`STARTED`.
    """

    document: Any = None
    error: str | None = None
    died: bool = False


def search_path() -> str:
    """Return the ``PYTHONPATH`` for a child process:
    this clgraph's directory, and then this process's ``PYTHONPATH``.
    """
    return os.pathsep.join(filter(None, [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH")]))


def run_child(module: str, *arguments: str, timeout: float, **environment: str) -> Answer:
    """Run *module* with *arguments* in a new Python interpreter, for at most *timeout* seconds.

    Raises
    ------
    OSError or RuntimeError
        This process cannot start child processes.
    """
    if getattr(sys, "frozen", False) or not sys.executable:
        raise OSError("there is no Python interpreter to start")
    try:
        child = subprocess.run(
            [sys.executable, "-m", module, *arguments], capture_output=True, text=True, errors="replace",
            timeout=timeout, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, **environment, "PYTHONPATH": search_path(), IN_CHILD: "1"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Answer(error=f"did not answer within {timeout:g} s", died=True)
    if child.returncode < 0:
        return Answer(error=f"died of {signal.Signals(-child.returncode).name}", died=True)
    # On Windows, a return code from 2^30 on is the code of the exception that ended the child process.
    if child.returncode >= 1 << 30:
        return Answer(error=f"died of {child.returncode:#x}", died=True)
    lines = (child.stdout if child.returncode == 0 else child.stderr).strip().splitlines()
    last = lines[-1] if lines else "no output"
    if child.returncode:
        return Answer(error=last, died=STARTED in child.stdout.splitlines())
    try:
        return Answer(json.loads(last))
    except ValueError:
        return Answer(error=f"unexpected output: {last!r}")


def kept_verdict(
    path: Path, keys: set[str], judge: Callable[[], tuple[dict[str, Any], bool]], *, again: bool = False
) -> dict[str, Any]:
    """Return the verdict that the file *path* stores, or the verdict of *judge* if the file stores none.

    *judge* also returns whether its verdict shall be stored. A file is ignored if it lacks one of *keys*, or if *again*
    is true.
    """

    def kept() -> dict[str, Any] | None:
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(path.read_text(encoding="utf-8"))
            return found if isinstance(found, dict) and found.keys() >= keys and not again else None
        return None

    if (found := kept()) is None:
        # The lock makes other processes wait for the verdict on a device, so that they do not run the same test.
        with locked(path.with_name("lock")), announced(TESTING), contextlib.suppress(OSError):
            if (found := kept()) is None:
                found, is_lasting = judge()
                if is_lasting:
                    write_whole(path, json.dumps(found))
    assert found is not None
    return found
