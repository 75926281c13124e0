"""The layers of the package, checked on the syntax tree of every module, and the index of its kernels."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import conftest
import pytest

from clgraph.algorithms.table import MODULES, ON_MESHES
from clgraph.runtime.programs.declarations import Declarations
from clgraph.runtime.programs.source import build_input

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "clgraph"

DATA = {"data", "figure", "names", "progress", "tables", "io", "user_cache"}
CHECKS = {
    "errors",
    "host_memory",
    "lent_memory",
    "shared_memory",
    "arguments",
}  # Every part outside this set may import these.
TOP = {"hetero", "distributed", "compat", "csgraph", "networkx_backend", "cli", "report", "html_report", "__main__"}
BELOW = {  # a part of the package -> the parts it may import, beside itself
    "errors": set[str](),
    "host_memory": {"errors"},
    "shared_memory": {"errors"},
    "lent_memory": {"errors"},
    "arguments": {"errors", "host_memory"},
    **{part: {*CHECKS, *DATA} for part in DATA},
    "reference": {*CHECKS, *DATA},
    "device": {*CHECKS, *DATA},
    "model": {*CHECKS, *DATA, "device"},
    "runtime": {*CHECKS, *DATA, "device", "model"},
    "primitives": {*CHECKS, *DATA, "device", "runtime"},
    "generators": {*CHECKS, *DATA, "device", "model", "runtime", "primitives"},
    "engine": {*CHECKS, *DATA, "device", "model", "runtime", "primitives"},
    "multi_device": {*CHECKS, *DATA, "device", "runtime"},
    "algorithms": {*CHECKS, *DATA, "device", "model", "runtime", "primitives", "engine", "multi_device"},
    "probing": {*CHECKS, *DATA, "device", "runtime", "primitives"},
}
BELOW |= {part: {*BELOW, *TOP} - {"reference"} for part in TOP}
USE_OPENCL = {"runtime", "primitives", "engine", "multi_device", "algorithms", "probing", "hetero"}
VERIFY = {"algorithms", "cli"}  # may import the reference inside a function
JOINS_ALGORITHMS = {"clgraph.algorithms.explain"}  # looks up any algorithm's table by name
RELATIVES = ("eigenvector_centrality", "hits", "katz_centrality")  # of PageRank: other epilogues of its kernels
# algorithm -> the packages that it shares with another one
SHARED = {"bfs": {"traversal"}, "sssp": {"traversal"}, **{name: {"pagerank"} for name in RELATIVES}}


def imports(tree: ast.AST, module: str) -> Iterator[tuple[str, bool]]:
    """Yield the full name of everything *module* imports, and whether inside a function."""

    def visit(node: ast.AST, inside: bool) -> Iterator[tuple[str, bool]]:
        if isinstance(node, ast.Import):
            yield from ((alias.name, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*module.split(".")[: -node.level], *([base] if base else [])])
            # `from clgraph.data import graph` names a module; `from clgraph.data.graphs.graph import Graph` is in one.
            yield from ((f"{base}.{alias.name}", inside) for alias in node.names)
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, inside)

    return visit(tree, False)


def violations(module: str, source: str) -> list[str]:
    """Return what *module* (a dotted name) imports against the layers."""
    part = module.split(".")[1]
    if part not in BELOW:
        return [f"{module} is in no layer: add it to this test and to the design"]
    found = []
    for name, inside in imports(ast.parse(source), module):
        top, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if (top == "pyopencl" or name.startswith("clgraph.runtime.driver.opencl")) and part not in USE_OPENCL:
            found.append(f"{module} imports pyopencl")
        elif top == "pyopencl" and not inside and module != "clgraph.runtime.driver.opencl":
            found.append(f"{module} loads pyopencl, which clgraph.runtime.driver.opencl does at its first use")
        if top != "clgraph" or target == "__version__":
            continue
        if target == "reference" and part != "reference":
            if part not in VERIFY or not inside:
                found.append(f"{module} imports {name} outside a verification")
        elif target != part and target not in BELOW[part]:
            found.append(f"{module} imports {name}, which is not below it")
        elif part == "algorithms" and target == part and module not in JOINS_ALGORITHMS:
            own, other = module.split(".")[2], name.split(".")[2]
            if other != own and other not in SHARED.get(own, set()):
                found.append(f"{module} imports {name}, another algorithm")
    return found


def modules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_a_module_imports_only_what_is_below_it(path: Path) -> None:
    name = dotted(path) + (".__init__" if path.name == "__init__.py" else "")
    assert violations(name, path.read_text(encoding="utf-8")) == []


def test_the_package_itself_only_knows_names() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    tree.body = [n for n in tree.body if ast.unparse(n).partition(":")[0] != "if TYPE_CHECKING"]
    assert {name for name, _ in imports(tree, "clgraph.__init__")} <= {
        "__future__.annotations", "importlib", "typing.TYPE_CHECKING", "typing.Any",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("clgraph.errors", "from clgraph.data import graph"),
        ("clgraph.data.graphs.graph", "import pyopencl as cl"),
        ("clgraph.device.facts", "from clgraph.runtime.session import Session"),
        ("clgraph.model.cost", "import clgraph.runtime.driver.timing"),
        ("clgraph.model.cost", "def f():\n    from clgraph.runtime.driver import timing"),
        ("clgraph.runtime.session", "from ..primitives import scan"),
        ("clgraph.primitives.scan", "from clgraph.model.cost import Work"),
        ("clgraph.algorithms.bfs", "from clgraph.algorithms.connected_components import STRATEGIES"),
        ("clgraph.algorithms.bfs", "from . import components"),
        ("clgraph.algorithms.traversal.queues", "from clgraph.algorithms.bfs import prices"),
        ("clgraph.algorithms.bfs", "from clgraph.reference.bfs import check_bfs"),
        ("clgraph.cli.color", "import clgraph.reference"),
        ("clgraph.cli.color", "def f():\n    import pyopencl.array"),
        ("clgraph.cli.color", "from clgraph.runtime.driver import opencl as cl"),
        ("clgraph.runtime.session", "import pyopencl as cl"),
        ("clgraph.cli.color", "from clgraph import connected_components"),
        ("clgraph.report", "def f():\n    from clgraph.reference import components"),
        ("clgraph.utils", ""),
    ],
)
def test_a_planted_violation_is_found(module: str, source: str) -> None:
    assert len(violations(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "clgraph.data.graphs.graph",
            "from clgraph.data.graphs.stats import graph_stats\nfrom clgraph.data import csr",
        ),
        ("clgraph.runtime.session", "from .kept import Kept\nfrom clgraph.runtime.driver import opencl as cl"),
        ("clgraph.algorithms.bfs.levels", "from clgraph.algorithms.traversal import queues"),
        ("clgraph.algorithms.bfs", "def f():\n    from clgraph.reference.bfs import check_bfs"),
        ("clgraph.algorithms.partition.api", "from clgraph.algorithms.partition import refine"),
        ("clgraph.cli.main", "from clgraph import __version__, errors"),
    ],
)
def test_an_allowed_import_passes(module: str, source: str) -> None:
    assert violations(module, source) == []


def indexed_kernels(readme: str) -> set[tuple[str, str]]:
    """Return file and kernel of each row of the index in *readme*; a row without a file goes on with the last one."""
    found, folder, name = set(), "", ""
    for line in readme.splitlines():
        if heading := re.match(r"### cl/(\w+)$", line):
            folder = heading[1]
        elif row := re.match(r"\| (?:`(\w+\.cl)` )?\| `(\w+)` \| \S", line):
            name = row[1] or name
            found.add((f"{folder}/{name}", row[2]))
    return found


def test_every_kernel_has_a_row_in_the_index() -> None:
    root, on_gpu = ROOT / "cl", {"DEV_HAS_INT64_ATOMICS": 1}
    named = {
        (path, kernel)
        for path in (str(path.relative_to(root)) for path in root.rglob("*.cl"))
        for mode in (on_gpu, {**on_gpu, "WG_SIZE": 1, "ONE_LAUNCH": 0})  # the second as on CPUs
        for kernel in Declarations(build_input(path, mode)).kernels
    }
    assert indexed_kernels((root / "README.md").read_text(encoding="utf-8")) == named


def circle(graph: dict[str, set[str]]) -> list[str] | None:
    """Return the modules of a circle of imports, or ``None``."""
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return None


def imported_modules(path: Path, known: set[str]) -> set[str]:
    """Return the modules of the package that *path* imports, also inside functions and for types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module = dotted(path) + (".__init__" if path.name == "__init__.py" else "")
    names = {name for name, _ in imports(tree, module)}
    return {name if name in known else name.rpartition(".")[0] for name in names} & known


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = {dotted(path) for path in modules()}
    assert circle({dotted(path): imported_modules(path, known) for path in modules()}) is None
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) is not None


