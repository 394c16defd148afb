"""Failures about facts on their way in, on the local engine."""

from __future__ import annotations

import pytest

from modulog import Reasoner
from support.amounts import amount
from support.failed_sources import *  # noqa: F403
from support.failed_sources import Made


@pytest.fixture
def made() -> Made:
    """Reasoners of the local engine."""
    return lambda program, **options: Reasoner(program, engine="local", **options)


@pytest.fixture
def opened() -> Made:
    """Stores opened on the local engine."""
    return lambda folder, **options: Reasoner.open(folder, engine="local", **options)


@pytest.fixture
def runs() -> int:
    """How many random sequences of steps are tried."""
    return amount(40, 400)
