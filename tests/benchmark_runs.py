"""Scripts of benchmarks, run in a folder as users run them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from conftest import ROOT

from clgraph.report import read_rows, write_rows


def run_script(directory: Path, script: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


class Bench:
    """Runs the benchmark *name* in a folder, on a graph of a few *edges* that lies there."""

    def __init__(self, folder: Path, name: str, edges: str) -> None:
        self.folder, self.name, self.results, self.graph = folder, name, folder / "results.json", folder / "graph.txt"
        self.graph.write_text(edges.replace(", ", "\n") + "\n", encoding="utf-8")

    def run(self, *options: str, name: str = "") -> subprocess.CompletedProcess[str]:
        return run_script(self.folder, f"bench_{name or self.name}.py", *options)

    def measure(self, *options: str) -> subprocess.CompletedProcess[str]:
        written = ("--graphs", str(self.graph), "--json", str(self.results))
        return self.run("-d", "pocl", *written, "--repeats", "1", *options)

    def rows(self, *options: str, says: str = "pick / best") -> list[dict[str, Any]]:
        """Measure, and return all rows of the file."""
        measured = self.measure(*options)
        assert measured.returncode == 0 and says in measured.stdout, measured.stderr
        return read_rows(self.results)

    def check_against_the_reference(self, n_rows: int, row: dict[str, Any], **wrong: Any) -> None:
        """All rows agree with the reference, and become verified; one with *wrong* fields does not."""
        checked = self.run("--reference", str(self.results))
        assert checked.stdout.count(" agrees\n") == n_rows, checked.stderr
        assert all(row["verified"] for row in read_rows(self.results) if "verified" in row)
        write_rows(self.results, [{**row, **wrong}])
        refused = self.run("--reference", str(self.results))
        assert refused.returncode == 1 and "1 rows differ from the reference" in refused.stderr