def room(path: Path) -> str:
    """Return the folder of a module, or the module itself if its folder has others in it."""
    has_folders = any(each.is_dir() and each.name != "__pycache__" for each in path.parent.iterdir())
    return dotted(path) if has_folders else dotted(path.parent / "__init__.py")


def test_no_folders_import_each_other_in_a_circle() -> None:
    known = {dotted(path): path for path in modules()}
    arrows: dict[str, set[str]] = {}
    for path in known.values():
        below = {room(known[name]) for name in imported_modules(path, {*known})}
        arrows.setdefault(room(path), set()).update(below - {room(path)})
    assert circle(arrows) is None


MOST_LINES = 300
MOST_LINES_OF_FUNCTIONS = 50
CODE = [
    path
    for folder in ("clgraph", "cl", "tools", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".cl", ".h")
]


def in_root(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", CODE, ids=in_root)
def test_a_file_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def long_functions(source: str) -> list[str]:
    """Return the functions of a module whose bodies are long; a body begins after the docstring."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body if ast.get_docstring(node) is None else node.body[1:]
            n_lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            if n_lines > MOST_LINES_OF_FUNCTIONS:
                found.append(f"{node.name} has {n_lines} lines")
    return found


@pytest.mark.parametrize("path", [path for path in CODE if path.suffix == ".py"], ids=in_root)
def test_functions_are_short(path: Path) -> None:
    assert long_functions(path.read_text(encoding="utf-8")) == []


def long_kernel_functions(source: str) -> list[str]:
    """Return the functions of a kernel file whose bodies, between the braces, are long."""
    code = re.sub(r"^#.*?(?<!\\)$", "", source, flags=re.MULTILINE | re.DOTALL)
    head = r"^(?:KERNEL|(?:ALWAYS_)?INLINE)\b[^{;]*?(\w+)\([^{;]*\) \{\n"
    bodies = re.finditer(rf"{head}(.*?)^\}}", code, re.MULTILINE | re.DOTALL)
    lengths = ((found[1], found[2].count("\n")) for found in bodies)
    return [f"{name} has {n} lines" for name, n in lengths if n > MOST_LINES_OF_FUNCTIONS]


@pytest.mark.parametrize("path", [path for path in CODE if path.suffix in (".cl", ".h")], ids=in_root)
def test_functions_of_kernels_are_short(path: Path) -> None:
    assert long_kernel_functions(path.read_text(encoding="utf-8")) == []


def test_a_planted_long_kernel_function_is_found() -> None:
    head, line = "KERNEL f(int n,\n         __global int *x) {\n", "  x[n] = n;\n"
    assert long_kernel_functions(head + MOST_LINES_OF_FUNCTIONS * line + "}\n") == []
    assert long_kernel_functions(head + (MOST_LINES_OF_FUNCTIONS + 1) * line + "}\n") == ["f has 51 lines"]


def test_a_planted_long_function_is_found() -> None:
    head, line = "def f(\n    n,\n):\n    '''Return.\n\n    Nothing.\n    '''\n", "    n += 1\n"
    assert long_functions(head + MOST_LINES_OF_FUNCTIONS * line) == []
    assert long_functions(head + (MOST_LINES_OF_FUNCTIONS + 1) * line) == ["f has 51 lines"]
    assert long_functions("class C:\n  async " + head.replace("def f", "def g") + 60 * line) == ["g has 60 lines"]
    assert long_functions("def f():\n    '''Return nothing.'''\n") == []


# ---- the form of algorithms


def sources(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of every file that holds words of kernels below *folder*."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".cl", ".h"):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def kernel_words(text: str) -> set[str]:
    """Return the macros that stand for a value and that a kernel source fixes: the host may give no other value."""
    tunables = set(re.findall(r"^\s*#\s*ifndef\s+(\w+)", text, re.MULTILINE))
    return set(re.findall(r"^\s*#\s*define\s+(\w+)[ \t]+\S", text, re.MULTILINE)) - tunables


def assignments(source: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name to which a module assigns something, and what that is."""
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            both = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            pairs = zip(target.elts, node.value.elts, strict=False) if both else [(target, node.value)]  # type: ignore[attr-defined]
            yield from ((name.id, value) for name, value in pairs if isinstance(name, ast.Name))


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return _is_number(value.operand)
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float)


