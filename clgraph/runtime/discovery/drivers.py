"""Selection of the OpenCL drivers that the loader may load.

A driver that crashes or hangs while it is loaded would end or block the interpreter. So a child process loads a new set
of drivers first. A driver on which the child dies is excluded. The verdict is stored.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import site
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from clgraph.errors import NoDeviceError
from clgraph.runtime.discovery.child import IN_CHILD, STARTED, Answer, kept_verdict, run_child
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.programs.cache import keep_callers, pocl_cache, use
from clgraph.runtime.programs.pocl_cpu import processor
from clgraph.user_cache import cache_dir, cache_root, write_whole

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS = 60.0
# For each GPU driver, the environment variable that names its cache folder, and our name for this folder.
_GPU_CACHES = {"CUDA_CACHE_PATH": "nvidia", "NEO_CACHE_DIR": "intel"}
_WINDOWS = platform.system() == "Windows"


def cpu_runtime_to_install() -> str:
    """Return how a user gets an OpenCL runtime for the CPU of this machine."""
    on_x86 = platform.machine() in ("x86_64", "AMD64")
    if on_x86 and platform.system() == "Linux":
        return (
            "pip install pocl-binary-distribution (165 MB), or intel-opencl-rt and intel-cmplr-lib-rt (846 MB, faster)"
        )
    if on_x86 and _WINDOWS:
        return "pip install intel-opencl-rt intel-cmplr-lib-rt"
    return (
        "install PoCL from the packages of your system (pocl-opencl-icd) or of conda-forge (pocl), because PyPI has no "
        f"CPU runtime for {platform.system()} on {platform.machine()}"
    )


class Driver(NamedTuple):
    """The library of an OpenCL driver, and the file that registers the driver with the loader."""

    file: Path
    library: str


@lru_cache(maxsize=1)
def prepare_environment() -> dict[str, str]:
    """Set the environment variables that OpenCL drivers read.

    Return the excluded drivers, with the reason for each one.

    Intel's CPU runtime is registered if it was installed as a wheel. PoCL and pyopencl get cache folders of clgraph's
    own, and so do drivers of GPUs if the user has chosen a cache directory.
    """
    os.environ.setdefault("PYOPENCL_COMPILER_OUTPUT", "0")
    # pyopencl raises a KeyError if its cache fails and this environment variable is not set.
    os.environ.setdefault("PYOPENCL_CACHE_FAILURE_FATAL", "")
    keep_callers()
    if "CLGRAPH_CACHE_DIR" in os.environ:
        for variable, name in _GPU_CACHES.items():
            os.environ.setdefault(variable, str(cache_dir(f"gpu/{name}")))
    given = os.environ.get("POCL_CACHE_DIR")
    if given is None:
        os.environ["POCL_CACHE_DIR"] = str(pocl_cache())
    elif Path(given).is_dir() and Path(given).parent == cache_root() / "pocl":
        use(Path(given))  # The parent process has chosen this cache directory.
    if IN_CHILD in os.environ:
        return {}
    drivers, verdict = registered(), survey()
    if verdict["error"]:
        raise NoDeviceError(f"OpenCL cannot be used: a process that lists its devices {verdict['error']}")
    if verdict["drivers"] or intel_wheel() in drivers:
        kept = [driver for driver in drivers if str(driver.file) not in verdict["drivers"]]
        try:
            os.environ.update(_registering(kept, cache_dir(f"drivers/{_key()}")))
        except OSError:
            # No file can be written, or the variable names a library instead of a folder, which the loader accepts.
            if len(kept) == 1:
                os.environ["OCL_ICD_VENDORS"] = kept[0].library
    return dict(verdict["drivers"])


def registered() -> list[Driver]:
    """Return the registered OpenCL drivers, and Intel's CPU runtime if its wheel is installed."""
    given = os.environ.get("OCL_ICD_VENDORS")
    vendors = Path(given or os.environ.get("OPENCL_VENDOR_PATH") or "/etc/OpenCL/vendors")
    found = [_read(path) for path in sorted(vendors.glob("*.icd"))] if vendors.is_dir() else []
    if given and vendors.is_file():
        found = [_read(vendors) if vendors.suffix == ".icd" else Driver(vendors, given)]
    wheel = intel_wheel()
    return [*found, wheel] if wheel and not given and wheel.library not in {d.library for d in found} else found


def bundled() -> list[Driver]:
    """Return the OpenCL drivers that are bundled with pyopencl, which the loader always loads."""
    return [_read(path) for path in sorted((Path(cl.__file__).parent / ".libs").glob("*.icd"))]


