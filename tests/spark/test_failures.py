"""Failures about facts on their way in, on Spark, which reads sources late."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modulog import Reasoner
from modulog.reasoner.for_pipelines import open_store
from support.amounts import amount
from support.failed_sources import *  # noqa: F403
from support.failed_sources import Made
from support.reasoners import reasoner


@pytest.fixture
def made(spark: Any) -> Iterator[Made]:
    """Reasoners of the Spark engine."""
    open_ones = []

    def make(program: str | Path, **options: Any) -> Reasoner:
        open_ones.append(reasoner(program, spark=spark, **options))
        return open_ones[-1]

    yield make
    for r in open_ones:
        r.close()


@pytest.fixture
def opened(spark: Any) -> Made:
    """Stores opened on Spark."""

    def make(folder: Path, **options: Any) -> Reasoner:
        if "switches" in options:
            return open_store(folder, spark=spark, **options)
        return Reasoner.open(folder, spark=spark, **options)

    return make


@pytest.fixture
def runs() -> int:
    """How many random sequences of steps are tried."""
    return amount(1, 3)