def mirrored(source: str, words: set[str]) -> list[str]:
    """Return the numbers of a module that a kernel source defines, too; ``program.constant`` reads them from there."""
    return [name for name, value in assignments(source) if name.lstrip("_") in words and _is_number(value)]


# The folders in cl/ of the packages that share one. Every other package has one folder, named like the package.
KERNEL_FOLDERS = {
    "bfs": {"bfs", "traversal"}, "sssp": {"sssp", "traversal"}, **{name: {"pagerank"} for name in RELATIVES},
}  # fmt: skip
ALGORITHM_MODULES = [path for path in modules() if path.is_relative_to(PACKAGE / "algorithms")]


@pytest.mark.parametrize("path", ALGORITHM_MODULES, ids=dotted)
def test_no_word_of_a_kernel_is_written_twice(path: Path) -> None:
    package = path.relative_to(PACKAGE / "algorithms").parts[0]
    folders = {"common"} | KERNEL_FOLDERS.get(package, {package})
    words = {word for folder in folders for _, text in sources(ROOT / "cl" / folder) for word in kernel_words(text)}
    assert mirrored(path.read_text(encoding="utf-8"), words) == []


def test_a_planted_mirror_is_found() -> None:
    words = kernel_words("#define ALIVE 3\n#define BOTH(a) a\n#ifndef TILE\n#define TILE 64\n#endif\n#define GUARD_H\n")
    assert words == {"ALIVE"}
    for planted in ("_ALIVE = 3", "ALIVE: int = 3", "_WORDS, _ALIVE = 4, 2**2 - 1"):
        assert mirrored(planted, words), planted
    for allowed in ("_TILE = 64", "_ALIVE = 'ALIVE'", "alive = 3", "def f():\n    ALIVE = 3"):
        assert not mirrored(allowed, words), allowed


