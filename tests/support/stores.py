"""What tests of the store share: two programs with facts, and everything that a reasoner holds, to compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from zlib import crc32

from modulog import IRI, BlankNode, Reasoner, TaggedLiteral
from modulog.store.manifest import MANIFEST
from modulog.terms.python_values import constant

PATHS = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
    end(?x) :- path(_, ?x), ~edge(?x, _) .
    cyclic() :- path(?x, ?x) .
    some() :- edge(_, _) .
    edge(program, fact) .
"""
EVERY_KIND = [
    ("string", 'a "b"\n\t\\ 漢😀', ""),
    ("integer", -(2**63), 2**63 - 1),
    ("long integer", TaggedLiteral(str(2**70), datatype="http://www.w3.org/2001/XMLSchema#integer"), 0),
    ("decimal", Decimal("-12345678901234567890.5"), Decimal("0.1")),
    ("double", 0.1, float("inf")),
    ("boolean", True, False),
    ("iri", IRI("http://example.org/a#é"), IRI("urn:x")),
    ("blank", BlankNode("b1"), BlankNode("b2")),
    ("tagged", TaggedLiteral("chat", language="fr"), TaggedLiteral("chat", language="en-gb")),
    ("typed", TaggedLiteral("2020-01-01", datatype="http://www.w3.org/2001/XMLSchema#date"), "2020-01-01"),
]


def held(reasoner: Reasoner) -> dict[str, set[tuple[Any, ...]]]:
    """All facts by predicate, as constants, which tell NaN from nothing and 1 from True."""
    return {
        str(p): {tuple(map(constant, row)) for row in reasoner.rows(p.name)} for p in reasoner.predicates()
    }


def forge(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a manifest, and give it the checksum that it needs."""
    content = json.loads((folder / MANIFEST).read_text("utf-8"))
    del content["checksum"]
    change(content)
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    content["checksum"] = f"{crc32(text.encode()):08x}"
    (folder / MANIFEST).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
