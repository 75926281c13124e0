"""Time of measured runs; threads, forks and interrupts; processes that share one cache."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import session_on
from runtime_runs import IOTA, iota, python

from clgraph import user_cache
from clgraph.runtime.programs import cache
from clgraph.runtime.session import Session

KEPT = user_cache.cache_root()


def test_measure_splits_the_time(session):
    session = Session(session.device)  # A new session has compiled nothing.
    with session.measure() as first:
        out = session.empty(1000, np.float32)
        session.program(IOTA, {"T": "float", "DEV_UNUSED": time.time_ns()}).bind("iota", 1000, n=1000, out=out)()
        out.fill(1)
        out.get()
    seconds = first.seconds
    assert seconds.compile > 0 and seconds.kernel > 0 and seconds.transfer > 0
    assert seconds.total >= seconds.compile
    assert seconds.host == pytest.approx(max(0, seconds.total - seconds.compile - seconds.transfer - seconds.kernel))
    assert [(name, launches) for name, (launches, _) in first.kernels().items()] == [("iota", 1), ("fill", 1)]
    iota(session, 10)
    with session.measure() as second:
        iota(session, 10)
    assert second.seconds.compile == 0  # built just before


def test_measurements_nest(session):
    with session.measure() as outer:
        iota(session, 10)
        with session.measure() as inner:
            iota(session, 10)
        iota(session, 10)
    assert inner.kernels()["iota"][0] == 1
    assert outer.kernels()["iota"][0] == 3
    assert outer.seconds.kernel > inner.seconds.kernel
    with pytest.raises(ZeroDivisionError), session.measure():
        raise ZeroDivisionError
    with session.measure() as next_one:
        iota(session, 3)
    assert next_one.kernels()["iota"][0] == 1, "one that failed does not go on"


def test_two_threads_have_launches_of_their_own(session):
    def work(seed: int) -> bool:
        found = []
        for n in range(100 + 37 * seed, 130 + 37 * seed):
            with session.driver:
                found.append(np.array_equal(iota(session, n), np.arange(n)))
        return all(found)

    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(work, range(2)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("device", ["pocl", "intel"])
def test_forked_children_get_an_error_instead_of_a_hang(device):
    session_on(device)
    child = python(f"""
        import os, signal, sys, numpy as np
        from clgraph.errors import ForkError
        from clgraph.runtime.session import Session, as_session
        session = Session({device!r})
        program = session.program("primitives/fill.cl")
        array = session.zeros(100, np.int32)
        launch = program.bind("iota", 100, n=100, out=array)
        launch(); session.finish()
        attempts = [
            lambda: Session({device!r}), lambda: as_session(session), lambda: as_session(None),
            lambda: session.empty(3, np.int32), lambda: session.upload(np.zeros(64, np.int32)),
            lambda: session.program("primitives/fill.cl"), array.get, lambda: array.set(np.zeros(9)),
            lambda: array.fill(1), launch, session.finish,
        ]
        for attempt in attempts:
            child = os.fork()
            if not child:
                signal.alarm(100)  # a hang ends as a signal
                try:
                    attempt()
                except ForkError as error:
                    os._exit(0 if "spawn" in str(error) else 1)
                os._exit(2)
            print(os.waitpid(child, 0)[1])
        if not os.fork():
            signal.alarm(100)
            sys.exit()  # the objects' destructors must not hang either
        print(os.wait()[1])
        print(array.get()[:3])  # the parent goes on
    """)
    output, errors = child.communicate(timeout=600)
    assert output.split("\n")[:-1] == ["0"] * 12 + ["[0 1 2]"], output + errors


def test_fork_before_the_first_use_is_fine(pocl):
    child = python("""
        import os, sys
        import numpy as np
        import clgraph
        from clgraph.runtime.session import Session
        child = os.fork()
        status = os.waitpid(child, 0)[1] if child else 0
        print(Session("pocl").zeros(3, np.int32).get(), status)
    """)
    output, errors = child.communicate(timeout=600)
    assert output.splitlines() == ["[0 0 0] 0"] * 2, output + errors


def test_control_c_ends_a_run_and_leaves_the_session_usable(session, tmp_path):
    kernel = tmp_path / "spin.cl"
    kernel.write_text("""
        #include "common/atomics.h"
        KERNEL spin(uint turns, __global uint *out) {
          uint x = (uint)get_global_id(0);
          for (uint k = 0; k < turns; k++) x = x * 1664525u + 1013904223u;
          store_relaxed(&out[get_global_id(0)], x);
        }
    """)
    child = python(f"""
        import time, numpy as np
        from clgraph.runtime.session import Session
        session = Session({session.device.platform.name.split()[0]!r})
        out = session.zeros(64, np.uint32)
        launch = session.program({str(kernel)!r}, work_group_size=64).bind("spin", 64, turns=1, out=out)
        launch(); session.finish()
        launch.set(turns=1_000_000)  # about 0.1 s
        try:
            print("started", flush=True)
            for _ in range(1000):
                launch()
                session.finish()
            print("not interrupted")
        except KeyboardInterrupt:
            print(time.time())
        print(session.upload(np.arange(5)).get())
    """)
    assert child.stdout.readline() == "started\n", child.communicate()
    time.sleep(0.5)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    output, errors = child.communicate(timeout=600)
    caught, answer = output.splitlines()
    assert float(caught) - sent < 30, errors  # all launches take 100 s
    assert answer == "[0 1 2 3 4]"


_COLD = """
    import numpy as np
    from clgraph.runtime.session import Session
    session = Session("pocl")
    out = session.empty(1000, np.int32)
    session.program("primitives/fill.cl", {"T": "int"}).bind("iota", 1000, n=1000, out=out)()
    print((out.get() == np.arange(1000)).all())
