"""Imports go one way: each package has a layer and imports from its own layer or from those below.

Every import counts, also those inside functions and those for type checkers only. A new package must be given
its place here before it can be used.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MODULES = {
    ".".join(p.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): p
    for p in sorted(SOURCE.rglob("*.py"))
}

LAYERS = [
    {"errors", "version", "wording", "formats.format", "formats.fact_file"},
    {"kernels"},
    {"closures"},
    {
        "algebra",
        "engines.table",
        "engines.relation",
        "engines.schemes",
        "engines.values",
        "engines.engine",
    },
    {"terms"},
    {"language"},
    {"planning", "joins", "store"},
    {"engines"},
    {"modules"},
    {"formats", "evaluation", "query"},
    {"maintenance"},
    {"owl"},
    {"spark"},
    {"engines.registry", "engines.dictionary_backend", "engines.local.backend", "engines.spark"},
    {"reasoner", "task"},
    {"pipeline"},
    {"__main__", "cli"},
]
"""From the bottom to the top; the public names of the package belong to the top, where the command line uses
them.
"""

ONLY_IN = {
    "numba": ("modulog.kernels",),
    "lark": ("modulog.language",),
    "pyspark": ("modulog.engines.spark", "modulog.spark", "modulog.task.place", "modulog.task.job"),
    "py4j": ("modulog.spark",),
    "typer": ("modulog.cli.app", "modulog.cli.options"),
    "modulog.engines.local": ("modulog.engines.local", "modulog.engines.registry"),
    "modulog.engines.spark": ("modulog.engines.spark", "modulog.engines.registry", "modulog.task.place"),
}
"""What may be imported in few places only."""

HEAVY = ["numpy", "numba", "pyarrow", "pandas", "polars", "lark", "typer", "rich", "pyoxigraph", "pyspark"]
"""What `import modulog` must leave alone, so that it takes no time."""


def within(module: str, package: str) -> bool:
    """Whether a module is a package or lies in it."""
    return module == package or module.startswith(package + ".")


def imports(module: str) -> Iterator[tuple[int, str]]:
    """The lines and full names of everything that a module imports, `from x import y` as `x.y`."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def layer(module: str) -> int:
    """The layer of a module of ours, or of a public name of the package."""
    parts = module.split(".")
    if len(parts) == 1 or f"modulog.{parts[1]}" not in MODULES:
        return len(LAYERS) - 1
    prefixes = [".".join(parts[1:end]) for end in range(len(parts), 1, -1)]
    found = [n for p in prefixes for n, names in enumerate(LAYERS) if p in names]
    assert found, f"{module}: give `{parts[1]}` a layer in {Path(__file__).name}"
    return found[0]


@pytest.mark.parametrize("module", MODULES)
def test_layers(module: str) -> None:
    wrong = [
        f"{MODULES[module].name}:{line} imports {name}"
        for line, name in imports(module)
        if within(name, "modulog") and layer(name) > layer(module)
    ]
    assert not wrong


@pytest.mark.parametrize("module", MODULES)
def test_places(module: str) -> None:
    wrong = [
        f"{MODULES[module].name}:{line} imports {name}, which only {' and '.join(places)} may"
        for line, name in imports(module)
        for package, places in ONLY_IN.items()
        if within(name, package) and not any(within(module, place) for place in places)
    ]
    assert not wrong


def test_documents_have_the_layers() -> None:
    """The table in docs/architecture.md has every layer, from the top to the bottom; the line in
    CONTRIBUTING.md leaves some out.
    """
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = text.split("## The layers")[1].split("```")[1]
    shown = list[set[str]]()
    for line in block.strip().splitlines():
        names, _, what = line.partition(" " * 3)
        if what.strip():
            shown.append(set(names.split()))
        else:  # a layer of many names goes over several lines
            shown[-1] |= set(names.split())
    assert shown == LAYERS[::-1]


def test_contributors_are_told_the_layers() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    line = text.split("**Imports go one way**: `")[1].split("`")[0]
    shown = [{name.strip() for name in names.split(",")} for names in line.split("→")]
    found = [next(n for n, layer in enumerate(LAYERS) if names <= layer) for names in shown]
    assert found == sorted(set(found), reverse=True)


def run(program: str) -> list[str]:
    """The words that a program prints when a fresh interpreter runs it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(SOURCE), *sys.path])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_is_light() -> None:
    assert run(f"import sys, modulog; print(*[m for m in {HEAVY!r} if m in sys.modules])") == []


def test_local_work_leaves_spark_alone() -> None:
    """Rules and facts given as text and tuples need no other engine, no pandas and no command line."""
    work = (
        "from modulog import Reasoner; r = Reasoner('p(?x) :- q(?x) . q(a) .', engine='local'); r.count('p')"
    )
    unused = ["pyspark", "py4j", "pandas", "polars", "typer"]
    assert run(f"import sys; {work}; print(*[m for m in {unused!r} if m in sys.modules])") == []


def test_tests_do_not_import_tests() -> None:
    """What tests share lies in `tests/support`, so that each test file can be read and run alone."""
    tests = ROOT / "tests"
    folders = {"tests", *(p.name for p in tests.iterdir() if p.is_dir())} - {"support"}
    wrong = []
    for path in sorted(tests.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            wrong += [f"{path.name} imports {n}" for n in names if n.partition(".")[0] in folders]
    assert not wrong
