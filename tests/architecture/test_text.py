"""What the files of the project must not say, and what the modules of the package must."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ["src", "tests", "docs", "examples", "benchmarks", "scripts", ".ci"]
SUFFIXES = {
    "",
    ".cfg",
    ".csv",
    ".dlog",
    ".ini",
    ".lark",
    ".md",
    ".py",
    ".rls",
    ".sh",
    ".toml",
    ".tsv",
    ".txt",
    ".yaml",
    ".yml",
}
CACHES = {"__pycache__", ".hypothesis", ".ruff_cache", ".mypy_cache", ".pytest_cache", "node_modules"}

# The patterns are written so that this file does not match them.
FORBIDDEN = {
    "a path of one machine": r"(?<![\w.~<>])/(?:wor[k]|roo[t]|hom[e]/\w|User[s]/\w|tm[p]/\w)(?=/|\b)",
    "an address of a package registry": r"(?:inde[x]-url|artifactor[y]|devp[i]|/simpl[e]/)",
    "work left undone": r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b",
    "the data folder, outside the code that finds it": r"\bshare[d]/",
}


def files() -> Iterator[Path]:
    """The text files of the project, without what tools leave behind."""
    places = [p for p in ROOT.iterdir() if p.is_file()]
    for folder in FOLDERS:
        places += (p for p in sorted((ROOT / folder).rglob("*")) if p.is_file())
    for path in places:
        if path.suffix in SUFFIXES and not CACHES & set(path.relative_to(ROOT).parts) and path.name != ".git":
            yield path


def modules() -> list[Path]:
    """The modules of the package."""
    return sorted((ROOT / "src").rglob("*.py"))


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_says(what: str) -> None:
    found = []
    for path in files():
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [
            f"{path.relative_to(ROOT)}:{n}: {s}"
            for n, s in enumerate(lines, 1)
            if re.search(FORBIDDEN[what], s)
        ]
    assert not found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT / "src")))
def test_public_names_are_documented(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    missing = [] if ast.get_docstring(tree) or not tree.body else ["the module"]
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            missing += [] if ast.get_docstring(node) else [node.name]
    assert not missing


def test_no_file_is_called_a_helper() -> None:
    assert not [p for p in modules() if re.search(r"util|helper|manager|misc", p.stem)]
