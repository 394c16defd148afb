"""Programs that people wrote for Nemo: they parse and print, or say clearly what is not in our language."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from modulog.errors import ProgramError
from modulog.language.parser import parse_file, parse_program
from modulog.language.printer import print_program

DATA = Path(os.environ.get("MODULOG_DATA") or Path(__file__).parents[4] / "shared" / "data")
PROGRAMS = sorted((DATA / "testcases" / "nemo").rglob("*.rls"))
WORDS = (
    "not supported",
    "unknown format",
    "neither a number nor a name",
    "of a negated atom",
    "there is no function",
)


@pytest.mark.skipif(not PROGRAMS, reason="Nemo's test programs are not here")
def test_programs() -> None:
    refused: list[ProgramError] = []
    for path in PROGRAMS:
        try:
            program = parse_file(path)
        except ProgramError as error:
            refused.append(error)
        else:
            assert parse_program(print_program(program)) == program
    assert all(error.position for error in refused)
    assert [str(error) for error in refused if not any(word in error.message for word in WORDS)] == []
    assert len(refused) <= len(PROGRAMS) // 2 + 1