@lru_cache(maxsize=1)
def intel_wheel() -> Driver | None:
    """Return Intel's OpenCL runtime for CPUs if it was installed as a wheel, else ``None``."""
    below = Path("Library", "bin", "intelocl64.dll") if _WINDOWS else Path("lib", "libintelocl.so")
    found = [Path(root) / below for root in (sys.prefix, site.getuserbase()) if (Path(root) / below).is_file()]
    return Driver(found[0], str(found[0])) if found else None


def _read(path: Path) -> Driver:
    try:
        return Driver(path, path.read_text(encoding="utf-8", errors="replace").strip().partition("\n")[0])
    except OSError as error:
        return Driver(path, f"unreadable: {error.strerror}")


def _registering(drivers: list[Driver], folder: Path) -> dict[str, str]:
    """Return the environment variables with which the loader loads only
    these drivers and those bundled with pyopencl.
    """
    if _WINDOWS:  # On Windows, the loader of OpenCL drivers reads the registry and these environment variables.
        return {
            "OCL_ICD_FILENAMES": os.pathsep.join(driver.library for driver in drivers),
            "PATH": os.pathsep.join([*(str(driver.file.parent) for driver in drivers), os.environ.get("PATH", "")]),
        }
    names = {f"{k:02d}-{driver.file.stem}.icd": driver.library for k, driver in enumerate(drivers)}
    for name, library in names.items():
        write_whole(folder / name, f"{library}\n")
    for path in folder.glob("*.icd"):
        if path.name not in names:
            path.unlink(missing_ok=True)
    return {"OCL_ICD_VENDORS": str(folder)}


def survey(*, timeout: float = TIMEOUT_SECONDS, again: bool = False) -> dict[str, Any]:
    """Return whether a child process survived when it loaded all OpenCL drivers, and which drivers killed it.

    Returns
    -------
    dict
        ``"together"``: how a child died that loaded all drivers, or None. ``"drivers"``: a dictionary from the file
        that registers a driver to how a child died that loaded the driver. ``"error"``: how a child died that loaded no
        driver, or None.
    """
    path = cache_dir("drivers") / f"{_key()}.json"
    keys = {"together", "drivers", "error"}
    return kept_verdict(path, keys, lambda: (_survey(registered(), timeout), True), again=again)


def _survey(drivers: list[Driver], timeout: float) -> dict[str, Any]:
    verdict: dict[str, Any] = {"together": None, "drivers": {}, "error": None}
    try:
        together = _load(drivers, timeout)
        if not together.died:
            return verdict
        verdict["together"], kept = together.error, list[Driver]()
        alone = _load(kept, timeout)
        if alone.died:
            return {**verdict, "error": alone.error}
        for driver in drivers:
            answer = _load([*kept, driver], timeout)
            if answer.died:
                verdict["drivers"][str(driver.file)] = answer.error
            else:
                kept.append(driver)
    except (OSError, RuntimeError) as error:
        logger.debug("the drivers are loaded without a test: %s", error)
    return verdict


def _load(drivers: list[Driver], timeout: float) -> Answer:
    with tempfile.TemporaryDirectory(prefix="clgraph-drivers-") as folder:
        return run_child(__name__, timeout=timeout, **_registering(drivers, Path(folder)))


@lru_cache(maxsize=1)
def _key() -> str:
    files = [
        (str(path), path.stat().st_mtime_ns if path.is_file() else 0)
        for driver in (*registered(), *bundled())
        for path in (driver.file, Path(driver.library), *_system_library(driver.library))
    ]
    variables = [os.environ.get(name) for name in ("OCL_ICD_FILENAMES", "LD_LIBRARY_PATH", "LD_PRELOAD")]
    about = (files, variables, cl.VERSION_TEXT, processor().get("model name"), processor().get("flags"))
    return hashlib.sha256(repr(about).encode()).hexdigest()[:32]


def _system_library(name: str) -> list[Path]:
    """Return the files that the system may load as the library *name*."""
    folders = (f"/usr/lib/{platform.machine()}-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")
    return [path for folder in folders if not os.path.isabs(name) and (path := Path(folder) / name).is_file()]


def main() -> None:
    """Load all registered OpenCL drivers, and print the number of devices of each platform."""
    print(STARTED, flush=True)
    try:
        n_devices = [len(found.get_devices()) for found in cl.get_platforms()]
    except cl.Error:  # The loader of OpenCL drivers reports "no platform" as an error.
        n_devices = []
    print(f"\n{json.dumps(n_devices)}")


if __name__ == "__main__":
    main()
