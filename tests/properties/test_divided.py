"""Random programs and updates on two and three threads say what they say on one: facts, their order, statistics, changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from support.divided import NUMBERS, changed, divided, told, untimed
from support.strategies import Case, Update, cases, text, updates
from support.values import rows_to_python

pytestmark = pytest.mark.filterwarnings("ignore")

HOWS = ("auto", "dred", "dredc", "recompute")


def story(case: Case, steps: list[Update], workers: int, options: dict[str, Any]) -> list[Any]:
    """All that is said on the way through a program and its updates."""
    r = divided(text(case.rules), workers, **options)
    for predicate, rows in case.facts.items():
        r.add(predicate, rows_to_python(rows))
    said = [untimed(r.materialise()), told(r)]
    for step in steps:
        add, delete = (
            {p: rows_to_python(rows) for p, rows in f.items() if rows} for f in (step.add, step.delete)
        )
        said += [changed(r.update(add=add, delete=delete)), told(r)]
    r.close()
    return said


@pytest.mark.parametrize("modules", ["auto", "off"])
@given(data=st.data(), how=st.sampled_from(HOWS), storage=st.sampled_from(["auto", "plain", "compact"]))
def test_threads_say_the_same(modules: str, data: st.DataObject, how: str, storage: str) -> None:
    case = data.draw(cases())
    steps = data.draw(updates(case, 2))
    note(str(case))
    options = {"modules": modules, "maintenance": how, "storage": storage}
    one, *others = (story(case, steps, workers, options) for workers in NUMBERS)
    for said in others:
        assert said == one
