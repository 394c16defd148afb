"""Modulog: a Datalog reasoner for people who have facts and rules.

>>> from modulog import Reasoner
>>> r = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")
>>> r.add("edge", [("a", "b"), ("b", "c")])
>>> r.count("path")
3
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modulog.version import __version__

if TYPE_CHECKING:
    from modulog import errors
    from modulog.evaluation.statistics import Statistics
    from modulog.language.model import Atom, Predicate, Program, Rule
    from modulog.language.parser import parse_program
    from modulog.owl.rules import OntologyRules, rules_of
    from modulog.pipeline.pipeline import Pipeline
    from modulog.planning.plan import Plan
    from modulog.reasoner.reasoner import Reasoner
    from modulog.terms.python_values import IRI, BlankNode, TaggedLiteral

_HOMES = {
    "Atom": "modulog.language.model",
    "BlankNode": "modulog.terms.python_values",
    "IRI": "modulog.terms.python_values",
    "OntologyRules": "modulog.owl.rules",
    "Pipeline": "modulog.pipeline.pipeline",
    "Plan": "modulog.planning.plan",
    "Predicate": "modulog.language.model",
    "Program": "modulog.language.model",
    "Reasoner": "modulog.reasoner.reasoner",
    "Rule": "modulog.language.model",
    "Statistics": "modulog.evaluation.statistics",
    "TaggedLiteral": "modulog.terms.python_values",
    "parse_program": "modulog.language.parser",
    "rules_of": "modulog.owl.rules",
}

__all__ = [
    "IRI",
    "Atom",
    "BlankNode",
    "OntologyRules",
    "Pipeline",
    "Plan",
    "Predicate",
    "Program",
    "Reasoner",
    "Rule",
    "Statistics",
    "TaggedLiteral",
    "__version__",
    "errors",
    "parse_program",
    "rules_of",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `import modulog` itself loads nothing heavy."""
    from importlib import import_module

    if name == "errors":
        return import_module("modulog.errors")
    if name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'modulog' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
