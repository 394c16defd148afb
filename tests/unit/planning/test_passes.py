"""The passes of the planner by pairs: a program, and what the pass makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from modulog.language.parser import parse_program
from modulog.planning.merge_equivalent import collapse
from modulog.planning.normalise import normalise
from modulog.planning.passes import Switches, make_plan
from support.steps import lines_run

HERE = Path(__file__).parent


def pairs(folder: str) -> list[object]:
    found = sorted((HERE / folder).glob("*.txt"))
    assert found
    return [pytest.param(*path.read_text().split("----\n"), id=path.stem) for path in found]


@pytest.mark.parametrize(("program", "expected"), pairs("normalise"))
def test_normalise(program: str, expected: str) -> None:
    clauses = normalise(parse_program(program).rules)
    assert "\n".join(map(str, clauses)) + "\n" == expected


@pytest.mark.parametrize(("program", "expected"), pairs("collapse"))
def test_collapse(program: str, expected: str) -> None:
    clauses, links = collapse(normalise(parse_program(program).rules))
    lines = [*(f"view {p} = {link}" for p, link in sorted(links.items())), *map(str, clauses)]
    assert "\n".join(lines) + "\n" == expected


@pytest.mark.parametrize(("program", "expected"), pairs("strata"))
def test_strata_and_modules(program: str, expected: str) -> None:
    assert f"{make_plan(parse_program(program))}\n" == expected


def test_nothing_collapses_with_modules_off() -> None:
    program = parse_program("a(?x) :- b(?x) . b(?x) :- a(?x) .")
    assert make_plan(program).links
    plan = make_plan(program, Switches(modules="off"))
    assert not plan.links
    assert [str(c) for c in plan.clauses] == ["a(?x) :- b(?x) .", "b(?x) :- a(?x) ."]


def test_strata_do_not_depend_on_the_order_of_rules() -> None:
    import random

    rules = [
        f"p{i}(?x) :- p{j}(?x), e(?x) ." for i, j in [(1, 0), (2, 1), (1, 2), (3, 2), (4, 3), (3, 4), (5, 0)]
    ]
    plans = set()
    for seed in range(10):
        random.Random(seed).shuffle(rules)
        strata = make_plan(parse_program(" ".join(rules))).strata
        plans.add(tuple(s.predicates for s in strata))
        before: set[object] = set()
        for stratum in strata:
            own = set(stratum.predicates)
            needs = {a.predicate for c in (*stratum.entry, *stratum.recursive) for a in c.atoms} - own
            assert {p for p in needs if p.name not in ("e", "p0")} <= before
            before |= own
    assert len({frozenset(plan) for plan in plans}) == 1


def test_the_work_of_planning_grows_as_the_number_of_rules() -> None:
    def work(rules: int) -> int:
        program = parse_program(" ".join(f"p(?x) :- p(?y), e{i}(?y, ?x) ." for i in range(rules)))
        return lines_run(lambda: make_plan(program))

    assert work(800) < 2.2 * work(400)
