"""Builds and runs the cases of this directory: kernels as C++, under ThreadSanitizer or under the seeded scheduler."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

RACE = Path(__file__).resolve().parent
ROOT = RACE.parent.parent
# All rounds of a spanning forest in one launch, whose groups wait for each other.
ONE_LAUNCH = ("-DWG_SIZE=1", "-DCLIMB_LIMIT=2")
SHORT_ROWS = ("-DWG_SIZE=1", "-DONLY_SHORT_ROWS=1", "-DBOTTOM_UP=0")
LIGHT_FIRST = ("-DWG_SIZE=1", "-DLIGHT_FIRST=1")
# Lanes of a sub-group are work-items of their own, which meet in its words.
WIDE = ("-DWG_SIZE=8", "-DDEV_SUB_GROUP_SIZE=4")
ONE_WIDE = ("-DWG_SIZE=4", "-DDEV_SUB_GROUP_SIZE=4")
CHECKED_LATER = ("-DWG_SIZE=4", "-DCHECKS=1")
HUBS = ("-DHUB_ENTRIES=5", "-DLONE_ENTRIES=2")  # limits so low that a work-group reads some rows together
FULL_QUEUES = ("-DSTEPS=1", "-DQUEUE_ROWS=12")  # Several work-items move rows from a full queue to the lists.
# Lanes, sub-groups and work-groups take rows by their lengths, with limits that rows of 20 entries exceed.
DIVIDED_ROWS = (
    "-DDIVIDES_ROWS=1",
    "-DLANE_ROW=2u",
    "-DLONG_ROW=4u",
    "-DGROUP_SLOTS=16u",
    "-DGIANT=40u",
    "-DSHARED_GIANT=60u",
)
BUILDS: dict[str, list[tuple[str, ...]]] = {
    "vocabulary": [(), WIDE],
    "connected_components": [
        (),
        ("-DHOOK_FIRST=0",),
        ("-DSORTED_ROWS=1", "-DHOOK_STEPS=4"),
        ("-DSYMMETRIC=0", "-DHOOK_FIRST=0"),
        ("-DWG_SIZE=1",),  # groups interleave in the kernels with barriers, too
        ("-DWG_SIZE=4",),  # an item of a small group is late more often
    ],
    "minimum_spanning_forest": [
        (),
        ("-DSPLIT_KEYS=1",),
        ONE_LAUNCH,
        ("-DWG_SIZE=1", "-DCLIMB_LIMIT=1", "-DSPLIT_KEYS=1"),  # Climbs stop after 1 step: trees take several passes.
        (*WIDE, "-DCLIMB_LIMIT=2"),
    ],
    "minimum_spanning_forest_segmented": [()],
    "color": [
        ("-DWG_SIZE=1",),
        *(("-DWG_SIZE=1", f"-D{name}") for name in ("RANKED=0", "WIDE=1", "MARKED=1")),
        (*WIDE, "-DWORDS_ORDER=1"),
    ],
    "directed_communities": [("-DWG_SIZE=1",)],
    "communities": [("-DWG_SIZE=1",), (*WIDE, "-DWORDS_ORDER=1"), (*WIDE, *DIVIDED_ROWS)],
    "climbs": [("-DWG_SIZE=1",), (*WIDE, "-DWORDS_ORDER=1"), (*WIDE, *DIVIDED_ROWS)],
    "distance_two": [(), ("-DWG_SIZE=4", "-DGROUP_TEAM=1")],
    "sized_nets": [(), ("-DWG_SIZE=4", "-DGROUP_TEAM=1"), (*WIDE, "-DTEAM=4")],
    "factorization": [(), ONE_WIDE, (*ONE_WIDE, "-DLANES=2", "-DWORDS_ORDER=1"), (*ONE_WIDE, "-DWEIGHTED=1")],
    "blocks": [  # groups wait for each other
        ("-DWG_SIZE=1",),
        ONE_WIDE,
        (*ONE_WIDE, "-DLANES=4", "-DWORDS_ORDER=1"),
        (*ONE_WIDE, "-DWEIGHTED=1"),
    ],
    "supersteps": [("-DWG_SIZE=1",), ("-DWG_SIZE=4",)],
    "rounds": [(), ("-DATOMIC=1", "-DBALANCE=1")],
    "bfs": [
        ("-DWG_SIZE=1",),
        SHORT_ROWS,
        ("-DWG_SIZE=4",),
        (*WIDE, *FULL_QUEUES),
        ("-DWG_SIZE=4", "-DONE_LAUNCH=0"),
        (*WIDE, *HUBS),
        ("-DWG_SIZE=4", "-DONE_LAUNCH=0", *HUBS),
    ],
    "queues": [("-DWG_SIZE=1",)],
    "matrices": [("-DWG_SIZE=1",)],
    "buckets": [("-DWG_SIZE=1",)],
    "sssp": [
        ("-DWG_SIZE=1",),
        LIGHT_FIRST,
        ("-DWG_SIZE=4", "-DLIGHT_FIRST=1"),
        ("-DWG_SIZE=4", *FULL_QUEUES),
        ("-DWG_SIZE=4", "-DALONE=1"),
        ("-DWG_SIZE=4", *FULL_QUEUES, "-DHELD=3"),
        (*WIDE, *FULL_QUEUES, "-DHELD=3"),
    ],
    "look_back": [("-DWG_SIZE=1",), ("-DWG_SIZE=1", "-DSUM_BYTES=8")],
    "primitives": [("-DWG_SIZE=4",), ("-DWG_SIZE=64",), WIDE],
    "reductions": [("-DWG_SIZE=4",), WIDE],
    "sorts": [("-DWG_SIZE=4",), WIDE],
    "collisions": [
        ("-DWG_SIZE=8", "-DMETHOD=PAIRS"),
        ("-DWG_SIZE=8", "-DMETHOD=SORTED"),
        ("-DWG_SIZE=8", "-DMETHOD=SORTED", "-DLAYOUT=COMPACT", "-DHASH_LANES=1"),
        (*WIDE, "-DMETHOD=BITMAP", "-DHASH_LANES=1"),
    ],
    "checks": [("-DWG_SIZE=4",)],
    "conflicts": [("-DWG_SIZE=4",), (*WIDE, "-DTEAM=4")],
    "matchings": [("-DWG_SIZE=4",)],
    "maximal_independent_set": [("-DWG_SIZE=1",), (*WIDE, "-DTRIES=2")],
    "maximal_matching": [("-DWG_SIZE=1",), (*WIDE, "-DTEAM=2u", "-DTRIES=2")],
    "teams": [("-DWG_SIZE=4",), WIDE],
    "removals": [("-DWG_SIZE=4",)],
    "probes": [("-DWG_SIZE=4",)],
    "block_diagonal": [("-DWG_SIZE=4",), ONE_WIDE, (*ONE_WIDE, "-DWEIGHTED=1")],
    "stats": [("-DWG_SIZE=4",), WIDE],
    "strongly_connected_components": [
        ("-DWG_SIZE=1", "-DLONG_ROW=6", "-DSHORT_ROW=3"),
        ("-DWG_SIZE=1", "-DONE_LAUNCH=1", "-DDEV_IS_CPU=0", "-DTURNS=2"),
        ("-DWG_SIZE=4", "-DSEARCHED=0", "-DNATURAL=1u"),
        (*WIDE, "-DLONG_ROW=6", "-DSHORT_ROW=3", "-DONE_LAUNCH=1", "-DDEV_IS_CPU=0"),
        (*WIDE, "-DLONG_ROW=6", "-DSHORT_ROW=3"),
    ],
    "pagerank": [
        *((f"-DWG_SIZE={size}", "-DDEV_HAS_FP64=1") for size in (1, 4)),
        ("-DWG_SIZE=4", "-DDEV_HAS_FP64=1", "-DTEAM=2", "-DPERSONAL=1"),
    ],
    "cores": [("-DWG_SIZE=1",), ("-DWG_SIZE=4",), WIDE],
    "triangles": [("-DWG_SIZE=1",), ("-DWG_SIZE=4",), WIDE],
    "partition": [("-DWG_SIZE=1",), ("-DWG_SIZE=1", "-DDEV_IS_CPU=0", "-DSPLIT_CLAIMS=1"), (*WIDE, "-DWORDS_ORDER=1")],
    "pairs": [("-DWG_SIZE=1",)],
    "refine_mesh": [("-DWG_SIZE=1",), ("-DWG_SIZE=4",), CHECKED_LATER],
    "patches": [("-DWG_SIZE=1",)],
    "group_patches": [("-DWG_SIZE=1",), ("-DWG_SIZE=4",)],
}


def cases_of(subject: str) -> list[str]:
    """Return the names in the table at the end of the header of *subject*."""
    table = (RACE / f"{subject}.h").read_text(encoding="utf-8").partition("static const Case cases[] =")[2]
    return re.findall(r'\{"(\w+)",', table)


CASES = {subject: cases_of(subject) for subject in BUILDS}
# Without optimisation: to compile takes longer than to run, and as threads local memory, whose address goes nowhere,
# would be kept in registers.
LANES = {"scheduler": ["-O0"], "threads": ["-O0", "-gline-tables-only", "-fsanitize=thread", "-pthread"]}
_STANDARD = ("-std=c++17", "-w")
# GNU's default linker takes three times as long, which is a fifth of a build for ThreadSanitizer.
_LINKER = ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()
COMPILERS = ("clang++", "clang++-18", "clang++-17", "clang++-16", "clang++-15", "clang++-14")
_VECTOR_LITERAL = re.compile(r"\((int2|uint2|float2|double2|int4|uint4|long4|offset4_t)\)\(")
_SOURCE = "typedef int int4 __attribute__((ext_vector_type(4))); int main() { return 0; }"


def places() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield (subject, options, case) of all cases."""
    for subject, cases in CASES.items():
        for options in BUILDS[subject]:
            yield from ((subject, options, case) for case in cases)


