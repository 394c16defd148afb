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
    from modulog.engines.options import SparkOptions
    from modulog.engines.relation import Memory
    from modulog.engines.values import Failures
    from modulog.errors import ProgramWarning
    from modulog.evaluation.statistics import (
        RoundStatistics,
        RuleStatistics,
        Statistics,
        StratumStatistics,
        StratumUpdate,
        UpdateStatistics,
    )
    from modulog.formats import DataWarning
    from modulog.language.model import Atom, Predicate, Program, Rule
    from modulog.language.parser import parse_program
    from modulog.language.program_warnings import Diagnostic
    from modulog.maintenance.change import Change
    from modulog.owl.rules import OntologyRules, rules_of
    from modulog.pipeline.config import Sink, Source
    from modulog.pipeline.pipeline import Pipeline
    from modulog.pipeline.run import Run, Watch
    from modulog.planning.passes import Switches
    from modulog.planning.plan import Clause, ModulePlan, Plan, Stratum
    from modulog.reasoner.fact_batch import FactBatch, facts, read
    from modulog.reasoner.reasoner import Reasoner
    from modulog.terms.python_values import IRI, BlankNode, TaggedLiteral

_NAMES = {
    "engines.options": "SparkOptions",
    "engines.relation": "Memory",
    "engines.values": "Failures",
    "errors": "ProgramWarning",
    "evaluation.statistics": (
        "RoundStatistics RuleStatistics Statistics StratumStatistics StratumUpdate UpdateStatistics"
    ),
    "formats": "DataWarning",
    "language.model": "Atom Predicate Program Rule",
    "language.parser": "parse_program",
    "language.program_warnings": "Diagnostic",
    "maintenance.change": "Change",
    "owl.rules": "OntologyRules rules_of",
    "pipeline.config": "Sink Source",
    "pipeline.pipeline": "Pipeline",
    "pipeline.run": "Run Watch",
    "planning.passes": "Switches",
    "planning.plan": "Clause ModulePlan Plan Stratum",
    "reasoner.fact_batch": "FactBatch facts read",
    "reasoner.reasoner": "Reasoner",
    "terms.python_values": "BlankNode IRI TaggedLiteral",
}
"""The modules that define the public names."""

_HOMES = {name: f"modulog.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "IRI",
    "Atom",
    "BlankNode",
    "Change",
    "Clause",
    "DataWarning",
    "Diagnostic",
    "FactBatch",
    "Failures",
    "Memory",
    "ModulePlan",
    "OntologyRules",
    "Pipeline",
    "Plan",
    "Predicate",
    "Program",
    "ProgramWarning",
    "Reasoner",
    "RoundStatistics",
    "Rule",
    "RuleStatistics",
    "Run",
    "Sink",
    "Source",
    "SparkOptions",
    "Statistics",
    "Stratum",
    "StratumStatistics",
    "StratumUpdate",
    "Switches",
    "TaggedLiteral",
    "UpdateStatistics",
    "Watch",
    "__version__",
    "errors",
    "facts",
    "parse_program",
    "read",
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
