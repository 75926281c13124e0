"""A child process that drives one device, and the connection to it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from multiprocessing import Pipe

from clgraph.multi_device import member

SECONDS_TO_END = 5.0


class ChildProcess:
    """A child process that drives one device, and the connection to this child process."""

    def __init__(self, device: str) -> None:
        self.connection, theirs = Pipe()
        # multiprocessing's own start is not used, because it would run the caller's script again in the child process.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
        command = [sys.executable, "-m", member.__name__, str(theirs.fileno()), device]
        with theirs:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[theirs.fileno()], env=environment)

    def end(self) -> None:
        """Kill the child process that drives the device."""
        self.connection.close()
        self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(SECONDS_TO_END)
        if self.process.stdin is not None:
            self.process.stdin.close()
