"""Pipelines on this machine: what pipelines do on any engine, every kind of source and sink, and that nothing of Spark is there."""

from __future__ import annotations

import pytest

from support.pipelines import (
    Place,
    test_incremental_runs_equal_computation_from_scratch,
    test_the_table_of_changes_and_other_rules,
    test_what_goes_wrong_leaves_everything_as_it_was,
    test_what_is_likely_wrong_and_what_cannot_be_deleted_is_told,
    test_what_was_left_out_is_told,
)

__all__ = [
    "test_incremental_runs_equal_computation_from_scratch",
    "test_the_table_of_changes_and_other_rules",
    "test_what_goes_wrong_leaves_everything_as_it_was",
    "test_what_is_likely_wrong_and_what_cannot_be_deleted_is_told",
    "test_what_was_left_out_is_told",
]
pytestmark = pytest.mark.filterwarnings("ignore::modulog.formats.DataWarning")


@pytest.fixture
def place() -> Place:
    return Place("local")
