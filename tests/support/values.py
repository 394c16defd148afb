"""Constants as `(kind, value)` pairs, the form of the oracle, and the other forms that they take in tests.

The kinds are string, integer, decimal, double, boolean and iri; what Python has no type for keeps its class name. The value of a double is its
`repr`: so 0.0 is not -0.0, and NaN is NaN. Fact
files are read here by the rule of the manual and without the package, so that a mistake in its reader cannot hide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote

Value = tuple[str, Any]
Row = tuple[Value, ...]

_FIELD = re.compile(r'("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)')
_KINDS = {str: "string", int: "integer", Decimal: "decimal", float: "double", bool: "boolean"}


def of_python(value: Any) -> Value:
    """The pair for a Python value as `Reasoner.rows` gives it.

    >>> of_python(1), of_python("1"), of_python(Decimal("1.00")) == of_python(Decimal("1.0"))
    (('integer', 1), ('string', '1'), True)
    """
    kind = _KINDS.get(type(value))
    if kind == "double":
        return (kind, repr(value))
    return (
        (kind, value)
        if kind
        else (type(value).__name__.lower(), str(value).removeprefix("<").removesuffix(">"))
    )


def to_python(value: Value) -> Any:
    """The Python value for a pair, as `Reasoner.add` takes it."""
    if value[0] == "iri":
        from modulog import IRI

        return IRI(value[1])
    return float(value[1]) if value[0] == "double" else value[1]


def rows_of_python(rows: Iterable[Any]) -> list[Row]:
    """Rows of Python values as rows of pairs, repetitions kept."""
    return [tuple(of_python(v) for v in row) for row in rows]


def rows_to_python(rows: Iterable[Row]) -> list[tuple[Any, ...]]:
    """Rows of pairs as rows of Python values."""
    return [tuple(to_python(v) for v in row) for row in rows]


def turtle(value: Value) -> str:
    """The text of a constant in rules, and in columns that mix kinds.

    >>> print(turtle(("string", "a b")), turtle(("decimal", Decimal("1.50"))), turtle(("iri", "http://e.org/")))
    "a b" 1.5 <http://e.org/>
    """
    kind, content = value
    if kind == "string":
        return '"' + str(content).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if kind == "decimal":
        whole, _, fraction = f"{content:f}".partition(".")
        return f"{whole}.{fraction.rstrip('0') or '0'}"
    return f"<{content}>" if kind == "iri" else str(content)


def typed(field: str) -> Value:
    """The constant that a field of a fact file stands for."""
    if field.startswith('"'):
        return ("string", field[1:-1].replace('""', '"'))
    if re.fullmatch(r"-?(0|[1-9][0-9]*)", field, re.ASCII):
        return ("integer", int(field))
    if re.fullmatch(r"-?(0|[1-9][0-9]*)\.[0-9]+", field, re.ASCII):
        return ("decimal", Decimal(field))
    if re.fullmatch(r"<[^<>]*>", field):
        return ("iri", field[1:-1])
    return ("string", field)


def read_csv(path: Path) -> list[Row]:
    """The rows of a fact file; the line `()` is the row without columns."""
    text = path.read_text(encoding="utf-8")
    rows: list[Row] = []
    row: list[Value] = []
    for match in _FIELD.finditer(text):
        if match.start() == len(text) and not row:
            break
        row.append(typed(match[1]))
        if match[2] != ",":
            rows.append(tuple(row))
            row = []
    return [() if r == (("string", "()"),) else r for r in rows]


def program_of(folder: Path) -> Path:
    """The program of a case folder, in either syntax."""
    (path,) = folder.glob("program.*")
    return path


def predicate_of(path: Path) -> str:
    """The predicate that a fact file is named for; one named by an IRI stands in angle brackets."""
    name = unquote(path.name.removesuffix(".gz").rsplit(".", 1)[0])
    return f"<{name}>" if "://" in name and not name.startswith("<") else name
