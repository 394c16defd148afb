"""How much a run of the tests tries: `make test` little, and always the same; `make test-long` more, and other things each time."""

from __future__ import annotations

import os
import random

import pytest

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
"""What `conftest.py` calls the settings of Hypothesis that this run has."""

LONG = PROFILE != "quick"


def amount(quick: int, long: int) -> int:
    """How many examples a test tries, for those that do not leave it to Hypothesis."""
    return long if LONG else quick


def base_seed(config: pytest.Config) -> int:
    """The seed that the end of the run shows, as a number."""
    return random.Random(config.getoption("--hypothesis-seed")).randrange(2**31)
