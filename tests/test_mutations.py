"""The table of tools/mutate_kernels.py: which lane finds what when a kernel is broken at one place."""

import sys
from collections import Counter

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import kernel_mutations
import mutate_host
import mutate_kernels
from covering_tests import Covering

ANSWERS = ("found_by", "equivalent", "unseen")


def test_every_place_of_the_kernels_has_a_row() -> None:
    places, rows = {change.key for change in kernel_mutations.mutations()}, set(mutate_kernels.read_table())
    assert places == rows, f"run tools/mutate_kernels.py: no rows {places - rows}, rows of old {rows - places}"


def test_nearly_all_are_found() -> None:
    table = mutate_kernels.read_table()
    for key, row in table.items():
        assert [name for name in ANSWERS if row.get(name)] == list(row) and len(row) == 1, key
    n_found, n_unseen = (sum(name in row for row in table.values()) for name in ("found_by", "unseen"))
    assert n_found >= 0.95 * (n_found + n_unseen), f"{n_found} found, {n_unseen} unseen"


def test_changes_are_what_they_say() -> None:
    text = "if (!grid_barrier(control, members, &passed)) return;\nfetch_add(sum, x);"
    kinds = {kind: text[begin:end] for begin, end, kind, *_ in kernel_mutations.places(text)}
    assert kinds == {
        "check ignored": "!grid_barrier(control, members, &passed)",
        "no grid_barrier": "grid_barrier(control, members, &passed)",
        "fetch_add in steps": "fetch_add(sum, x)",
    }


def test_tests_of_a_line_that_run_little_else_come_first() -> None:
    change = next(change for change in mutate_host.mutations() if change.file == "clgraph/runtime/memory/arrays.py")
    line = mutate_host.lines_of(change, (ROOT / change.file).read_text())[0]
    budget, seconds = mutate_host.Budget(2.0, 8.0, 3), {"broad": 0.5, "narrow": 1.0, "long": 2.5, "elsewhere": 0.1}
    lines = Counter({"broad": 20, "narrow": 2, "long": 1, "elsewhere": 1})
    covering = Covering({change.file: {line: ["broad", "narrow", "long"], 0: ["elsewhere"]}}, seconds, lines)
    assert mutate_host.tests_of(change, covering, budget) == ["narrow", "broad"]
    only_long = covering._replace(tests={change.file: {line: ["long"]}})
    assert mutate_host.tests_of(change, only_long, budget) == ["long"]
    assert mutate_host.tests_of(change, covering._replace(tests={}), budget) == []
