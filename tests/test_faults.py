"""Every OpenCL call fails once: the error is typed, nothing leaks, and the session goes on working.

fault/clfault.c is preloaded into a child process and makes the n-th call of one function fail;
fault/drive.py tries every n, and some n with all later calls of the same function.
"""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT, require_tool, session_on

FAULT = ROOT / "tests" / "fault"
# Failures of these must reach the caller; pyopencl retries some others by itself.
IN_WORK = {
    "clCreateKernel", "clSetKernelArg", "clCreateBuffer", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer", "clFlush",
}  # fmt: skip
REACH_CALLER = {
    "scan": IN_WORK | {"clBuildProgram", "clCreateContext", "clEnqueueWriteBuffer"},
    "plans": {"clSetKernelArg", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer", "clFlush"},  # made only once
    **dict.fromkeys(("components", "forests", "devices", "searches", "colorings", "partitions"), IN_WORK),
    "factorization": IN_WORK | {"clEnqueueWriteBuffer", "clEnqueueCopyBuffer"},
}


@pytest.fixture(scope="module")
def shim(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("fault") / "clfault.so"
    compiler = [require_tool("cc"), "-shared", "-fPIC", "-O1", "-Wall", "-Werror"]
    command = [*compiler, "-o", str(path), str(FAULT / "clfault.c"), "-ldl"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if "CL/cl.h" in built.stderr and not os.environ.get("CLGRAPH_REQUIRE_TOOLS"):
        pytest.skip("needs the OpenCL headers (Debian: opencl-c-headers)")
    assert built.returncode == 0, built.stderr
    return str(path)


@pytest.mark.parametrize("work", REACH_CALLER)
def test_every_failing_call_is_a_typed_error(shim, work):
    session_on("pocl")
    command, environment = [sys.executable, str(FAULT / "drive.py"), work, shim], {**os.environ, "LD_PRELOAD": shim}
    child = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=800, check=False)
    assert child.returncode == 0, child.stderr[-4000:]
    result = json.loads(child.stdout)
    assert not result["bad"], "\n".join(result["bad"])
    for function in REACH_CALLER[work]:
        assert any(outcome.endswith("Error") for outcome in result["report"].get(function, ())), function
