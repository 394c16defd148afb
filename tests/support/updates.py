"""Programs with updates: what must hold after each, how a reasoner is updated and compared, and updates that
fail.
"""

from __future__ import annotations

from typing import Any

import pytest

from modulog import Reasoner
from modulog.maintenance.maintained_stratum import MaintainedStratum
from support import oracle
from support.module_programs import Story
from support.strategies import Facts, Update
from support.values import rows_of_python, rows_to_python


def changed(facts: Facts, update: Update) -> Facts:
    """The explicit facts after an update: a fact that is both deleted and added ends up present."""
    return {
        p: (facts.get(p, set()) - update.delete.get(p, set())) | update.add.get(p, set())
        for p in {*facts, *update.add}
    }


def consequences(rules: Any, facts: Facts) -> Facts:
    """What the oracle derives."""
    return {p: rows for p, rows in oracle.materialise(rules, facts).items() if rows}


def held(r: Reasoner) -> Facts:
    """All facts of a reasoner, none twice."""
    found = {p.name: rows_of_python(r.rows(p.name)) for p in r.predicates()}
    for p, rows in found.items():
        assert len(rows) == len(set(rows)) == r.count(p), p
    return {p: set(rows) for p, rows in found.items() if rows}


def as_python(facts: Facts) -> dict[str, Any]:
    return {p: rows_to_python(rows) for p, rows in facts.items() if rows}


def apply(r: Reasoner, update: Update, before: Facts, after: Facts) -> None:
    """Update a reasoner that holds `before`: it must hold `after`, and return the difference."""
    change = r.update(add=as_python(update.add), delete=as_python(update.delete))
    assert held(r) == after
    for p in (p.name for p in r.predicates()):
        came, went = (a.get(p, set()) - b.get(p, set()) for a, b in ((after, before), (before, after)))
        assert set(rows_of_python(change.rows(p))) == came, f"{p} came"
        assert set(rows_of_python(change.rows(p, deleted=True))) == went, f"{p} went"
        assert (change.added.get(p, 0), change.deleted.get(p, 0)) == (len(came), len(went)), p


def strata_of(r: Reasoner) -> list[MaintainedStratum]:
    assert r._maintenance is not None
    return r._maintenance.strata


def truths(it: Story) -> list[Facts]:
    """What follows at first, and after each update."""
    states = [it.case.facts]
    for update in it.updates:
        states.append(changed(states[-1], update))
    return [consequences(it.case.rules, facts) for facts in states]


class Accident(Exception):
    """What goes wrong in the middle of an update."""


def strike(r: Reasoner, update: Update, where: tuple[type, str], after: int) -> bool:
    """Let an update fail at the call of a function after some calls; False if it did not come to that."""
    owner, name = where
    function, left = getattr(owner, name), [after]

    def struck(*args: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise Accident(name)
        return function(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, struck)
        try:
            r.update(add=as_python(update.add), delete=as_python(update.delete))
        except Accident:
            return True
    return False
