"""Builds the pages of `make docs`: the API reference from docstrings, and the documents beside it.

pdoc makes a page of each module. Names that users meet come from many modules, so most pages here are modules
made for the purpose: one that has the public names of `modulog`, and one without names for each document,
whose text is its docstring.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GUIDES = ["load-tables", "keep-up-to-date", "run-on-spark", "find-out-why-slow", "write-a-module"]
DOCUMENTS = [
    "README.md",
    *(f"docs/{name}.md" for name in GUIDES),
    *(
        f"docs/{name}.md"
        for name in "command-line terms store pipeline rdf ontologies spark architecture notation errata".split()
    ),
    "benchmarks/README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]
"""The documents that become pages, in the order of the contents."""

PUBLIC = ["modulog", "modulog.errors"]
"""The modules that users import from."""


FIRST = ("Reasoner", "read", "facts", "Pipeline", "Source", "Sink")
"""What most readers look for, at the top of its page."""


def public_names() -> dict[str, Any]:
    """Everything that the reference describes, by the name under which it stands there."""
    found = {}
    for name in PUBLIC:
        module = importlib.import_module(name)
        listed = getattr(module, "__all__", None) or [
            n
            for n, v in vars(module).items()
            if getattr(v, "__module__", "") == name and not n.startswith("_")
        ]
        found |= {f"{name}.{n}": getattr(module, n) for n in listed}
    return found


def page(document: str) -> str:
    """The name of the page of a document, as pdoc has them: with dots, which become folders."""
    path = Path(document)
    stem = "benchmarks" if path.parts[0] == "benchmarks" else path.stem.lower()
    return f"documents.{stem.replace('-', '_')}"


def _module(name: str, text: str, members: dict[str, Any] | None = None) -> Any:
    """A page with a text and the descriptions of some names."""
    import pdoc.doc

    module = ModuleType(name)
    module.__doc__ = text
    module.__dict__.update(members or {})
    module.__dict__["__all__"] = list(members or {})
    return pdoc.doc.Module(module)


def _links(document: str, text: str) -> str:
    """The text with links that lead to pages; those to files without a page become plain text."""

    def replaced(found: re.Match[str]) -> str:
        words, target = found.groups()
        name, _, anchor = target.partition("#")
        if not name:
            return found[0]
        path = ((ROOT / document).parent / name).resolve()
        known = {(ROOT / d).resolve(): d for d in DOCUMENTS}
        if path not in known:
            return words
        place = page(known[path]).removeprefix("documents.") + ".html"
        return f"[{words}]({place}{'#' + anchor if anchor else ''})"

    # The name of a file behind the language of a block is for the tests; pdoc wants it before the block.
    text = re.sub(r"^```(\w+) (\S+)$", r"`\2`:\n\n```\1", text, flags=re.M)
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:)([^)\s]+)\)", replaced, text)


def pages() -> dict[str, Any]:
    """All pages by name, as pdoc's modules."""
    names = public_names()
    found = {}
    for document in DOCUMENTS:
        text = _links(document, (ROOT / document).read_text(encoding="utf-8"))
        found[page(document)] = _module(page(document), text)
    for name in PUBLIC:
        members = {n.rpartition(".")[2]: v for n, v in names.items() if n.rpartition(".")[0] == name}
        members = {
            n: members[n] for n in sorted(members, key=lambda n: FIRST.index(n) if n in FIRST else len(FIRST))
        }
        classes = {n: v for n, v in members.items() if not isinstance(v, ModuleType | str)}
        found[name] = _module(name, sys.modules[name].__doc__ or "", classes)
    return found


def build(folder: Path) -> list[str]:
    """Write all pages into a folder; answers their names."""
    import pdoc
    import pdoc.render

    pdoc.render.configure(
        docformat="google", template_directory=ROOT / "scripts" / "docs-theme", show_source=False
    )
    made = pages()
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in made.items():
        path = folder / f"{name.replace('.', '/')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pdoc.render.html_module(module, made), encoding="utf-8")
    (folder / "index.html").write_text(pdoc.render.html_index(made), encoding="utf-8")
    (folder / "search.js").write_text(pdoc.render.search_index(made), encoding="utf-8")
    return list(made)


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs")
    sys.stdout.write(f"{len(build(target))} pages: {target / 'index.html'}\n")