"""


@pytest.fixture
def cold(pocl, tmp_path, monkeypatch):
    """The cache directory of children that start with an empty one, but for the verdicts on devices."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("POCL_CACHE_DIR")
    for name in ("drivers", "self-tests"):
        (tmp_path / name).symlink_to(KEPT / name)
    return tmp_path / "pocl"


def test_processes_with_one_cold_cache_do_not_disturb_each_other(cold):
    children = [python(_COLD) for _ in range(6)]
    for child in children:
        assert child.communicate(timeout=600) == ("True\n", "")
        assert child.returncode == 0
    (only,) = cold.iterdir()
    assert len(list(only.iterdir())) > 1 and not list(only.glob("building-*"))


def test_a_cache_into_which_a_builder_died_is_left(cold):
    other = python(_COLD + "\n    input()")  # uses it for a while
    assert other.stdout.readline() == "True\n"
    (damaged,) = cold.iterdir()
    dying = python("""
        import os, signal
        from clgraph.runtime.programs import cache
        from clgraph.runtime.discovery import query
        query.platforms()
        with cache.build_lock(into_cache=True):
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    assert dying.wait(600) == -signal.SIGKILL
    assert len(list(damaged.glob("building-*"))) == 1
    assert python(_COLD).communicate(timeout=600) == ("True\n", "")
    (fresh,) = set(cold.iterdir()) - {damaged}
    kept = {path for path in fresh.rglob("*") if path.is_file()}
    assert len(kept) > 1
    assert other.communicate("\n", timeout=600) == ("", "")
    assert python(_COLD).communicate(timeout=600) == ("True\n", "")
    assert list(cold.iterdir()) == [fresh]  # No process uses the damaged one any more.
    assert kept <= set(fresh.rglob("*"))


def test_long_builds_announce_themselves_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(cache, "_told", set())
    line, said, tell = "clgraph: building, first run\n", threading.Event(), cache._tell
    monkeypatch.setattr(cache, "_tell", lambda what: tell(what) or said.set())
    for terminal, after, seconds, shown in (
        (False, 0.01, 0.1, ""), (True, 60.0, 0.0, ""), (True, 0.01, 60.0, line), (True, 0.01, 0.1, ""),
    ):  # fmt: skip
        said.clear()
        monkeypatch.setattr(cache, "_AFTER_SECONDS", after)
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        with cache.announced("building"):
            assert said.wait(seconds) == bool(shown)
        assert capsys.readouterr().err == shown


def test_build_lock_keeps_other_processes_out(tmp_path):
    code = "from clgraph.runtime.programs.cache import build_lock\nwith build_lock(): print('in', flush=True)"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
        with cache.build_lock() as locked:
            assert locked
            child = python(code)
            time.sleep(1.5)
            assert child.poll() is None
        output, errors = child.communicate(timeout=600)
    assert output == "in\n", errors


def test_unwritable_cache_is_replaced(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("no directory")
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "file" / "below"))
    user_cache._own_root.cache_clear()
    root = user_cache.cache_root()
    assert root.is_dir() and root == user_cache.cache_root()
    assert "CLGRAPH_CACHE_DIR" in caplog.text


def test_no_file_is_left_open_at_the_end_of_a_process() -> None:
    child = python("""
        import clgraph as cg
        cg.connected_components(cg.generators.grid(9, 9), strategy="afforest", session="pocl")
    """, PYTHONWARNINGS="always::ResourceWarning")  # fmt: skip
    _, complaints = child.communicate(timeout=120)
    assert child.returncode == 0 and "ResourceWarning" not in complaints, complaints
