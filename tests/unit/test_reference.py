"""The API reference: every public name has a text and an example, every document a page, and every link leads to one."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def builder() -> Any:
    """The script behind `make docs`."""
    spec = importlib.util.spec_from_file_location("docs", ROOT / "scripts" / "docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DOCS = builder()
NAMES = {n: v for n, v in DOCS.public_names().items() if inspect.isclass(v) or inspect.isfunction(v)}
WITHOUT_EXAMPLE = {
    "modulog.errors.EngineError",
    "modulog.errors.EngineUnavailable",
    "modulog.errors.WorkerLost",
    "modulog.errors.NotSupported",
    "modulog.errors.Interrupted",
    "modulog.errors.InternalError",
}
"""Errors that an example could only raise on a machine that lacks something, or by a mistake of ours."""


def test_the_reference_has_what_users_meet() -> None:
    assert {"modulog.Reasoner", "modulog.Sink", "modulog.read", "modulog.errors.DataError"} <= set(NAMES)
    assert {"modulog.Change", "modulog.Statistics", "modulog.Plan"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_public_names_have_an_example(name: str) -> None:
    """That examples work is shown by running them as doctests."""
    text = inspect.getdoc(NAMES[name]) or ""
    assert text and not text.startswith(f"{name.rpartition('.')[2]}("), "a text of its own"
    assert (">>> " in text) != (name in WITHOUT_EXAMPLE)


@pytest.mark.parametrize("name", [n for n, v in NAMES.items() if inspect.isclass(v)])
def test_public_methods_are_described(name: str) -> None:
    bare = []
    for owner in NAMES[name].__mro__:
        for key, value in vars(owner).items() if owner.__module__.startswith("modulog") else ():
            member = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if not key.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                bare += [] if member.__doc__ else [f"{owner.__name__}.{key}"]
    assert bare == []


def test_every_document_has_a_page() -> None:
    written = {str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md")}
    assert [d for d in DOCS.DOCUMENTS if not (ROOT / d).is_file()] == []
    assert written <= set(DOCS.DOCUMENTS)
    assert len({DOCS.page(d) for d in DOCS.DOCUMENTS}) == len(DOCS.DOCUMENTS)


def test_pages_link_to_pages(tmp_path: Path) -> None:
    """All pages are written, and what they link to is there, down to the heading."""
    pytest.importorskip("pdoc", reason="pdoc is not installed: pip install '.[docs]'")
    names = DOCS.build(tmp_path)
    pages = {p: p.read_text(encoding="utf-8") for p in tmp_path.rglob("*.html")}
    assert len(pages) == len(names) + 1
    missing = []
    for path, text in pages.items():
        body = re.sub(r"<script.*?</script>", "", text, flags=re.S)
        for target in re.findall(r'href="(?!https?:|data:)([^"]+)"', body):
            name, _, anchor = target.partition("#")
            place = (path.parent / name).resolve() if name else path
            if place not in pages or (anchor and f'id="{anchor}"' not in pages[place]):
                missing.append(f"{path.relative_to(tmp_path)}: {target}")
    assert missing == []
    assert [str(path.relative_to(tmp_path)) for path, text in pages.items() if "```" in text] == []
