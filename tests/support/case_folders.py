"""The case folders in `tests/cases`: programs with their facts, updates and what must follow, and how they
are checked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from modulog import Reasoner
from support.reasoners import with_switches
from support.values import Row, predicate_of, program_of, read_csv, rows_of_python, rows_to_python

HERE = Path(__file__).parents[1] / "cases"


FOLDERS = sorted(p.parent for p in HERE.glob("*/program.*"))


ERRORS = [f for f in FOLDERS if (f / "error.txt").exists()]


RESULTS = [f for f in FOLDERS if f not in ERRORS]


UPDATES = [f for f in RESULTS if (f / "updates").is_dir()]


def loaded(folder: Path, options: dict[str, Any], engine: str) -> Reasoner:
    """A reasoner with the program and the facts of a case, and switches."""
    reasoner = Reasoner(program_of(folder), engine=engine, **with_switches(options))
    if (folder / "facts").is_dir():
        reasoner.load(folder / "facts")
    return reasoner


def read(folder: Path) -> dict[str, set[Row]]:
    """The rows of every file of a folder, by predicate."""
    return {predicate_of(path): set(read_csv(path)) for path in sorted(folder.glob("*.csv"))}


def check(reasoner: Reasoner, folder: Path) -> None:
    """The reasoner holds exactly the rows of every file of the folder, for the predicate of that file."""
    for predicate, expected in read(folder).items():
        found = rows_of_python(reasoner.rows(predicate))
        assert set(found) == expected, predicate
        assert len(found) == reasoner.count(predicate) == len(expected), predicate


def play(folder: Path, options: dict[str, str], engine: str) -> None:
    """The updates of a case, one after the other."""
    reasoner = loaded(folder, options, engine)
    reasoner.materialise()
    for step in sorted((folder / "updates").iterdir()):
        reasoner.update(
            add={p: rows_to_python(rows) for p, rows in read(step / "add").items()},
            delete={p: rows_to_python(rows) for p, rows in read(step / "delete").items()},
        )
        check(reasoner, step / "expected")