def run(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def find_compiler(directory: Path) -> str | None:
    """Return a clang++ that can build and run under ThreadSanitizer; *directory* is for its try."""
    source = directory / "empty.cpp"
    source.write_text(_SOURCE)
    for name in COMPILERS:
        if shutil.which(name):
            built = run([name, "-fsanitize=thread", str(source), "-o", str(source.with_suffix(""))])
            if built.returncode == 0:
                return name
    return None


def as_cpp(text: str) -> str:
    """Return the text of a kernel file as C++ can read it: macros cannot make vector literals."""
    return _VECTOR_LITERAL.sub(r"make_\1(", text)


def copy_kernels(directory: Path) -> Path:
    """Make a copy of ``cl/`` that C++ can read, and return its path."""
    copy = directory / "cl"
    shutil.copytree(ROOT / "cl", copy)
    shutil.copy(ROOT / "tests" / "kernels" / "vocabulary.cl", copy)
    for path in (*copy.rglob("*.cl"), *copy.rglob("*.h")):
        path.write_text(as_cpp(path.read_text()))
    return copy


def arguments(lane: str, subject: str, kernels: Path, options: Sequence[str]) -> list[str]:
    """Return what the compiler needs for the cases of *subject*."""
    return [f"-I{kernels}", f"-I{RACE}", f'-DCASES="{subject}.h"', *options, str(RACE / f"{lane}.cpp")]


@cache
def library(compiler: str, lane: str) -> tuple[str, tempfile.TemporaryDirectory[str]]:
    """Compile what all builds of *lane* include of the libraries; the directory goes when the process ends."""
    directory = tempfile.TemporaryDirectory(prefix="clgraph-race-")
    target = os.path.join(directory.name, lane)
    header = ["-fpch-instantiate-templates", "-x", "c++-header", str(RACE / "library.h"), "-o", target]
    built = run([compiler, *_STANDARD, *LANES[lane], *header])
    assert built.returncode == 0, built.stderr[:4000]
    return target, directory


def only(subject: str, case: str) -> str:
    """Return the option that builds *case* of *subject* alone: code that only other cases call is not compiled."""
    row = re.search(rf'\{{"{case}", [^}}]+\}}', (RACE / f"{subject}.h").read_text(encoding="utf-8"))
    assert row is not None
    return f"-DONLY_CASE={row[0]}"


def build(compiler: str, lane: str, subject: str, kernels: Path, options: Sequence[str]) -> Path:
    """Build the cases of *subject* once, beside *kernels*."""
    target = kernels.parent / "-".join((lane, subject, *options))
    if not target.exists():
        header, _ = library(compiler, lane)
        command = [compiler, *_STANDARD, *LANES[lane], "-include-pch", header]
        built = run([*command, *_LINKER, *arguments(lane, subject, kernels, options), "-o", str(target)])
        assert built.returncode == 0, built.stderr[:4000]
    return target


def check(
    program: Path, lane: str, case: str, seeds: int, timeout: float = 800, runs: int = 6
) -> subprocess.CompletedProcess[str]:
    """Run one case until a seed is wrong, or *runs* times under ThreadSanitizer, which stops at the first race.

    The default suits a kernel that should pass. A known race that shows only with rare timings needs more *runs*.
    """
    if lane == "scheduler":
        return run([str(program), case, "1", str(seeds)], timeout=timeout)
    command = [str(program), case, str(runs)]
    environment = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1"}
    ran = run(command, timeout=timeout, env=environment)
    # Some runtimes cannot place their memory beside randomised addresses, and end with one of these lines.
    if "unexpected memory mapping" in ran.stderr or "DEADLYSIGNAL" in ran.stderr:
        ran = run(["setarch", "-R", *command], timeout=timeout, env=environment)
    return ran