_NUMBERS = re.compile(r"np\.(u?int\d*|float\d*)$")


def arguments_by_position(source: str) -> list[str]:
    """Return the calls that set arguments of kernels by position, or that convert what is bound by name."""
    found = []
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in ("set_arg", "set_args", "set_scalar"):
            found.append(ast.unparse(call))
        elif name in ("bind", "set", "launch", "Phase"):
            inside = [node for part in (*call.args, *call.keywords) for node in ast.walk(part)]
            found += [
                ast.unparse(node)
                for node in inside
                if isinstance(node, ast.Call) and _NUMBERS.match(ast.unparse(node.func))
            ]
    return found


@pytest.mark.parametrize("path", ALGORITHM_MODULES, ids=dotted)
def test_arguments_of_kernels_go_by_name(path: Path) -> None:
    assert arguments_by_position(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "planted",
    ["launch.set_scalar(2, 5)", "kernel.set_args(a, b)", "program.bind('k', n, n=np.int32(n))",
     "launch.set(round=np.uint32(k))", "Phase('a.cl:k', n, work, {'turn': np.int32(turn)})"],
)  # fmt: skip
def test_planted_arguments_by_position_are_found(planted: str) -> None:
    assert len(arguments_by_position(planted)) == 1
    assert arguments_by_position("program.bind('k', n, turn=1); array.set(np.zeros(3, np.int32))") == []


