"""Failures about facts on their way in, on Spark, which reads sources late."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modulog import Reasoner
from support.amounts import amount
from support.failed_sources import *  # noqa: F403
from support.failed_sources import Made


@pytest.fixture
def made(spark: Any) -> Iterator[Made]:
    """Reasoners of the Spark engine."""
    open_ones = []

    def make(program: str | Path, **options: Any) -> Reasoner:
        open_ones.append(Reasoner(program, spark=spark, **options))
        return open_ones[-1]

    yield make
    for r in open_ones:
        r.close()


@pytest.fixture
def opened(spark: Any) -> Made:
    """Stores opened on Spark."""
    return lambda folder, **options: Reasoner.open(folder, engine="spark", spark=spark, **options)


@pytest.fixture
def runs() -> int:
    """How many random sequences of steps are tried."""
    return amount(1, 8)
