"""A fixture that makes the networkx backend run on PoCL, without warnings about cached conversions."""

from collections.abc import Iterator
from typing import Any

import networkx as nx
import networkx_entry
import pytest

networkx_entry.register()
CONFIG = nx.config.backends.clgraph


@pytest.fixture(autouse=True)
def on_pocl(pocl: Any) -> Iterator[None]:
    ignored = nx.config.warnings_to_ignore
    CONFIG.device, nx.config.warnings_to_ignore = "pocl", {"cache"}
    yield
    CONFIG.device, CONFIG.strategy, nx.config.warnings_to_ignore = None, "auto", ignored