def missing_parts(package: Path) -> list[str]:
    """Return what the package of an algorithm lacks of its shape."""
    start = package / "__init__.py"
    parts = [part for part in ("problem", "strategies") if not list(package.glob(f"{part}*"))]
    text = start.read_text(encoding="utf-8") if start.exists() else ""
    return parts + ([] if "ALGORITHM" in dict(assignments(text)) else ["ALGORITHM"])


@pytest.mark.parametrize("module", [*MODULES.values(), *ON_MESHES.values()])
def test_every_algorithm_is_a_package_of_one_shape(module: str) -> None:
    assert missing_parts(ROOT.joinpath(*module.split("."))) == []


def test_a_package_without_its_parts_is_found(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("from somewhere import ALGORITHM")
    (tmp_path / "problem.py").touch()
    assert missing_parts(tmp_path) == ["strategies", "ALGORITHM"]
    (tmp_path / "strategies").mkdir()
    (tmp_path / "__init__.py").write_text("ALGORITHM = 1")
    assert missing_parts(tmp_path) == []


SHARED_KERNELS = {"common", "data", "generators", "hetero", "primitives", "probe", "traversal"}


@pytest.mark.parametrize("folder", sorted(
    path.name for path in (ROOT / "cl").iterdir() if path.is_dir() and path.name not in SHARED_KERNELS
))  # fmt: skip
def test_kernels_of_an_algorithm_stand_in_a_folder_of_its_name(folder: str) -> None:
    assert f"clgraph.algorithms.{folder}" in {*MODULES.values(), *ON_MESHES.values()}


@pytest.mark.parametrize("name", dict(sources(ROOT / "cl")))
def test_a_kernel_file_begins_with_what_it_does(name: str) -> None:
    head = re.match(r"/\*(.*?)\*/", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    assert head and len(head[1].split()) >= 5, f"{name} has no head"


def test_no_worker_gets_all_tests_of_a_long_file(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files without a device are spread test by test, and groups that tests name themselves stay whole."""
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "16")
    first = request.node
    groups: dict[str, list[str]] = {}
    for path, fixture, n, marks in (
        ("long", "session", 100, ()),
        ("short", "pocl", 3, ()),
        ("plain", "tmp_path", 3, ()),
        ("own", "session", 100, (pytest.mark.xdist_group("together"),)),
    ):
        items = [pytest.Function.from_parent(first.parent, name=f"{path}{k}", callobj=missing_parts) for k in range(n)]
        for item in items:
            item.path, item.fixturenames = Path(path), [fixture]
            for mark in marks:
                item.add_marker(mark)
        conftest.pytest_collection_modifyitems(request.config, items)
        for item in items:
            names = [mark.args[0] for mark in item.iter_markers("xdist_group")]
            groups.setdefault("+".join(names), []).append(item.name)
    sizes = {name: len(items) for name, items in groups.items()}
    assert sizes == {"long-0": 40, "long-1": 40, "long-2": 20, "short-0": 3, "": 3, "together": 100}
    assert groups["long-1"] == [f"long{k}" for k in range(40, 80)], "neighbours stay together"
