"""The functions that rules may use: their names and how many arguments they take.

`term_functions.py` and `arithmetic.py` compute them. Names are in upper case; operators are written between
their arguments.
"""

from __future__ import annotations

OPERATORS = {"+": 1, "-": 1, "*": 2, "/": 2}
"""Operators between two expressions, with their precedence: a higher number binds tighter."""

FUNCTIONS: dict[str, tuple[int, int | None]] = {
    "+": (2, 2),
    "-": (1, 2),
    "*": (2, 2),
    "/": (2, 2),
    "ABS": (1, 1),
    "INT": (1, 1),
    "STR": (1, 1),
    "STRLEN": (1, 1),
    "UCASE": (1, 1),
    "LCASE": (1, 1),
    "CONCAT": (1, None),
    "SKOLEM": (1, None),
}
"""The fewest and the most arguments of each function; None if there may be any number."""

NUMERIC = frozenset({"+", "-", "*", "/", "ABS", "INT"})
"""Functions of numbers that give numbers."""

AGGREGATES = frozenset({"AVG", "COUNT", "GROUP_CONCAT", "MAX", "MIN", "SAMPLE", "SUM"})
"""SPARQL's aggregates, which rules do not have; the messages about them say so."""

OF_SPARQL = frozenset(
    "ABS BNODE BOUND CEIL COALESCE CONCAT CONTAINS DATATYPE DAY ENCODE_FOR_URI FLOOR HOURS IF IRI ISBLANK "
    "ISIRI ISLITERAL ISNUMERIC ISURI LANG LANGMATCHES LCASE MD5 MINUTES MONTH NOW RAND REGEX REPLACE ROUND "
    "SAMETERM SECONDS SHA1 SHA256 SHA384 SHA512 STR STRAFTER STRBEFORE STRDT STRENDS STRLANG STRLEN "
    "STRSTARTS STRUUID SUBSTR TIMEZONE TZ UCASE URI UUID YEAR".split()
)
"""The functions of SPARQL 1.1 in upper case, to recognise those that rules do not have."""
