"""Progress: who listens hears every step to its end, a terminal gets a bar, nobody else gets anything."""

import gzip
import io
import lzma
import sys
import time
from pathlib import Path

import pytest

import clgraph as cg
from clgraph import progress
from clgraph.algorithms.factorization.schedules import make_schedule
from clgraph.algorithms.factorization.training import Factorization
from clgraph.cli.main import main
from clgraph.cli.terminal import busy
from clgraph.io.ratings import read_ratings
from clgraph.progress import Progress
from clgraph.runtime.session import Session

LINES = b"".join(b"%d %d\n" % (v, v + 1) for v in range(150_000))  # in several blocks


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)])
def test_reading_and_building_are_told(tmp_path: Path, suffix: str, pack: type[bytes]) -> None:
    path, seen = tmp_path / f"graph.txt{suffix}", list[Progress]()
    path.write_bytes(pack(LINES))
    with progress.listening(seen.append):
        cg.read(path, base=0)
    cg.read(path, base=0)  # nobody listens any more
    reading = [state for state in seen if state.what == f"reading {path.name}"]
    building = seen[len(reading) :]
    assert {state.total for state in reading} == {None if suffix == ".xz" else len(LINES)}
    assert reading[0].done == 0 and reading[-1].done == len(LINES) and reading[-1].unit == "bytes"
    assert len(reading) > 3 and {state.what for state in building} == {"building"}
    assert building[-1].done == building[-1].total == 300_000


def test_generating_is_told() -> None:
    def steps(call: object) -> list[str]:
        seen = list[Progress]()
        with progress.listening(seen.append):
            call()  # type: ignore[operator]
        last = {state.what: state for state in seen}
        assert all(state.done == state.total for state in last.values())
        assert [state.done for state in seen if state.what == seen[0].what] == sorted(
            state.done for state in seen if state.what == seen[0].what
        )
        return list(last)

    graph = cg.generators.grid(5, 5)
    assert steps(lambda: cg.generators.rmat(9)) == ["generating edges", "building"]
    assert steps(lambda: cg.generators.random_geometric(9)) == ["joining near points", "building"]
    assert steps(lambda: cg.generators.delaunay_points(9)) == ["triangulating", "building"]
    assert steps(lambda: cg.generators.road_like(9)) == ["generating roads", "building"]
    assert steps(lambda: cg.generators.planted_ratings(9, 9, 20)) == ["generating ratings"]
    assert steps(lambda: cg.generators.random_weights(graph)) == ["generating weights"]
    assert steps(lambda: cg.generators.power_law_ratings(50, 40, 500)) == ["generating ratings"]


def test_fitting_is_told(pocl: Session, tmp_path: Path) -> None:
    path, seen = tmp_path / "ratings.txt", list[Progress]()
    path.write_text("1 1 4.0\n1 2 3.0\n2 2 5.0\n", encoding="utf-8")
    with progress.listening(seen.append):
        engine = Factorization(pocl, read_ratings(path), rank=2, strategy="diagonal")
        epochs = engine.train(3, schedule=make_schedule("constant", 0.01))
    assert [state.done for state in seen if state.what == "reading ratings.txt"][-1] == path.stat().st_size
    fitting = [state for state in seen if state.what == "fitting"]
    assert [(state.done, state.total, state.unit) for state in fitting] == [(k, 3, "epochs") for k in range(4)]
    assert fitting[-1].note == f"RMSE {epochs[-1].loss:.4f}"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_on_stderr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with busy("[waiting]") as listener, busy("inside"):
        assert "[waiting]" in terminal.getvalue() and "inside" not in terminal.getvalue()
        tell = progress.begin("reading", 64 << 20, "bytes")
        for k in range(1, 4):
            tell(k << 24)
            until = time.monotonic() + 60  # it is drawn ten times a second, and later where the machine is busy
            while f"{16 * k} of 64 MiB" not in terminal.getvalue() and time.monotonic() < until:
                time.sleep(0.01)
        listener(Progress("fitting", 2, 3, "epochs", "RMSE 0.5"))
    text = terminal.getvalue()
    assert "48 of 64 MiB" in text and " MiB/s" in text and " left" in text
    assert "fitting, RMSE 0.5" in text and "2 of 3 epochs" in text and capsys.readouterr().out == ""


def test_a_file_gets_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("0 1\n", encoding="utf-8")
    assert main(["info", str(path)]) == 0
    assert capsys.readouterr().err == ""
