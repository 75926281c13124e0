"""Programs of OpenCL: sources and headers, errors of compilers, caches on disk."""

from __future__ import annotations

import platform
import re
import time

import numpy as np
import pyopencl as cl
import pytest
from conftest import ROOT
from runtime_runs import IOTA, iota, python

from clgraph.errors import DeviceError, KernelBuildError, KernelSourceError
from clgraph.runtime.programs import cache, program, source

KERNELS = sorted(str(path.relative_to(ROOT / "cl")) for path in (ROOT / "cl").rglob("*.cl"))


@pytest.mark.parametrize("name", KERNELS)
def test_flattened_lines_are_where_line_directives_say(name):
    file, number, seen = None, 0, 0
    for line in source.flatten(name).splitlines():
        if directive := re.fullmatch(r'#line (\d+) "(.+)"', line):
            number, file = int(directive[1]), directive[2]
            continue
        original = (source.kernel_root() / file).read_text().splitlines()
        assert original[number - 1] == line
        number += 1
        seen += 1
    assert seen > 5


def test_definitions_are_words_of_the_preprocessor():
    text = source.build_input(IOTA, {"B": True, "A": "(x)", "C": 3})
    assert text.startswith("#define A (x)\n#define B 1\n#define C 3\n")


def test_each_header_is_included_once():
    text = source.flatten("primitives/scan.cl")
    assert text.count('#line 1 "common/types.h"') == 1


def test_a_missing_source_or_include_is_named(tmp_path):
    with pytest.raises(KernelSourceError, match=r"no/such\.cl"):
        source.flatten("no/such.cl")
    kernel = tmp_path / "includes.cl"
    kernel.write_text('#include "common/absent.h"\n')
    with pytest.raises(KernelSourceError, match=r"common/absent\.h"):
        source.flatten(str(kernel))


def test_a_file_of_the_user_is_read_again_after_a_change(session, tmp_path):
    kernel, header = tmp_path / "own.cl", tmp_path / "own.h"
    kernel.write_text('#include "common/types.h"\n#include "own.h"\nKERNEL k(__global int *out) { out[0] = VALUE; }\n')

    def computed(value: int) -> int:
        header.write_text(f"#define VALUE {value}\n")
        out = session.zeros(1, np.int32)
        session.program(str(kernel)).bind("k", 1, out=out)()
        return int(out.get()[0])

    assert [computed(3), computed(4), computed(3)] == [3, 4, 3]
    kernel.write_text(kernel.read_text().replace("k(", "k(int more, "))
    with pytest.raises(KernelSourceError, match="more missing"):
        computed(3)


def test_files_of_the_user_are_looked_up_where_the_user_expects(tmp_path, monkeypatch):
    """The package's file comes before a file of the current directory; a header beside the own file comes first."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "common").mkdir(parents=True)
    own = tmp_path / "mine" / "own.cl"
    own.write_text('#include "own.h"\n#include "common/types.h"\n#include "common/atomics.h"\n')
    (tmp_path / "mine" / "own.h").write_text('#include "../other.h"\n')
    (tmp_path / "other.h").write_text("int other;\n")
    (tmp_path / "mine" / "common" / "types.h").write_text("int mine;\n")
    text = source.flatten("mine/own.cl")
    assert text == source.flatten(str(own)) and source.located("mine/own.cl") == str(own)
    files = re.findall(r'#line 1 "(.*)"', text)
    expected = [own, own.parent / "own.h", tmp_path / "other.h", own.parent / "common" / "types.h"]
    assert files[:4] == [str(path) for path in expected]
    assert "common/atomics.h" in files
    (tmp_path / "primitives").mkdir()
    (tmp_path / IOTA).write_text("int mine;\n")
    assert "int mine" not in source.flatten(IOTA) and source.located(IOTA) == IOTA


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_source_that_cannot_be_read_is_named(tmp_path, content):
    path = tmp_path / "own.cl"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(KernelSourceError, match=r"own\.cl cannot be read"):
        source.flatten(str(path))


@pytest.fixture
def broken(tmp_path):
    """A kernel file with an error in line 4."""
    kernel = tmp_path / "broken.cl"
    kernel.write_text('#include "common/atomics.h"\n\nKERNEL k(__global int *out) {\n  out[0] = no_such_thing;\n}\n')
    return kernel


def test_compile_error_names_the_real_file_and_line(session, broken):
    with pytest.raises(KernelBuildError, match=r"broken\.cl:4\b[\s\S]*no_such_thing"):
        session.program(str(broken))
    assert np.array_equal(iota(session, 5), np.arange(5))


def test_lines_of_the_whole_text_are_translated(broken):
    """NVIDIA's counts them from the start of the whole text."""
    text = source.build_input(str(broken), {"WG_SIZE": 64})
    at = 1 + next(k for k, line in enumerate(text.splitlines()) if "no_such_thing" in line)
    log = f"<kernel>:{at}:12: error\n<kernel>:1:1: note\n<kernel>:{10 * at}:1: note"
    assert source.name_places(log, text) == f"{broken}:4:12: error\n<kernel>:1:1: note\n{broken}:5:1: note"


