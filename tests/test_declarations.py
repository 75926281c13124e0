"""What is read from kernel sources, beside what a compiler says of them."""

import re

import numpy as np
import pyopencl as cl
import pytest

from clgraph.errors import KernelSourceError
from clgraph.runtime.programs.declarations import Declarations
from clgraph.runtime.programs.program import Program
from clgraph.runtime.programs.source import build_input, kernel_root
from clgraph.runtime.session import Session

IOTA = "primitives/fill.cl"
SOURCES = sorted(str(path.relative_to(kernel_root())) for path in kernel_root().rglob("*.cl"))


@pytest.mark.parametrize("source", SOURCES)
def test_parameters_are_those_that_the_compiler_sees(pocl: Session, source: str) -> None:
    defines = {**pocl.facts.defines(), "WG_SIZE": 256}
    text = build_input(source, defines)
    declared = Declarations(text).kernels
    options = [f"-cl-std={pocl.facts.dialect.standard}", "-cl-kernel-arg-info"]
    compiled = cl.Program(pocl.context, text).build(options, [pocl.device]).all_kernels()
    info = cl.kernel_arg_info
    names = {
        kernel.function_name: [kernel.get_arg_info(i, info.NAME).removeprefix("_cl_") for i in range(kernel.num_args)]
        for kernel in compiled  # PoCL puts _cl_ before names that its built-in functions have
    }
    assert names == {name: [parameter.name for parameter in parameters] for name, parameters in declared.items()}
    spaces = {"value": "PRIVATE", "global": "GLOBAL", "local": "LOCAL", "constant": "CONSTANT"}
    for kernel in compiled:
        for i, parameter in enumerate(declared[kernel.function_name]):
            space = getattr(cl.kernel_arg_address_qualifier, spaces[parameter.space])
            assert kernel.get_arg_info(i, info.ADDRESS_QUALIFIER) == space


def test_structures_of_numbers_are_read_and_given(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        typedef struct {
          int least;             /* with a comment */
          ulong step;
        } series_t;
        typedef struct { int ends[2]; } place_t;
        __kernel void fill(series_t series, int n, __global ulong *out) {
          const int i = get_global_id(0);
          if (i < n) out[i] = series.least + i * series.step;
        }
        __kernel void other(place_t place) {}
    """
    kernels = Declarations(text).kernels
    assert kernels["fill"][0].dtype == np.dtype([("least", np.int32), ("step", np.uint64)], align=True)
    assert kernels["other"][0].dtype is None
    monkeypatch.setattr("clgraph.runtime.programs.program.build_input", lambda *_: text)
    program, out = Program(pocl.commands, "series.cl", {"WG_SIZE": 1}), pocl.zeros(3, np.uint64)
    launch = program.bind("fill", 3, series={"least": 5, "step": 2**40}, n=3, out=out)
    launch()
    assert out.get().tolist() == [5, 5 + 2**40, 5 + 2**41]
    launch.set(series={"step": 1, "least": 0})
    launch()
    assert out.get().tolist() == [0, 1, 2]
    for wrong in ({"least": 5}, {"least": 5, "step": 1, "last": 7}, 5):
        with pytest.raises(KernelSourceError, match="does not fit value"):
            launch.set(series=wrong)


def test_types_conditions_and_macros_are_followed() -> None:
    declared = Declarations("""
        #define KERNEL __kernel __attribute__((reqd_work_group_size(8, 1, 1))) void
        #define PASTE_(a, b) a##b
        #define PASTE(a, b) PASTE_(a, b)
        #define BASE uint  /* of
                              words */
        typedef BASE word_t;
        #ifndef WIDE
        #define WIDE (1u << 2)
        #define DEEP 1
        #define LEVELS ((DEEP ? 64 : 32) / 3)
        #endif
        #if WIDE > 8 || !defined(BASE)
        KERNEL absent(int n) {}
        #elif WIDE == 4
        #define MANY(NAME, T) KERNEL NAME(T n, __global const T *restrict in, \\
                                          __local PASTE(T, 2) *room) { }
        #define ROWS word_t first, __global const long *offsets
        MANY(longs, long)
        MANY(floats, float)
        KERNEL rows(ROWS,
                    volatile __global word_t *state) {
        #else
        KERNEL other(int n) {}
        #endif
        """)
    kernels = {name: [(p.name, p.space, p.dtype) for p in kernel] for name, kernel in declared.kernels.items()}
    assert kernels == {
        "longs": [("n", "value", np.int64), ("in", "global", np.int64), ("room", "local", np.int64)],
        "floats": [("n", "value", np.float32), ("in", "global", np.float32), ("room", "local", np.float32)],
        "rows": [("first", "value", np.uint32), ("offsets", "global", np.int64), ("state", "global", np.uint32)],
    }
    assert declared.constant("WIDE") == 4 and declared.constant("LEVELS") == 21
    assert declared.constant("2 * WIDE + LEVELS") == 29
    for name in ("BASE", "absent"):
        with pytest.raises(KernelSourceError, match=name):
            declared.constant(name)


@pytest.mark.parametrize("condition", ["", "1 +", "(DEEP", "DEEP ? 1"])
def test_conditions_that_cannot_be_read_are_refused(condition: str) -> None:
    with pytest.raises(KernelSourceError, match=re.escape(f"cannot be read: #if {condition}")):
        Declarations(f"#define DEEP 1\n#if {condition}\n#endif\n")


def test_a_macro_without_an_end_is_refused() -> None:
    with pytest.raises(KernelSourceError, match=r"a macro's arguments do not end: 1, \(2"):
        Declarations("#define ADD(a, b) ((a) + (b))\n#if ADD(1, (2\n#endif\n")


def test_arguments_that_do_not_fit_are_refused(pocl: Session) -> None:
    program, out = pocl.program(IOTA, {"T": "int"}), pocl.empty(8, np.int32)
    for arguments, named in (
        ({"n": 8}, "out"), ({"n": 8, "out": out, "extra": 1}, "extra"), ({"n": out, "out": out}, "n="),
        ({"n": 8, "out": 3}, "out=3"), ({"n": 8, "out": pocl.empty(8, np.int64)}, "out=an array of int64"),
        ({"n": "many", "out": out}, "n='many'"),
    ):  # fmt: skip
        with pytest.raises(KernelSourceError, match=named):
            program.bind("iota", 8, **arguments)
    program.bind("iota", 8, {"n": 8, "more": 1}, out=out)()  # a scope may hold what others take
    assert out.get().tolist() == list(range(8))
