"""The entry points of the networkx backend, for a checkout whose installation does not have them yet."""

import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GROUPS = "networkx.backends", "networkx.backend_info"


def declared() -> dict[str, str]:
    """Return the object of each group, as pyproject.toml has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {group: project["entry-points"][group]["clgraph"] for group in GROUPS}


def folder_for_path(parent: Path) -> list[str]:
    """Return the folder to put on the path of a new process; none if the installation has the entry points."""
    if entry_points(group=GROUPS[0], name="clgraph"):
        return []
    info = parent / ".entry" / "clgraph_nx-0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: clgraph-nx\nVersion: 0\n", encoding="utf-8")
    text = "".join(f"[{group}]\nclgraph = {name}\n" for group, name in declared().items())
    (info / "entry_points.txt").write_text(text, encoding="utf-8")
    return [str(info.parent)]


def register() -> None:
    """Make the backend known to the networkx of this process, if it is not yet."""
    import networkx as nx
    from networkx.utils import backends

    if "clgraph" in backends.backends:
        return
    entries = {group: EntryPoint("clgraph", name, group) for group, name in declared().items()}
    info = entries[GROUPS[1]].load()()
    backends.backends["clgraph"], backends.backend_info["clgraph"] = entries[GROUPS[0]], info
    nx.config.backends = nx.utils.Config(clgraph=nx.utils.Config(**info["default_config"]), **nx.config.backends)
    backends._dispatchable.__call__ = backends._dispatchable._call_if_any_backends_installed
