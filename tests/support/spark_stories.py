"""Random programs with updates on Spark, compared with the oracle."""

from __future__ import annotations

from typing import Any

from modulog import Reasoner
from support.module_programs import Story
from support.reasoners import with_switches
from support.strategies import Facts
from support.updates import as_python, truths
from support.values import rows_of_python, rows_to_python
from support.whole import all_rows


def facts_of_all(r: Reasoner) -> Facts:
    """All facts, none twice."""
    found = {p: rows_of_python(rows) for p, rows in all_rows(r).items()}
    for p, rows in found.items():
        assert len(rows) == len(set(rows)) == r.count(p), p
    return {p: set(rows) for p, rows in found.items() if rows}


def sizes(these: Facts, those: Facts) -> dict[str, int]:
    """How many facts of each predicate are in these only."""
    return {p: n for p, rows in these.items() if (n := len(rows - those.get(p, set())))}


def tell(it: Story, spark: Any, **options: Any) -> None:
    """A random program through its updates: after each, what the oracle derives, and the difference to
    before.
    """
    expected = truths(it)
    with Reasoner(it.shuffled(it.seed), spark=spark, **with_switches(options)) as r:
        for p, rows in it.case.facts.items():
            r.add(p, rows_to_python(rows))
        assert facts_of_all(r) == expected[0], it
        for update, before, after in zip(it.updates, expected, expected[1:], strict=False):
            change = r.update(add=as_python(update.add), delete=as_python(update.delete))
            assert facts_of_all(r) == after, it
            assert change.added == sizes(after, before) and change.deleted == sizes(before, after), it
