"""Bad records are the same on both engines: files, lines, texts and reasons, and what is left as facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.bad_records import ODD, Odd

pytestmark = [
    pytest.mark.filterwarnings("ignore::modulog.formats.DataWarning"),
    pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning"),
]
QUICK = ("p.csv", "p.jsonl", "f.nt", "f.ttl", "p.parquet")


@pytest.mark.parametrize(
    "odd",
    [pytest.param(odd, id=odd.name, marks=() if odd.name in QUICK else pytest.mark.long) for odd in ODD],
)
def test_as_locally(spark: Any, odd: Odd, tmp_path: Path) -> None:
    odd.write(tmp_path)
    expected, known, rows = odd.facts(tmp_path)
    facts, bad, found = odd.facts(tmp_path, spark=spark)
    assert (facts, found, bad) == (expected, rows, known)
