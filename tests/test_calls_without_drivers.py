"""Calls that the host answers ask no driver, and do not even load pyopencl."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import DEVICES, PLATFORMS, run_python, session_on

DEVICE = PLATFORMS.get(DEVICES[0], DEVICES[0])
_SMALL = """
import json, sys
import numpy as np, scipy.sparse as sp, scipy.sparse.csgraph as csgraph
import clgraph as cg

matrix = sp.random_array((100, 100), density=0.05, format="csr", rng=np.random.default_rng(1))
symmetric = (matrix + matrix.T).tocsr()
distances = csgraph.dijkstra(matrix, indices=0)
levels = csgraph.dijkstra(matrix, indices=0, unweighted=True)
tree = csgraph.minimum_spanning_tree(symmetric).sum()
n_components = csgraph.connected_components(symmetric)[0]
infos = []
for given, undirected in ((matrix, symmetric), (cg.Graph.from_scipy(matrix), cg.Graph.from_scipy(symmetric))):
    for strategy in ("auto", "host"):
        how = {"strategy": strategy, "verify": True}
        results = [
            cg.bfs(given, 0, **how), cg.sssp(given, 0, predecessors=True, **how),
            cg.minimum_spanning_forest(undirected, **how), cg.connected_components(undirected, **how),
        ]
        assert np.array_equal(np.where(results[0].distances < 0, np.inf, results[0].distances), levels)
        assert np.array_equal(results[1].distances, distances)
        assert np.isclose(results[2].weight, tree) and results[3].n_components == n_components
        infos += [result.info for result in results]
"""
_ASK = """
print(json.dumps({
    "picked": sorted({(info.strategy, info.device) for info in infos}), "shown": len(str(infos)),
    "loaded": sorted(name for name in sys.modules if name.partition(".")[0] == "pyopencl"),
}))
"""


def test_small_graphs_are_answered_without_a_driver(tmp_path: Path) -> None:
    done = run_python(
        _SMALL + _ASK, OCL_ICD_VENDORS=str(tmp_path), HOME="/dev/null", CLGRAPH_CACHE_DIR="/dev/null/none"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["picked"] == [["host", "host"]] and found["shown"] > 0 and found["loaded"] == []


@pytest.mark.parametrize("chosen", ['strategy="frontier"', f"session={DEVICE!r}", 'strategy="frontier", delta=1.0'])
def test_a_device_or_its_strategy_that_is_named_is_asked(chosen: str) -> None:
    session_on(DEVICES[0])  # else skip
    code = f"{_SMALL}\ninfos.append(cg.sssp(given, 0, {chosen}, verify=True).info)\n{_ASK}"
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "pyopencl" in found["loaded"]
    assert ("frontier" in [name for name, _ in found["picked"]]) == ("frontier" in chosen)


def test_larger_graphs_go_to_the_device() -> None:
    session_on(DEVICES[0])
    code = "import clgraph as cg; print(cg.connected_components(cg.generators.rmat(16, 16), verify=True).info.device)"
    done = run_python(code)
    assert done.returncode == 0 and done.stdout.strip() not in ("", "host"), done.stderr
