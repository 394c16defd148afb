"""Rules in VLog's own syntax: variables are capitals, predicates are numbered, and a rule reads each from triples."""

import re
from pathlib import Path

from benchmarks.data.real import data_file

_READS_TRIPLES = re.compile(r"(RP\d+)\(A(?:,B)?\) :- TE\(A,(?:rdf:type,)?<([^>]*)>(?:,B)?\)")
_PREDICATE = re.compile(r"\bRP\d+(?=\()")
_VARIABLE = re.compile(r"(?<=[(,])([A-Z]\w*)(?=[,)])")


def rules_file(name: str) -> Path | None:
    """Return where a rule file lies, None if nowhere."""
    return data_file("rules", "vlog", name)


def read_vlog(text: str) -> list[str]:
    """Return the rules in our syntax, predicates named by the last part of the class or property that they stand for.

    The rules that only read triples into predicates are left out: facts are given by predicate.

    >>> text = "RP0(A) :- TE(A,rdf:type,<u#Dean>)\\nRP1(A,B) :- TE(A,<u#headOf>,B)\\nRP0(X) :- RP1(X,X1)\\n"
    >>> read_vlog(text)
    ['Dean(?X) :- headOf(?X,?X1) .']
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    names: dict[str, str] = {}
    rules = []
    for line in lines:
        if (found := _READS_TRIPLES.fullmatch(line)) is not None:
            names[found[1]] = _name(found[2], set(names.values()))
        else:
            rules.append(line)
    return [_VARIABLE.sub(r"?\1", _PREDICATE.sub(lambda p: names[p[0]], rule)) + " ." for rule in rules]


def without_equality(rules: list[str]) -> list[str]:
    """Return the rules that do not read ``sameAs``: those that do say that equals may replace each other everywhere.

    >>> without_equality(["p(?Y) :- p(?X), sameAs(?X,?Y) .", "sameAs(?Y,?Z) :- f(?X,?Y), f(?X,?Z) ."])
    ['sameAs(?Y,?Z) :- f(?X,?Y), f(?X,?Z) .']
    """
    return [rule for rule in rules if "sameAs(" not in rule.partition(":-")[2]]


def _name(iri: str, taken: set[str]) -> str:
    """The last part of an IRI, as a word that every system takes; with a number if another vocabulary has the same."""
    word = re.split("[#/]", iri)[-1].replace("-", "_")
    name, number = word, 2
    while name in taken:
        name, number = f"{word}_{number}", number + 1
    return name
