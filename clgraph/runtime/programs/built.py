"""The programs that one device has built."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.programs.program import Program
from clgraph.runtime.programs.source import known_to


class Programs:
    """Each kernel file, built once for the definitions that it reads.

    Attributes
    ----------
    built : dict
        Programs by kernel file and definitions. A program has two keys: one has the definitions that were given, the
        other only those in the file.
    """

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self.built: dict[tuple[Any, ...], Program] = {}
        self._lock = threading.RLock()

    def get(self, source: str, defines: Mapping[str, int | str]) -> Program:
        """Return *source* built for *defines*, of which one is ``WG_SIZE``."""
        asked = (source, *sorted(defines.items()))
        with self._lock:
            if asked not in self.built:  # under what was asked for; programs of several such may be one
                seen = {**known_to(source, defines), "WG_SIZE": defines["WG_SIZE"]}
                key = (source, *sorted(seen.items()))
                if key not in self.built:
                    started = time.perf_counter()
                    self.built[key] = Program(self._commands, source, seen)
                    self._commands.record_compile(time.perf_counter() - started)
                self.built[asked] = self.built[key]
            return self.built[asked]
