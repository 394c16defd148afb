"""Gives a user the warnings about a program when its facts are known, before the first materialisation."""

from __future__ import annotations

from collections.abc import Collection

from modulog.errors import ProgramWarning
from modulog.formats import warn_user
from modulog.language import program_warnings
from modulog.language.function_calls import refuse_functions
from modulog.language.model import Program
from modulog.wording import plural

SHOWN_CODES = ("no-facts", "like-variable")
"""The codes of the warnings that are given without asking; `Reasoner.warnings` and `modulog check` have all.
"""
MOST = 5
"""The most warnings that are given: rules from an ontology name many predicates that have no facts."""


def notice(program: Program, supplied: Collection[str]) -> None:
    """Give Python warnings of likely mistakes in a program; an error for functions written as atoms.

    `supplied` are the names of the predicates for which facts have been added or loaded.
    """
    refuse_functions(program, program.text, supplied)
    found = [w for w in program_warnings.warnings(program, known=supplied) if w.code in SHOWN_CODES]
    for warning in found[:MOST]:
        warn_user(warning.show(), ProgramWarning)
    if len(found) > MOST:
        warn_user(f"{plural(len(found) - MOST, 'more warning')}: see `Reasoner.warnings`", ProgramWarning)
