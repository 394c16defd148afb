"""Failures about facts on their way in, on the local engine."""

from __future__ import annotations

import pytest

from modulog.reasoner.for_pipelines import open_store
from support.amounts import amount
from support.failed_sources import *  # noqa: F403
from support.failed_sources import Made
from support.reasoners import reasoner


@pytest.fixture
def made() -> Made:
    """Reasoners of the local engine."""
    return lambda program, **options: reasoner(program, engine="local", **options)


@pytest.fixture
def opened() -> Made:
    """Stores opened on the local engine."""
    return lambda folder, **options: open_store(folder, engine="local", **options)


@pytest.fixture
def runs() -> int:
    """How many random sequences of steps are tried."""
    return amount(40, 400)
