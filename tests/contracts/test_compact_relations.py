"""Relations that represent their facts show in every version what a list would, after any sequence of
additions, deletions and reads.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from modulog.algebra.expressions import AntiJoin, Join, Project, Read, Rows, SemiJoin
from modulog.engines.schemes import Kind, Listing, Scheme
from modulog.errors import InternalError
from support.closure_model import KINDS, ClosureModel, closed, versions_of
from support.engine_limits import patched
from support.implementations import Numbers, engine_by_name
from support.relation_model import VERSIONS, Fact
from support.relation_pair import UPDATES, Pair, rows_of, update

LIMITS = {
    "modulog.engines.local.closure_body.FEW_PAIRS": 20,
    "modulog.engines.local.closure_relation.GROWN_PAIRS": 4,
    "modulog.engines.local.closure_relation.PIECE": 16,
    "modulog.closures.linear_closure.PIECE": 16,
    "modulog.engines.local.readers.PIECE": 16,
    "modulog.engines.local.layer_lookup.PIECE": 16,
    "modulog.closures.pair_sets.FEW": 2,
    "modulog.closures.unions.MANY": 0,
    "modulog.closures.closure_difference.MANY_ASKED": 2,
    "modulog.closures.reachable_sets.MANY_ASKED": 2,
}


ENGINE = engine_by_name("local", Numbers.TERMS)


def table(rows: Any, arity: int = 2) -> Any:
    ids = np.array(rows, np.int32).reshape(len(rows), arity).T
    return ENGINE.table(tuple(f"c{j}" for j in range(arity)), np.ascontiguousarray(ids))


# ---- Shapes of graphs


def chains(chance: random.Random) -> list[Fact]:
    ids = chance.sample(range(40), 12)
    return list(itertools.pairwise(ids))


def cycles(chance: random.Random) -> list[Fact]:
    found: list[Fact] = []
    for _ in range(3):
        ids = chance.sample(range(12), chance.randint(1, 4))
        found += zip(ids, [*ids[1:], ids[0]], strict=True)
    return found


def core(chance: random.Random) -> list[Fact]:
    return [(x, y) for x in range(5) for y in range(5) if chance.random() < 0.6] + [(7, 0), (4, 8)]


def loops(chance: random.Random) -> list[Fact]:
    return [(x, x) for x in chance.sample(range(8), 3)] + [(chance.randrange(8), chance.randrange(8))]


def sparse(chance: random.Random) -> list[Fact]:
    return [(chance.randrange(30), chance.randrange(30)) for _ in range(15)]


SHAPES = [chains, cycles, core, loops, sparse]


class ClosurePair(Pair):
    """A relation that closes, and its model."""

    def __init__(
        self, kind: Kind, seed: int, relation: Any = None, make: Any = table, listing: Listing = "never"
    ) -> None:
        made = relation or ENGINE.relation("r", 2, Scheme(kind, listing))
        super().__init__(made, make, list(range(40)), seed)
        self.model: Any = ClosureModel(kind)
        self.kind = kind

    def some_edges(self) -> list[Fact]:
        return self.random.choice(SHAPES)(self.random)

    def hand_in(self, seeds: list[Fact], edges: list[Fact]) -> None:
        relation: Any = self.relation
        relation.schedule(self.table(seeds, 2), 1)
        if self.kind.endswith("linear"):
            relation.lead(self.table(edges, 2))
        self.model.schedule(seeds, edges)

    def step(self, name: str) -> None:
        model, relation = self.model, self.relation
        linear = self.kind.endswith("linear")
        match name:
            case "add":
                seeds = self.some_edges()
                self.hand_in(seeds[:3] if linear else seeds, self.some_edges() if linear else [])
                self.round(False)
            case "delete" if model.updating:
                self.hand_in(self.part_of(model.seeds), self.part_of(model.edges) if linear else [])
                self.round(True)
            case "merge":
                relation.merge()
                model.merge()
            case "begin" if not model.updating:
                self.step("merge")
                relation.begin()
                model.begin()
            case "commit" | "rollback" if model.updating:
                self.step("merge")
                getattr(relation, name)()
                getattr(model, name)()
            case "rest":
                relation.rest()

    def round(self, leaving: bool) -> None:
        self.step("merge")
        expected = self.model.derive(leaving)
        assert self.relation.derive(leaving) == expected

    def part_of(self, facts: set[Fact]) -> list[Fact]:
        there = sorted(facts)
        some = self.random.sample(there, min(len(there), self.random.choice([1, 2, 5, 40])))
        return [*some, (38, 39)]


STEPS = st.lists(
    st.sampled_from(
        ["add", "add", "delete", "delete", "merge", "begin", "begin", "commit", "rollback", "rest"]
    ),
    max_size=14,
)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, phases=[Phase.explicit, Phase.generate])
@given(
    seed=st.integers(0, 2**32),
    steps=STEPS,
    tiny=st.booleans(),
    listing=st.sampled_from(["never", "auto", "always"]),
)
def test_closures(kind: Kind, seed: int, steps: list[str], tiny: bool, listing: Listing) -> None:
    """Represented, listed, or listed until the pairs have become too many."""
    p = ClosurePair(kind, seed, listing=listing)
    with patched(LIMITS, tiny):
        for step in ["add", "merge", "begin", *steps]:
            p.step(step)
            p.check(VERSIONS if p.random.random() < 0.6 else tuple(p.random.sample(VERSIONS, 2)))


@pytest.mark.parametrize("listing", ["never", "always"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_closure_refuses(kind: Kind, listing: Listing) -> None:
    p = ClosurePair(kind, 1, listing=listing)
    with pytest.raises(InternalError, match="inside an update"):
        p.relation.derive(leaving=True)
    p.relation.schedule(table([(1, 2)]), 1)
    p.relation.derive()
    with pytest.raises(InternalError, match="merged"):
        p.relation.derive()
    p.relation.merge()
    p.relation.begin()
    with pytest.raises(InternalError, match="under way"):
        p.relation.begin()
    with pytest.raises(InternalError, match="follows from its external facts"):
        p.relation.spare(table([(1, 2)]))


# ---- Views


class ViewPair(Pair):
    """A view of a closure, its inverse, components and a list, and sets that say what it must show."""

    def __init__(self, seed: int, parts: list[tuple[int, bool]]) -> None:
        relation: Any = ENGINE.relation("v", 2, Scheme("view"))
        super().__init__(relation, table, list(range(40)), seed)
        self.closure, self.same = ClosurePair("closure", seed), ClosurePair("components", seed + 1)
        self.own = Pair(ENGINE.relation("own", 2), table, list(range(12)), seed)
        sources = [self.closure, self.same, self.own]
        below: Any = ENGINE.relation("w", 2, Scheme("view"))
        below.over([(self.closure.relation, True), (self.own.relation, False)])
        below.look()
        turned: Any = [*((s.relation) for s in sources), below]
        relation.over([(turned[j], turns) for j, turns in parts])
        relation.look()
        self.shown = parts
        self.model: Any = self

    def version(self, name: str) -> set[Fact]:
        before, after = (self.union(version) for version in ("before", "after"))
        return versions_of(before, after, set(), False)[name]

    def union(self, version: str) -> set[Fact]:
        inverse = {(y, x) for x, y in self.closure.model.version(version)}
        sets = [s.model.version(version) for s in (self.closure, self.same, self.own)]
        sets.append(inverse | sets[2])
        return {(y, x) if turns else (x, y) for j, turns in self.shown for x, y in sets[j]}

    def begin(self) -> None:
        self.closure.step("begin")
        self.same.step("begin")
        self.own.begin()
        self.relation.begin()

    def change(self) -> None:
        for closure in (self.closure, self.same):
            for step in self.random.choices(["add", "delete"], k=self.random.randint(0, 2)):
                closure.step(step)
            closure.step("merge")
        self.own.retract(self.own.some_of("after"))
        self.own.schedule(self.own.facts())
        self.own.derive()
        self.own.merge()

    def finish(self, name: str) -> None:
        self.closure.step(name)
        self.same.step(name)
        self.own.end(name)
        getattr(self.relation, name)()

    def check_estimate(self, version: Any, expected: set[Fact]) -> None:
        """A view may guess too many."""
        estimate = self.relation.estimate(version)
        assert estimate.rows >= len(expected)
        assert self.relation.has(version) == bool(expected)


PARTS = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=4)


@settings(max_examples=12, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**32), parts=PARTS, tiny=st.booleans())
def test_views(seed: int, parts: list[tuple[int, bool]], tiny: bool) -> None:
    p = ViewPair(seed, parts)
    with patched(LIMITS, tiny):
        p.check()
        for _ in range(4):
            p.begin()
            p.change()
            p.check()
            p.finish(p.random.choice(["commit", "commit", "rollback"]))
            p.check_version("all")


def test_a_view_stores_nothing() -> None:
    view: Any = ENGINE.relation("v", 2, Scheme("view"))
    view.look()
    assert view.derive() == view.memory().bytes == 0
    with pytest.raises(InternalError, match="stores nothing"):
        view.schedule(table([(1, 2)]), 0)


# ---- Reading in joins


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**32), tiny=st.booleans())
def test_joins_with_a_closure(kind: str, seed: int, tiny: bool) -> None:
    """Any arguments on the right of a join, a semi-join or an anti-join: as for a list."""
    p = ClosurePair(kind, seed)
    p.step("add")
    p.step("merge")
    facts = sorted(p.model.now())
    plain = ENGINE.relation("l", 2)
    plain.schedule(table(facts), 0)
    plain.derive()
    plain.merge()
    left = Rows(table([(p.random.randrange(12), p.random.randrange(12)) for _ in range(30)]), ("a", "b"))
    with patched(LIMITS, tiny):
        for _ in range(6):
            args = tuple(p.random.choice(["a", "b", "x", "y", "x", 3, None]) for _ in range(2))
            names = tuple(dict.fromkeys(["a", "b", *(a for a in args if isinstance(a, str))]))
            kept = tuple(p.random.sample(names, p.random.randint(1, len(names))))
            for make in (Join, SemiJoin, AntiJoin):
                wanted = kept if make is Join else tuple(n for n in kept if n in ("a", "b")) or ("a",)
                how = p.random.choice(["set", "sum"]) if make is Join else "sum"
                expected, found = (
                    ENGINE.collect(Project(make(left, Read(r, args), wanted), wanted, how))
                    for r in (plain, p.relation)
                )
                assert rows_of(found) == rows_of(expected), (make, args, wanted)
                weights = [getattr(t, "weights", None) for t in (expected, found)]
                if how == "sum" and len(expected):
                    assert _tallies(found, weights[1]) == _tallies(expected, weights[0])
            joined = Join(left, Read(p.relation, args), names)
            assert ENGINE.count(joined) == ENGINE.count(Join(left, Read(plain, args), names)), args


def _tallies(found: Any, weights: Any) -> dict[Fact, int]:
    return {tuple(row): int(w) for row, w in zip(found.ids.T.tolist(), weights, strict=True)}


def test_one_column_is_read_without_the_pairs() -> None:
    """A chain of 100,000 nodes has five billion pairs: its domain is read, counted and joined at once."""
    n = 100_000
    relation: Any = ENGINE.relation("r", 2, Scheme("closure"))
    ids = np.stack([np.arange(n - 1), np.arange(1, n)]).astype(np.int32)
    relation.schedule(ENGINE.table(("c0", "c1"), ids), 0)
    assert relation.derive() == n * (n - 1) // 2
    relation.merge()
    assert ENGINE.count(Project(Read(relation, ("x", None)), ("x",), "set")) == n - 1
    domain: Any = ENGINE.relation("d", 1)
    domain.schedule(table([(5,), (7,), (n + 3,)], 1), 0)
    domain.derive()
    domain.merge()
    assert ENGINE.count(Join(Read(domain, ("x",)), Read(relation, ("x", "y")), ("x", "y"))) == 2 * n - 14
    assert ENGINE.count(Read(relation, (5, "y"))) == n - 6
    assert ENGINE.count(Read(relation, ("x", 5))) == 5
    view: Any = ENGINE.relation("v", 2, Scheme("view"))
    view.over([(relation, False), (relation, True)])
    view.look()
    assert view.size("all") == n * (n - 1)
    assert ENGINE.count(Project(Read(view, ("x", None)), ("x",))) == n
    first = next(iter(ENGINE.evaluate(Read(view, ("x", "y")), 10)))
    assert len(first) == 10


def test_closed_by_hand() -> None:
    """The model itself, on an example."""
    assert closed("components", {(1, 2)}, set()) == {(1, 1), (1, 2), (2, 1), (2, 2)}
    assert closed("left-linear", {(1, 2)}, {(2, 3)}) == {(2, 1), (3, 1)}


@pytest.mark.parametrize(
    "scheme",
    [
        Scheme("closure", "auto", shared=True),
        Scheme("components", "auto", shared=True),
        Scheme("view", "auto"),
    ],
    ids=str,
)
@settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**32), steps=UPDATES)
def test_until_it_decides_a_relation_lists_its_facts(scheme: Scheme, seed: int, steps: list[str]) -> None:
    """All that the contract of a plain relation asks for."""
    relation: Any = ENGINE.relation("r", 2, scheme)
    relation._undecided = False  # of a shared closure: nothing asks it to decide here
    p = Pair(relation, table, list(range(12)), seed)
    p.schedule(p.facts(30))
    update(p, ["round", "begin", "retract", "again", "round", *steps])
