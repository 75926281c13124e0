"""The Programs class, which builds each program of kernels of a device once."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.programs.program import Program
from clgraph.runtime.programs.source import flatten, known_to


class Programs:
    """The compiled programs of one device.

    A kernel file is built once for each set of definitions that it uses, and again if the user has changed it.

    Attributes
    ----------
    built : dict
        Programs by kernel file, its text and definitions. A program has several keys: one with the definitions that
        occur in the file, and one for each set of definitions with which it was requested.
    """

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self.built: dict[tuple[Any, ...], Program] = {}
        self._lock = threading.RLock()

    def get(self, source: str, defines: Mapping[str, int | str]) -> Program:
        """Return the kernel file *source* as a program, compiled with *defines*, which must include ``WG_SIZE``."""
        # The text of a file of the package is one object, whose hash is computed once.
        text = flatten(source)
        asked = (source, text, *sorted(defines.items()))
        with self._lock:
            if asked not in self.built:  # Requests with different definitions may need the same program.
                seen = {**known_to(source, defines), "WG_SIZE": defines["WG_SIZE"]}
                key = (source, text, *sorted(seen.items()))
                if key not in self.built:
                    started = time.perf_counter()
                    self.built[key] = self.make(source, seen)
                    self._commands.record_compile(time.perf_counter() - started)
                self.built[asked] = self.built[key]
            return self.built[asked]

    def make(self, source: str, defines: Mapping[str, int | str]) -> Program:
        """Build kernel file *source*.

        Tests override this method to run programs in other ways.
        """
        return Program(self._commands, source, defines)
