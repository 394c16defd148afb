"""Case folders give the same answers on Spark: some with nothing left to the driver's local engine.

Rounds over tiny data cost Spark seconds, so the others let the driver take small strata, as users do: a few of them, where more than the local
engine has a say, the rest in `make test-long`. What Spark itself computes is compared with the local engine on random programs in `test_programs.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modulog import Reasoner
from modulog.engines.spark.engine import LOCAL_LIMIT
from spark.whole import all_rows
from values import predicate_of, program_of, read_csv, rows_of_python

CASES = Path(__file__).parents[1] / "cases"
RESULTS = [f for f in sorted(CASES.iterdir()) if (f / "expected").is_dir()]
WHOLLY_ON_SPARK = """
    anonymous-negation closure-self-support errata-e3 errata-h15 errata-h6 errata-s-loss errata-s9 imports set-difference several-heads unicode
""".split()
LONG_ON_SPARK = "errata-s19 package-dependencies".split()
"""The same, in `make test-long`."""
ON_THE_DRIVER = """
    arithmetic csv-quoting file-formats iris-and-prefixes language-tags linear-closure-seeds negation-three-strata rdfox-all-classes rdfox-syntax skolem skos
""".split()

# Cases about empty predicates and products are warned about.
pytestmark = pytest.mark.filterwarnings("ignore")


def case(folder: Path) -> Any:
    """A folder as a parameter of a test."""
    whole = folder.name in WHOLLY_ON_SPARK
    marks = [pytest.mark.partitions] if whole else [pytest.mark.long]
    return pytest.param(folder, id=folder.name, marks=[] if folder.name in ON_THE_DRIVER else marks)


@pytest.mark.parametrize("folder", [case(folder) for folder in RESULTS])
def test_results(folder: Path, spark: Any) -> None:
    limit = 0 if folder.name in (*WHOLLY_ON_SPARK, *LONG_ON_SPARK) else LOCAL_LIMIT
    with Reasoner(program_of(folder), spark=spark, local_limit=limit) as reasoner:
        if (folder / "facts").is_dir():
            reasoner.load(folder / "facts")
        facts = all_rows(reasoner)
        for path in sorted((folder / "expected").glob("*.csv")):
            predicate, expected = predicate_of(path), set(read_csv(path))
            found = rows_of_python(facts[predicate])
            assert set(found) == expected, predicate
            assert len(found) == reasoner.count(predicate) == len(expected), predicate
