"""Case folders give the same answers by SQL over executors: a dozen in `make test`, others in `make test-long`.

A round costs seconds there, and all folders an hour of Spark: `HYPOTHESIS_PROFILE=deep` runs every one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from modulog import Reasoner
from support.values import predicate_of, program_of, read_csv, rows_of_python
from support.whole import all_rows

CASES = Path(__file__).parents[1] / "cases"
RESULTS = [f for f in sorted(CASES.iterdir()) if (f / "expected").is_dir()]
PARTITIONS = "closure-self-support errata-e3 errata-h6 imports set-difference unicode".split()
QUICK = """
    anonymous-negation closure-self-support errata-e3 errata-h15 errata-h6 errata-s-loss errata-s9 imports set-difference several-heads unicode
""".split()
OTHERS = [f for f in RESULTS if f.name not in QUICK]
LONG = OTHERS if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else OTHERS[1::9]
# Cases about empty predicates and products are warned about.
pytestmark = pytest.mark.filterwarnings("ignore")


def case(folder: Path) -> Any:
    """A folder as a parameter of a test."""
    marks = [] if folder.name in QUICK else [pytest.mark.long]
    if folder.name in PARTITIONS:
        marks.append(pytest.mark.partitions)
    return pytest.param(folder, id=folder.name, marks=marks)


@pytest.mark.parametrize("folder", [case(f) for f in RESULTS if f.name in QUICK or f in LONG])
def test_results(folder: Path, spark: Any) -> None:
    with Reasoner(program_of(folder), spark=spark) as reasoner:
        if (folder / "facts").is_dir():
            reasoner.load(folder / "facts")
        facts = all_rows(reasoner)
        for path in sorted((folder / "expected").glob("*.csv")):
            predicate, expected = predicate_of(path), set(read_csv(path))
            found = rows_of_python(facts[predicate])
            assert set(found) == expected, predicate
            assert len(found) == reasoner.count(predicate) == len(expected), predicate
