"""Every case folder gives the same answers on Spark; every eighth with nothing left to the driver's local engine.

Rounds over tiny data cost Spark seconds, so the others let the driver take small strata, as users do. What Spark itself computes is compared with
the local engine on random programs in `test_programs.py`.
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
WHOLLY_ON_SPARK = {folder for folder in RESULTS[::8] if folder.name != "long-chain"}

# Cases about empty predicates and products are warned about.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("folder", RESULTS, ids=lambda f: f.name)
def test_results(folder: Path, spark: Any) -> None:
    limit = 0 if folder in WHOLLY_ON_SPARK else LOCAL_LIMIT
    with Reasoner(program_of(folder), spark=spark, local_limit=limit) as reasoner:
        if (folder / "facts").is_dir():
            reasoner.load(folder / "facts")
        facts = all_rows(reasoner)
        for path in sorted((folder / "expected").glob("*.csv")):
            predicate, expected = predicate_of(path), set(read_csv(path))
            found = rows_of_python(facts[predicate])
            assert set(found) == expected, predicate
            assert len(found) == reasoner.count(predicate) == len(expected), predicate
