"""Updates equal a computation from scratch, after every one of a sequence, on random programs and with every
switch.

What maintenance remembers is checked too: the closure of X_R is R and each of its facts has a derivation
outside its module (where the module is alone in its stratum, X_R is exactly what has one), the components of
C_R are those of R, counters are what counting every instance gives.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st

from modulog import Reasoner, Switches
from modulog.engines.local.closure_relation import ClosureRelation
from modulog.engines.local.counters import LocalCounters
from modulog.engines.local.engine import LocalEngine
from modulog.engines.local.relation import PlainRelation
from modulog.maintenance import maintained_stratum, support
from modulog.maintenance.maintained_stratum import MaintainedStratum
from modulog.maintenance.stratum_kinds import ClosureStratum
from modulog.modules.clause import prepare
from modulog.modules.exact_closure import ExactClosure
from modulog.modules.hypertree_module import HypertreeModule
from modulog.modules.seminaive import SeminaiveModule
from modulog.modules.symmetric_transitive import SymmetricModule
from modulog.modules.transitive import TransitiveModule
from support.amounts import amount, base_seed
from support.instances import closed, counts_of, facts_of, heads, transitive
from support.module_programs import Story, story
from support.strategies import Case, Facts, cases, text, updates
from support.updates import apply, changed, consequences, held, strata_of, strike, truths
from support.values import rows_to_python

pytestmark = pytest.mark.filterwarnings("ignore")

HOWS = ("auto", "dred", "dredc", "recompute")
MODES = [(modules, how) for how in HOWS for modules in ("auto", "off")]
PROGRAMS, CHUNKS = amount(128, 520), 8  # random programs with modules, and the tests that share them


def check_memory(r: Reasoner) -> None:
    """What maintenance keeps beside the facts is what it should be."""
    for stratum in strata_of(r):
        if isinstance(stratum, ClosureStratum):
            check_exact(stratum)
        for module in stratum.modules:
            if not getattr(module, "relation", stratum.live.relations[0]).listed:
                continue
            if isinstance(module, TransitiveModule):
                check_external(module, stratum)
            elif isinstance(module, SymmetricModule):
                check_components(module)
        for counting in stratum._counters():
            if counting.counters is not None:
                expected = heads(counting.clauses)
                assert counts_of(counting.counters) == expected, f"counters of {counting.relation.name}"


def check_external(module: TransitiveModule, stratum: MaintainedStratum) -> None:
    """closure(X_R) = R, and every fact of X_R has a derivation outside its module."""
    external = facts_of(module.external)
    assert transitive(external) == facts_of(module.relation), f"closure of X for {module.relation.name}"
    kinds = SeminaiveModule | HypertreeModule
    others = [c for m in stratum.modules if isinstance(m, kinds) for c in m.prepared]
    outside = heads(c for c in (*stratum.live.entry, *others) if c.relation is module.relation)
    assert external <= set(outside), f"X of {module.relation.name} has facts that nothing else derives"


def check_exact(stratum: ClosureStratum) -> None:
    """X_R is what has a derivation outside the module, and R the least set with X_R that the module's clauses
    are closed under.
    """
    closure = stratum.closure
    assert isinstance(closure, ExactClosure)
    external, name = facts_of(closure.external), closure.relation.name
    outside = heads(c for c in stratum.live.entry if c.relation is closure.external)
    assert external == set(outside), f"X of {name}"
    recursive = [prepare(c, closure.context, stratum.live.predicates) for c in stratum.live.plan.recursive]
    assert closed(external, closure.relation, recursive) == facts_of(closure.relation), (
        f"closure of X for {name}"
    )


def check_components(module: SymmetricModule) -> None:
    """C_R is a partition, and R holds exactly between members of one component."""
    members = facts_of(module.members)
    assert len({x for x, _ in members}) == len(members)
    together = {(x, y) for x, c in members for y, d in members if c == d}
    assert together == facts_of(module.relation), f"components of {module.relation.name}"


def run_story(
    it: Story, expected: list[Facts], modules: str, how: str, order: int, engine: str, **switches: str
) -> None:
    """A program with its updates in one mode, the rules in some order."""
    r = Reasoner(
        it.shuffled(order), engine=engine, switches=Switches(modules=modules, maintenance=how, **switches)
    )
    for p, rows in it.case.facts.items():
        r.add(p, rows_to_python(rows))
    r.materialise()
    assert held(r) == expected[0]
    for update, before, after in zip(it.updates, expected, expected[1:], strict=False):
        apply(r, update, before, after)
        check_memory(r)


@pytest.mark.more
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_programs_with_modules(
    engine: str, chunk: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each program as it is by default, in another mode with modules and in one without, which take turns,
    its rules in another order each time.

    Every other program counts every clause that can be counted. By default few facts are never computed from
    scratch: here they are in one program of three, and where the estimates say so in another.
    """
    base = base_seed(request.config)
    for n in range(chunk, PROGRAMS, CHUNKS):
        monkeypatch.setattr(support, "TRIES", -1 if n // CHUNKS % 2 else 32)
        monkeypatch.setattr(support, "REPEATED", 10**9)
        monkeypatch.setattr(maintained_stratum, "FEW", (0, 1000, -(10**9))[n // (2 * CHUNKS) % 3])
        it = story(base + n)
        expected = truths(it)
        modes = [("auto", "auto"), ("auto", HOWS[1 + n % 3]), ("off", HOWS[n % 4])]
        for order, (modules, how) in enumerate(modes, 3 * (base + n)):
            try:
                run_story(it, expected, modules, how, order, engine)
            except Exception as error:
                error.add_note(f"modules={modules} maintenance={how} order={order} seed={it.seed}\n{it}")
                raise


@pytest.mark.more
@pytest.mark.parametrize("chunk", range(4))
def test_programs_with_compact_storage(chunk: int, request: pytest.FixtureRequest) -> None:
    """Closures, components and views are represented wherever they can be, whatever maintains the rest; every
    other program is decomposed, too.
    """
    base = base_seed(request.config) + 5_000
    for n in range(chunk, amount(48, 120), 4):
        it = story(base + n)
        expected, decompose = truths(it), ("auto", "all")[n // 4 % 2]
        for how in {"auto", ("dred", "dredc", "recompute")[n % 3]}:
            try:
                order = base + 2 * n
                run_story(it, expected, "auto", how, order, "local", storage="compact", decompose=decompose)
            except Exception as error:
                error.add_note(f"maintenance={how} decompose={decompose} seed={it.seed}\n{it}")
                raise


@settings(phases=[Phase.explicit, Phase.generate])
@given(data=st.data())
def test_programs_of_all_sorts(engine: str, data: st.DataObject) -> None:
    """Free rules with constants, comparisons, several heads, arities up to four, predicates that collapse."""
    modules, how = data.draw(st.sampled_from(MODES))
    storage = data.draw(st.sampled_from(["auto", "compact"])) if engine == "local" else "plain"
    decompose = data.draw(st.sampled_from(["auto", "all"])) if engine == "local" else "auto"
    case: Case = data.draw(cases())
    sequence = data.draw(updates(case, most=6))
    note(f"modules={modules} maintenance={how} storage={storage} decompose={decompose}\n{case}\n{sequence}")
    r = Reasoner(
        text(case.rules),
        engine=engine,
        switches=Switches(modules=modules, maintenance=how, storage=storage, decompose=decompose),
    )
    for p, rows in case.facts.items():
        r.add(p, rows_to_python(rows))
    r.materialise()
    facts = case.facts
    before = consequences(case.rules, facts)
    assert held(r) == before
    for update in sequence:
        facts = changed(facts, update)
        after = consequences(case.rules, facts)
        apply(r, update, before, after)
        before = after


# ---- Updates that fail


def memory_of(r: Reasoner) -> list[Any]:
    """Everything that maintenance keeps, to be compared."""
    relations = [relation for stratum in strata_of(r) for relation in stratum.live.kept]
    return [facts_of(relation) for relation in relations]


ACCIDENTS: list[tuple[type, str]] = [
    (LocalEngine, "run"),
    (LocalEngine, "collect"),
    (PlainRelation, "derive"),
    (PlainRelation, "merge"),
    (PlainRelation, "begin"),
    (ClosureRelation, "derive"),
    (ClosureRelation, "merge"),
    (LocalCounters, "adjust"),
    (MaintainedStratum, "update"),
]


@pytest.mark.more
@pytest.mark.parametrize("where", ACCIDENTS, ids=lambda w: f"{w[0].__name__}.{w[1]}")
def test_a_failed_update_changes_nothing(
    where: tuple[type, str], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All facts and everything kept beside them are as before, and the same update succeeds afterwards."""
    monkeypatch.setattr(support, "TRIES", -1)
    struck = 0
    for n in range(amount(16, 32)):
        it = story(base_seed(request.config) + 10_000 + n, updates=4)
        modules, how = MODES[n % len(MODES)]
        chance, expected = random.Random(n), truths(it)
        try:
            storage = "compact" if n % 3 or where[0] is ClosureRelation else "plain"
            r = Reasoner(
                it.shuffled(n),
                engine="local",
                switches=Switches(modules=modules, maintenance=how, storage=storage),
            )
            for p, rows in it.case.facts.items():
                r.add(p, rows_to_python(rows))
            r.materialise()
            for update, before, after in zip(it.updates, expected, expected[1:], strict=False):
                kept = memory_of(r)
                if strike(r, update, where, chance.choice([0, 1, 3, 6, 12, 24])):
                    struck += 1
                    assert held(r) == before
                    assert memory_of(r) == kept
                    check_memory(r)
                    apply(r, update, before, after)
                else:
                    assert held(r) == after
                check_memory(r)
        except Exception as error:
            error.add_note(f"modules={modules} maintenance={how}\n{it}")
            raise
    assert struck > 5, "the accident happened too seldom to show anything"
