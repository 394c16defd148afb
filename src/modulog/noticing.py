"""What a user is told of a program at the time when its facts are known: before its consequences are computed for the first time."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection
from pathlib import Path

from modulog.errors import ProgramWarning
from modulog.language import suspicions
from modulog.language.function_names import refuse_functions
from modulog.language.model import Program
from modulog.wording import plural

TOLD = ("no-facts", "like-variable")
"""The warnings that nobody has to ask for; `Reasoner.warnings` and `modulog check` have the others, too."""
MOST = 5
"""How many are shown: the rules of an ontology name much more than most facts have."""

_HERE = f"{Path(__file__).parent}{os.sep}"


def notice(program: Program, supplied: Collection[str]) -> None:
    """Refuse functions that stand in place of atoms, and give Python's warnings of what is likely wrong; `supplied` are the names that facts were given for."""
    refuse_functions(program, program.text, supplied)
    found = [w for w in suspicions.warnings(program, known=supplied) if w.code in TOLD]
    for warning in found[:MOST]:
        warn_user(warning.told(), ProgramWarning)
    if len(found) > MOST:
        warn_user(f"{plural(len(found) - MOST, 'more warning')}: see `Reasoner.warnings`", ProgramWarning)


def warn_user(message: str, category: type[Warning]) -> None:
    """Give a warning that names the line of the caller's own program, however deep in the package this is."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
