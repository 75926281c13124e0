"""A kernel that tests of the runtime launch, and interpreters that they start."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
from conftest import ROOT

from clgraph.runtime.session import Session

IOTA = "primitives/fill.cl"


def python(code: str, **environment: str) -> subprocess.Popen[str]:
    """Start *code* in a new interpreter."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        text=True,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def iota(session: Session, n: int) -> np.ndarray:
    out = session.empty(n, np.int32)
    session.program(IOTA).bind("iota", n, n=n, out=out)()
    return out.get()
