"""Rules evaluated along hypertree decompositions equal the standard evaluation and the oracle, at first and
after every update.

What is kept is checked too: the table of a node holds the matches of its atoms over its variables, and counts
each once.
"""

from __future__ import annotations

import random
from math import inf

import pytest

from modulog import Reasoner, Switches
from modulog.joins import decompose, multiway_order
from modulog.modules import tree_join
from support.amounts import amount, base_seed
from support.cyclic_programs import cyclic_story
from support.instances import counts_of, facts_of, heads
from support.module_programs import Story
from support.strategies import Facts
from support.updates import apply, held, strata_of, strike, truths
from support.values import rows_to_python

pytestmark = pytest.mark.filterwarnings("ignore")

MODES = [("off", "auto"), ("auto", "auto"), ("off", "dredc"), ("off", "dred"), ("auto", "recompute")]
PROGRAMS, CHUNKS = amount(120, 240), 4


def reasoner(
    it: Story, engine: str, modules: str, how: str, decompose: str, order: int, table_rows: int | None = None
) -> Reasoner:
    made = Reasoner(
        it.shuffled(order),
        engine=engine,
        switches=Switches(modules=modules, maintenance=how, decompose=decompose, table_rows=table_rows),
    )
    for p, rows in it.case.facts.items():
        made.add(p, rows_to_python(rows))
    made.materialise()
    return made


def check_tables(r: Reasoner) -> int:
    """Every table is the view that its node's clause says; returns how many there are."""
    number = 0
    for stratum in strata_of(r):
        for tree in stratum.live.all_trees:
            for node in tree.tables.nodes if tree.tables is not None and tree.tables.built else ():
                if node.clause.conditions:
                    continue  # comparisons need values, which these checks do not know
                expected, number = heads([node.clause]), number + 1
                assert facts_of(node.relation) == set(expected), f"{node.relation.name}\n{tree}"
                if node.counting is not None and node.counting.counters is not None:
                    assert counts_of(node.counting.counters) == expected, f"{node.relation.name}\n{tree}"
    return number


def run(it: Story, expected: list[Facts], engine: str, modules: str, how: str, order: int) -> int:
    r = reasoner(it, engine, modules, how, "all", order)
    assert held(r) == expected[0]
    assert not check_tables(r), "nothing is kept before the first update"
    tables = 0
    for update, before, after in zip(it.updates, expected, expected[1:], strict=False):
        apply(r, update, before, after)
        tables += check_tables(r)
    return tables


@pytest.mark.more
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_cyclic_programs(
    engine: str, chunk: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each program in one mode; tables keep all of χ, as little as they may, or what suits; every first pass
    is made, none, or some; cyclic nodes are joined all at once, or as it suits.
    """
    base, tables = base_seed(request.config), 0
    for n in range(chunk, PROGRAMS, CHUNKS):
        it, turn = cyclic_story(base + n), n // CHUNKS
        modules, how = MODES[turn % len(MODES)]
        monkeypatch.setattr(decompose, "FEWER", [0.0, inf, 2.0][turn % 3])
        monkeypatch.setattr(tree_join, "SMALLER", [0, 10**9, 3][turn % 3])
        monkeypatch.setattr(tree_join, "LOOKUP", [0, 10**9, 4][turn // 3 % 3])
        monkeypatch.setattr(multiway_order, "LEAP", [-(10.0**9), 0.15][turn % 2])
        try:
            tables += run(it, truths(it), engine, modules, how, base + n)
        except Exception as error:
            error.add_note(f"modules={modules} maintenance={how} turn={turn}\n{it}")
            raise
    assert tables > 10, "too few tables to show anything"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_trees_are_given_up(engine: str, chunk: int, request: pytest.FixtureRequest) -> None:
    """Tables may have few rows: rules go back to the standard plan when they have more, in any round or step
    of an update, and begin along a tree again.
    """
    base, given_up, updating, again = base_seed(request.config), 0, 0, 0
    for n in range(chunk, PROGRAMS, CHUNKS):
        it, turn = cyclic_story(base + 9000 + n), n // CHUNKS
        modules, how = MODES[turn % len(MODES)]
        expected = truths(it)
        try:
            r = reasoner(it, engine, modules, how, "all", base + n, random.Random(n).randint(1, 3))
            assert held(r) == expected[0]
            known = trees_given_up(r)
            given_up += known
            for update, before, after in zip(it.updates, expected, expected[1:], strict=False):
                apply(r, update, before, after)
                check_tables(r)
                updating, known = updating + trees_given_up(r) - known, trees_given_up(r)
            again += sum(bool(s.live.given_up and s.live.all_trees) for s in strata_of(r))
        except Exception as error:
            error.add_note(f"modules={modules} maintenance={how} turn={turn}\n{it}")
            raise
    assert given_up + updating > 2 and again, "too few trees were given up, or taken again, to show anything"


def trees_given_up(r: Reasoner) -> int:
    """How often so far a rule went back to the standard plan."""
    return sum(len(stratum.live.given_up) for stratum in strata_of(r))


@pytest.mark.more
@pytest.mark.parametrize("table_rows", [None, 2])
def test_a_failed_update_leaves_the_tables(request: pytest.FixtureRequest, table_rows: int | None) -> None:
    """Whenever an update stops, facts and tables are as before, and the same update succeeds afterwards; also
    where trees are given up in it.
    """
    from modulog.engines.local.counters import LocalCounters
    from modulog.engines.local.engine import LocalEngine
    from modulog.engines.local.relation import PlainRelation

    places = [(LocalEngine, "run"), (LocalEngine, "collect"), (PlainRelation, "derive")]
    places += [(PlainRelation, "begin"), (LocalCounters, "adjust")]
    base, struck, chance = base_seed(request.config), 0, random.Random(1)
    for n in range(amount(20, 80)):
        it = cyclic_story(base + 5000 + n, updates=3)
        expected = truths(it)
        r = reasoner(it, "local", "off", "auto", "all", n, table_rows)
        try:
            for update, before, after in zip(it.updates, expected, expected[1:], strict=False):
                if strike(r, update, places[n % len(places)], chance.choice([0, 1, 3, 6, 12, 24, 48])):
                    struck += 1
                    assert held(r) == before
                    check_tables(r)
                    apply(r, update, before, after)
                check_tables(r)
        except Exception as error:
            error.add_note(str(it))
            raise
    assert struck > 10
