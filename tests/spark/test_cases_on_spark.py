"""Every case folder gives the same answers on Spark, with nothing left to the driver's local engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modulog import Reasoner
from values import predicate_of, read_csv, rows_of_python

CASES = Path(__file__).parents[1] / "cases"
RESULTS = [f for f in sorted(CASES.iterdir()) if (f / "expected").is_dir()]

# Cases about empty predicates and products are warned about.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("folder", RESULTS, ids=lambda f: f.name)
def test_results(folder: Path, spark: Any) -> None:
    with Reasoner(folder / "program.rls", spark=spark, local_limit=0) as reasoner:
        if (folder / "facts").is_dir():
            reasoner.load(folder / "facts")
        for path in sorted((folder / "expected").glob("*.csv")):
            predicate, expected = predicate_of(path), set(read_csv(path))
            found = rows_of_python(reasoner.rows(predicate))
            assert set(found) == expected, predicate
            assert len(found) == reasoner.count(predicate) == len(expected), predicate
