"""Works of the user: what their functions return and raise, types of arrays, names, own files, and Ctrl-C."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DEVICES, printed_by, session_on
from test_processes import name_of

import clgraph as cg
from clgraph.errors import DeviceError, InputError, KernelSourceError
from clgraph.hetero import Kernel, Output, Work, elementwise, map_rows
from clgraph.hetero.process_runner import ProcessDevice
from clgraph.multi_device.processes import Processes

X = np.arange(1, 101, dtype=np.float32)
DOUBLE = elementwise("2 * x", inputs={"x": np.float32}, dtype=np.float32)


def text_of(kind: str = "float", out: str = "float", factor: int = 2) -> str:
    """Return a kernel that multiplies x by an integer."""
    return f"""
        #include "common/types.h"
        KERNEL scale(long n, long first, __global const {kind} *x, __global {out} *y) {{
          if (get_global_id(0) < (size_t)n) y[get_global_id(0)] = x[get_global_id(0)] * {factor};
        }}
    """


def own(text: str = text_of(), **more: Any) -> Work:
    kernel = Kernel(text, "scale", **{name: more.pop(name) for name in ("work_group_size", "work_items") & more.keys()})
    cut = lambda load, start, stop: {"x": load[start:stop]}  # noqa: E731
    return Work(**{"kernels": kernel, "count": len, "cut": cut, "outputs": {"y": Output(np.float32)}, **more})


def computed(session: Any, work: Work, load: Any = X, **more: Any) -> Any:
    return cg.HeteroScheduler([session]).run(work, [load], **more).results[0]


# ---- own files


def test_an_edited_file_is_used_by_the_next_run(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scheduler, keys = cg.HeteroScheduler([session]), set()
    for factor in (2, 5):
        Path("own.cl").write_text(text_of(factor=factor))
        work = own("own.cl")
        assert np.array_equal(scheduler.run(work, [X]).results[0], X * factor)
        keys.add(work.key)
    assert len(keys) == 2, "the speeds of both are learned apart"


def test_a_process_reads_the_file_of_this_directory(tmp_path, monkeypatch):
    name = name_of(session_on(DEVICES[0]))
    processes = Processes([name])
    monkeypatch.setattr(cg.HeteroScheduler, "_sessions_of", lambda _self, devices: list(devices))
    try:
        device = ProcessDevice(name, processes)
        monkeypatch.chdir(tmp_path)  # The process has started in another directory.
        Path("own.cl").write_text(text_of(factor=3))
        assert np.array_equal(computed(device, own("own.cl")), X * 3)
    finally:
        processes._end()


def test_a_text_that_ends_like_a_file_is_a_text(session):
    assert np.array_equal(computed(session, own(text_of() + "\n// as in own.cl")), X * 2)


# ---- types and forms of arrays


@pytest.mark.parametrize(
    ("kind", "given"),
    [("float", np.int32), ("float", np.uint32), ("int", np.float32), ("long", np.float64)],
)
def test_integers_and_floats_of_one_size_are_told_apart(session, kind, given):
    with pytest.raises(KernelSourceError, match=f"x is an array of {np.dtype(given)}, but kernel scale takes"):
        computed(session, own(text_of(kind)), X.astype(given))


def test_an_output_and_a_number_have_the_type_of_the_kernel(session):
    with pytest.raises(KernelSourceError, match="y is an array of int32, but kernel scale takes float32"):
        computed(session, own(outputs={"y": Output(np.int32)}))
    scaled = text_of().replace("long first", "int factor").replace("* 2", "* factor")
    for factor in (3, np.int64(3)):
        assert np.array_equal(computed(session, own(scaled, shared=lambda _, factor=factor: {"factor": factor})), X * 3)
    with pytest.raises(KernelSourceError, match=r"factor is 2\.5, but kernel scale takes int32"):
        computed(session, own(scaled, shared=lambda _: {"factor": 2.5}))


def test_signed_unsigned_and_logical_arrays_stand_for_each_other(session):
    for kind, given in (("uint", np.int32), ("int", np.uint32), ("uchar", np.bool_)):
        load = (X % 2).astype(given)
        assert np.array_equal(computed(session, own(text_of(kind)), load), 2 * load.astype(np.float32))


def test_numbers_in_another_byte_order_are_refused(session):
    other = np.dtype(np.float32).newbyteorder("S")
    with pytest.raises(InputError, match=r"x of cut\(load, 0, \d+\) has type .f4"):
        computed(session, own(), X.astype(other))
    for make in (
        lambda: elementwise("x", inputs={"x": other}, dtype=np.float32),
        lambda: elementwise("x", inputs={"x": np.float32}, dtype=other),
        lambda: map_rows("result = 1;", dtype=np.float32, values=other),
        lambda: map_rows("result = v[0];", dtype=np.float32, shared={"v": X.astype(other)}),
        lambda: Output(other),
    ):
        with pytest.raises(InputError, match=r"f4.*(order|supported)"):
            make()


def test_arrays_that_are_not_contiguous_are_copied(session):
    table = np.arange(200, dtype=np.float32).reshape(100, 2)
    assert np.array_equal(computed(session, DOUBLE, table[:, 1]), 2 * table[:, 1])
    rows = map_rows("result = row[0] * v[1];", dtype=np.float32, shared={"v": table[:, 1]})
    assert np.array_equal(computed(session, rows, table), 3 * table[:, 0])
    with pytest.raises(InputError, match=r"x of cut\(load, 0, \d+\) is a strided view"):
        computed(session, own(), table[:, 1])


# ---- names


@pytest.mark.parametrize("name", ["i", "k", "n", "first", "out", "T", "a b", "", "é", 3])
def test_names_that_a_kernel_cannot_have_twice_are_refused(name):
    with pytest.raises(InputError, match="inputs has the name"):
        elementwise("1", inputs={name: np.float32}, dtype=np.float32)


def test_names_of_all_arrays_differ():
    with pytest.raises(InputError, match="inputs has the name 'x_items'"):
        elementwise("x", inputs={"x": np.float32, "x_items": np.float32}, dtype=np.float32)
    for name, sparse in (("row", False), ("result", True), ("width", False), ("columns", True)):
        with pytest.raises(InputError, match=f"shared has the name '{name}'"):
            map_rows("result = 1;", dtype=np.float32, shared={name: X}, sparse=sparse)
    with pytest.raises(InputError, match="one name or several"):
        elementwise("1", inputs={}, dtype=np.float32)
    with pytest.raises(InputError, match=r"shared\['v'\] has 2 dimensions"):
        map_rows("result = 1;", dtype=np.float32, shared={"v": np.ones((2, 2))})


# ---- values of a wrong form


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"grain": 0}, "grain = 0"),
        ({"grain": 1.5}, r"grain = 1\.5"),
        ({"outputs": {}}, "outputs = {}"),
        ({"outputs": {"y": np.float32}}, "no Output"),
        ({"outputs": {"n": Output(np.float32)}}, "a name is taken"),
        ({"outputs": None}, "outputs = None"),
        ({"count": 5}, "count = 5"),
        ({"cut": None}, "cut = None"),
        ({"shared": {}}, "shared = {}"),
        ({"collect": 3}, "collect = 3"),
        ({"kernels": {"CPU": Kernel("x", "k")}}, "'cpu' and 'gpu'"),
        ({"kernels": {"cpu": "x"}}, "a mapping of 'cpu' and 'gpu' to Kernel"),
        ({"kernels": 3}, "kernels = 3"),
        ({"work_group_size": 0}, "work_group_size = 0"),
        ({"work_group_size": 2.5}, r"work_group_size = 2\.5"),
        ({"work_items": 7}, "work_items = 7"),
    ],
)
def test_wrong_works_are_refused(more, message):
    with pytest.raises(InputError, match=message):
        own(**more)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Kernel(Path("own.cl"), "k"), "source = "),
        (lambda: Kernel(" ", "k"), "source = "),
        (lambda: Kernel("x", "a b"), "name = 'a b'"),
        (lambda: Kernel("x", "k", {"A": None}), "defines"),
        (lambda: Kernel("x", "k", [3]), "defines"),
        (lambda: Output("nothing"), "dtype = 'nothing'"),
        (lambda: Output(np.complex64), "dtype"),
        (lambda: Output(np.float32, 3), "shape = 3"),
        (lambda: Output(np.float32, (2.5,)), r"shape = 2\.5"),
    ],
)
def test_wrong_kernels_and_outputs_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"cut": lambda *_: None}, "returned None"),
        ({"cut": lambda load, a, b: {"x": load[a:b], "n": 1}}, "returned n,"),
        ({"cut": lambda load, a, b: {"x": load[a:b], "y": load[a:b]}}, "returned y,"),
        ({"shared": lambda load: {"x": load}}, "returned x,"),
        ({"shared": lambda load: {"first": 3}}, "returned first,"),
        ({"shared": lambda load: load}, r"shared\(load\) returned"),
        ({"count": lambda load: 10.0}, r"count\(loads\[0\]\) = 10\.0"),
        ({"count": lambda load: -1}, r"count\(loads\[0\]\) = -1"),
        ({"outputs": lambda load: {}}, r"outputs\(load\) = {}"),
        ({"work_items": lambda n, values: 0}, r"work_items\(n, values\) = 0"),
        ({"work_items": lambda n, values: n / 2}, r"work_items\(n, values\) = "),
        ({"cut": lambda load, a, b: {"x": np.ma.array(load[a:b], mask=True)}}, "is masked"),
    ],
)
def test_wrong_values_of_functions_are_refused(session, more, message):
    with pytest.raises(InputError, match=message):
        computed(session, own(**more))


@pytest.mark.parametrize("loads", [X, {"x": X}, "x", b"x", np.float32(3)])
def test_a_single_load_is_no_sequence_of_loads(session, loads):
    with pytest.raises(InputError, match=r"(?s)loads = .*a sequence of loads"):
        cg.HeteroScheduler([session]).run(DOUBLE, loads)


def test_outputs_of_a_wrong_form_are_refused(session):
    with pytest.raises(InputError, match="out = 5"):
        computed(session, DOUBLE, out=5)
    with pytest.raises(InputError, match=r"out\[0\] is 'x'"):
        computed(session, DOUBLE, out={"x": X})
    rows = np.empty((1, X.size), np.float32)
    assert np.shares_memory(computed(session, DOUBLE, out=rows), rows) and np.array_equal(rows[0], 2 * X)


# ---- errors of functions, and Ctrl-C


def raising(*_: Any) -> Any:
    raise DeviceError("the user's own")


@pytest.mark.parametrize("name", ["cut", "shared", "count", "collect", "outputs", "work_items"])
def test_a_device_error_of_the_users_function_drops_no_device(session, name):
    scheduler = cg.HeteroScheduler([session])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeviceError, match="the user's own"):
            scheduler.run(own(**{name: raising}), [X])
    assert np.array_equal(scheduler.run(DOUBLE, [X]).results[0], 2 * X)


@pytest.mark.parametrize("name", ["cut", "shared", "count", "collect"])
def test_a_run_inside_a_run_of_the_same_scheduler_is_refused(session, name):
    scheduler, result = cg.HeteroScheduler([session]), []

    def attempt() -> None:
        try:
            scheduler.run(own(**{name: lambda *_: scheduler.run(DOUBLE, [X])}), [X])
        except InputError as error:
            result.append(str(error))

    thread = threading.Thread(
        target=attempt, daemon=True
    )  # Otherwise a run that waits for itself would stop the tests.
    thread.start()
    thread.join(60)
    assert result and "called by a function of a work" in result[0]
    assert np.array_equal(scheduler.run(DOUBLE, [X]).results[0], 2 * X)


def test_after_two_ctrl_c_nothing_writes_into_the_users_arrays(pocl):
    """The signals come from a thread, while the kernel of the only part computes."""
    printed = printed_by(f"""
import os, signal, threading, numpy as np, clgraph as cg
from clgraph.hetero import elementwise
work = elementwise(
    "({{float s = x; for (int j = 0; j < 2000; j++) s = s * 0.999f + 1; s;}})", inputs={{"x": "f4"}}, dtype="f4"
)
x = np.arange(1_000_000, dtype="f4")
out = np.zeros_like(x)
scheduler = cg.HeteroScheduler([{name_of(pocl)!r}], policy="static")
scheduler.run(work, [x[:1000]])
interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
for seconds in (0.05, 0.1):
    threading.Timer(seconds, interrupt).start()
try:
    scheduler.run(work, [x], out=[out])
except KeyboardInterrupt:
    print("interrupted")
signal.signal(signal.SIGINT, signal.SIG_IGN)
print([thread.name for thread in threading.enumerate() if "hetero" in thread.name])
""")
    assert printed.split() == ["interrupted", "[]"]