def test_kernels_that_were_not_installed_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "__file__", str(tmp_path / "clgraph" / "runtime" / "source.py"))
    with pytest.raises(KernelSourceError, match="the installation is incomplete"):
        source.kernel_root.__wrapped__()


def test_errors_of_launches_name_the_kernel(session, monkeypatch):
    launch = session.program("primitives/fill.cl", {"T": "int"}).bind("iota", 5, n=5, out=session.empty(5, np.int32))

    def fail(*_):
        raise cl.LogicError("clSomething failed: INVALID_VALUE")

    monkeypatch.setattr(program.cl, "enqueue_nd_range_kernel", fail)
    with pytest.raises(DeviceError, match="launching iota"):
        launch()
    monkeypatch.setattr(program, "_set_argument", fail)
    with pytest.raises(DeviceError, match="setting n of iota"):
        launch.set(n=4)


def test_an_unknown_kernel_is_named(session):
    with pytest.raises(KernelSourceError, match="absent_kernel"):
        session.program(IOTA).bind("absent_kernel", 1)


def test_programs_are_built_once(session):
    first = session.program(IOTA, {"T": "uint"})
    assert session.program(IOTA, {"T": "uint"}) is first
    assert session.program(IOTA, {"T": "uint"}, work_group_size=64) is not first
    assert session.program(IOTA, {"T": "uint", "STRANGE_TO_THIS_FILE": 1}) is first
    by_word = [session.program(IOTA, {"T": "WORD", "WORD": word}) for word in ("uint", "int")]
    assert by_word[0] is not by_word[1]


@pytest.mark.parametrize(("processor", "name"), [("haswell", "haswell-0"), (None, f"{platform.machine()}-0")])
def test_kernels_are_kept_by_the_processor_that_runs_them(tmp_path, monkeypatch, processor, name):
    """Machines that share a home do not get each other's instructions."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "processor_of_builtins", lambda: processor)
    monkeypatch.setattr(cache, "use", lambda path: None)
    assert cache.pocl_cache() == tmp_path / "pocl" / name


def test_compilers_do_not_talk_to_the_user(session, tmp_path):
    kernel = tmp_path / "warns.cl"
    kernel.write_text("__kernel void warns(__global int *out) { int unused; out[0] = 1 && 2; }\n#warning of a writer\n")
    child = python(f"""
        from clgraph.runtime.session import Session
        session = Session({session.facts.platform!r})
        out = session.empty(1, "int32")
        program = session.program({str(kernel)!r}, {{"DEV_UNUSED": {time.time_ns()}}}, work_group_size=1)
        program.bind("warns", 1, out=out)()
        session.finish()
    """)
    assert child.communicate(timeout=600) == ("", "")
    assert child.returncode == 0
