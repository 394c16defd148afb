"""Every engine evaluates expressions as their definitions say, whatever the sizes at which it changes its ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from modulog.algebra import expressions as p
from modulog.engines.engine import Engine, Work
from support.engine_model import Bag, Both, Builder, Row
from support.engine_updates import fill, updated
from support.relation_reads import scan

TINY = {
    "modulog.engines.local.layer_lookup.PIECE": 16,
    "modulog.engines.local.relation.UNSORTED_LIMIT": 4,
    "modulog.engines.local.relation.FREE_FACTS": 8,
    "modulog.engines.local.fused.PAIRS": 5,
    "modulog.engines.local.fused.BLOCK": 3,
    "modulog.engines.local.batches.SET_LIMIT": 4,
    "modulog.kernels.sort.SMALL": 4,
    "modulog.kernels.sort.PIECE": 8,
}
WITHOUT_BITMAPS = {
    "modulog.engines.local.relation.LARGEST": 0,
    "modulog.engines.local.batches.LARGEST": 0,
}
SETTINGS = {
    "usual": {},
    "tiny": TINY,
    "tiny, no bitmaps": TINY | WITHOUT_BITMAPS,
    "no bitmaps": WITHOUT_BITMAPS,
}
IDS = list(range(5))
SEEDS = st.integers(0, 2**32)


@contextmanager
def patched(values: dict[str, int]) -> Iterator[None]:
    patches = [patch(name, value) for name, value in values.items()]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


@pytest.fixture(scope="module", params=SETTINGS.values(), ids=SETTINGS)
def limits(request: pytest.FixtureRequest) -> Iterator[None]:
    with patched(request.param):
        yield


def bag_of(tables: Any, variables: tuple[str, ...]) -> Bag:
    """The rows of tables with their multiplicities."""
    found: Bag = Counter()
    for table in tables:
        assert set(table.columns) == set(variables)
        for batch in table.batches():
            arrays = [batch.column(v).to_pylist() for v in variables]
            rows = list(zip(*arrays, strict=True)) if arrays else [()] * batch.num_rows
            weights = batch.column("#").to_pylist() if "#" in batch.schema.names else [1] * len(rows)
            for row, weight in zip(rows, weights, strict=True):
                found[row] += weight
    return +found


def builder(make_engine: Any, seed: int, ids: list[int] = IDS) -> Builder:
    engine = make_engine(terms=max(ids) + 1)
    build = Builder(engine, [], seed, ids)
    for arity in (0, 1, 2, 2, 3, 4, 5):
        number = build.random.choice([0, 1, 5, 30])
        facts = {tuple(build.random.choices(ids, k=arity)) for _ in range(number)}
        make = build.random.choice([fill, fill, updated])
        build.relations.append((make(engine, arity, facts, build.random.randint(1, 4)), facts))
    return build


class OneSided(Builder):
    """As the local engine can do it: multiplicities come from the left."""

    def plain(self, depth: int) -> Both:
        found = self.any(depth)
        while sums(found.expr):
            found = self.any(depth)
        return found


def sums(expr: Any) -> bool:
    """Whether rows of the expression carry multiplicities."""
    if isinstance(expr, p.Project) and expr.how != "keep":
        return expr.how == "sum"
    if isinstance(expr, p.Union):
        return any(map(sums, expr.parts))
    return any(sums(part) for name in ("left", "child") if (part := getattr(expr, name, None)) is not None)


# ---- Expressions


@pytest.mark.usefixtures("limits")
@given(seed=SEEDS, depth=st.integers(0, 4), wide=st.booleans())
def test_expressions(make_engine: Any, seed: int, depth: int, wide: bool) -> None:
    ids = [0, 3, 4, 70, 800] if wide else IDS
    plain = builder(make_engine, seed, ids)
    build = OneSided(plain.engine, plain.relations, seed, ids)
    both = build.any(depth)
    note(repr(both.expr))
    assert bag_of(build.engine.evaluate(both.expr), both.variables) == both.bag
    again = bag_of(build.engine.evaluate(both.expr), both.variables)
    assert again == both.bag, "evaluated twice"


@given(seed=SEEDS, depth=st.integers(0, 3), limit=st.integers(0, 9))
def test_a_limit(make_engine: Any, seed: int, depth: int, limit: int) -> None:
    build = builder(make_engine, seed)
    both = OneSided(build.engine, build.relations, seed, IDS).any(depth)
    total = sum(len(t) for t in build.engine.evaluate(both.expr))
    tables = list(build.engine.evaluate(both.expr, limit))
    assert sum(map(len, tables)) == min(limit, total)
    assert set(bag_of(tables, both.variables)) <= set(both.bag)


@given(seed=SEEDS, depth=st.integers(0, 3))
def test_count_is_the_number_of_rows(make_engine: Any, seed: int, depth: int) -> None:
    build = builder(make_engine, seed)
    both = OneSided(build.engine, build.relations, seed, IDS).any(depth)
    assert build.engine.count(both.expr) == sum(len(t) for t in build.engine.evaluate(both.expr))


def test_multiplicities_of_both_sides_multiply(make_engine: Any) -> None:
    engine = make_engine(terms=10)
    edge = fill(engine, 2, [(1, 1), (1, 2), (2, 1)])
    some = p.Project(p.Read(edge, ("x", None)), ("x",), "sum")
    other = p.Project(p.Read(edge, ("x", "y")), ("x",), "sum")
    found = bag_of(engine.evaluate(p.Join(some, other, ("x",))), ("x",))
    assert found == Counter({(1,): 4, (2,): 1})


def test_a_filter_does_not_mind_multiplicities(make_engine: Any) -> None:
    engine = make_engine(terms=10)
    edge = fill(engine, 2, [(1, 1), (1, 2), (2, 3)])
    right = p.Project(p.Read(edge, ("y", None)), ("y",), "sum")
    left = p.Read(edge, ("x", "y"))
    assert bag_of(engine.evaluate(p.SemiJoin(left, right, ("x", "y"))), ("x", "y")) == Counter(
        [(1, 1), (1, 2)]
    )
    assert bag_of(engine.evaluate(p.AntiJoin(left, right, ("x", "y"))), ("x", "y")) == Counter([(2, 3)])


def test_a_constant_in_a_projection(make_engine: Any) -> None:
    engine = make_engine(terms=10)
    edge = fill(engine, 2, [(1, 1), (1, 2), (2, 1)])
    for how in ("set", "sum", "keep"):
        (table, *rest) = engine.evaluate(p.Project(p.Read(edge, ("x", "y")), (7, "x"), how))
        assert not rest
        (batch,) = table.batches()
        assert set(zip(*(c.to_pylist() for c in batch.columns[:2]), strict=True)) == {(7, 1), (7, 2)}


def test_incomparable_values_are_counted(make_engine: Any) -> None:
    engine = make_engine(terms=1000)
    edge = fill(engine, 2, [(1, 2), (2, 1), (950, 1), (1, 950), (951, 950)])
    expr = p.Where(p.Read(edge, ("x", "y")), p.Condition("<", "x", "y"), ("x", "y"))
    assert bag_of(engine.evaluate(expr), ("x", "y")) == Counter({(1, 2): 1})
    assert engine.failures.incomparable == 3


def test_a_relation_joined_with_itself_while_it_is_scanned(make_engine: Any) -> None:
    """A look-up may sort a relation and put its parts together; a scan that is under way must not notice."""
    engine = make_engine(terms=2000)
    source, relation = engine.relation("s", 2), engine.relation("r", 2)
    facts: set[Row] = set()
    for part in range(4):
        rows = [(i, (i * 7 + part) % 50) for i in range(50 - 10 * part)]
        facts |= set(rows)
        ids = np.ascontiguousarray(np.array(rows, np.int32).T)
        source.schedule(engine.table(("a", "b"), ids), 1)
        source.derive()
        engine.run([Work(relation, p.Project(p.Read(source, ("x", "y"), "delta"), ("x", "y"), "keep"), 1)])
        source.merge()
        relation.merge()
        relation.derive()
    relation.merge()
    expected = Counter((x, z) for x, y in facts for v, z in facts if v == y)
    expr = p.Join(p.Read(relation, ("x", "y"), "old"), p.Read(relation, ("y", "z"), "old"), ("x", "z"))
    assert bag_of(engine.evaluate(expr), ("x", "z")) == expected


# ---- Rounds


@pytest.mark.usefixtures("limits")
@given(seed=SEEDS, depth=st.integers(0, 3), rounds=st.integers(1, 4))
def test_a_round_schedules_what_is_new(make_engine: Any, seed: int, depth: int, rounds: int) -> None:
    plain = builder(make_engine, seed)
    build = OneSided(plain.engine, plain.relations, seed, IDS)
    arity = build.random.randint(0, 4)
    relation, facts = build.engine.relation("head", arity), set[Row]()
    for _ in range(rounds):
        new: set[Row] = set()
        work = []
        for source in range(build.random.randint(1, 3)):
            both = build.any(depth)
            choices = [*both.variables, *both.variables, build.random.choice(IDS)]
            args = tuple(build.random.choices(choices, k=arity))
            places = {v: j for j, v in enumerate(both.variables)}
            new |= {tuple(row[places[a]] if isinstance(a, str) else a for a in args) for row in both.bag}
            work.append(Work(relation, p.Project(both.expr, args, "keep"), source))
        build.engine.run(work)
        assert relation.derive() == len(new - facts)
        names = tuple(f"x{j}" for j in range(arity))
        assert bag_of(scan(relation, names, "delta"), names) == Counter(new - facts)
        relation.merge()
        facts |= new
        assert bag_of(scan(relation, names, "all"), names) == Counter(facts)
        if build.random.random() < 0.3:
            relation.rest()
    assert relation.size("all") == len(facts)


def closure(edges: set[Row]) -> set[Row]:
    found = set(edges)
    while True:
        more = {(x, z) for x, y in found for v, z in edges if v == y} | found
        if more == found:
            return found
        found = more


@pytest.mark.usefixtures("limits")
@given(edges=st.sets(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=30), linear=st.booleans())
def test_a_closure_by_rounds(make_engine: Any, edges: set[Row], linear: bool) -> None:
    """Every rule instance is considered once, and nothing is missed."""
    engine = make_engine(terms=13)
    edge, path = fill(engine, 2, edges), engine.relation("path", 2)
    edge.merge()
    step = p.Read(edge if linear else path, ("y", "z"), "old" if linear else "all")
    rules = [p.Join(p.Read(path, ("x", "y"), "delta"), step, ("x", "z"))]
    if not linear:
        rules.append(p.Join(p.Read(path, ("x", "y"), "old"), p.Read(path, ("y", "z"), "delta"), ("x", "z")))
    heads = [p.Project(rule, ("x", "z"), "keep") for rule in rules]
    engine.run([Work(path, p.Project(p.Read(edge, ("x", "y"), "old"), ("x", "y"), "keep"), 0)])
    while path.derive():
        engine.run([Work(path, head, 1) for head in heads])
        path.merge()
    assert bag_of(scan(path, ("x", "y"), "all"), ("x", "y")) == Counter(closure(edges))


# ---- Many rows


def many(seed: int, rows: int, ids: int, arity: int) -> Any:
    generator = np.random.default_rng(seed)
    return np.ascontiguousarray(generator.integers(0, ids, (arity, rows), np.int32))


def loaded(engine: Engine, ids: Any, name: str = "r") -> Any:
    relation = engine.relation(name, len(ids))
    relation.schedule(engine.table(tuple(f"c{j}" for j in range(len(ids))), ids), 0)
    relation.derive()
    relation.merge()
    return relation


def unique_rows(ids: Any) -> Any:
    return np.unique(ids, axis=1)


def numpy_rows(tables: Any, variables: tuple[str, ...]) -> Any:
    parts = [
        np.stack([batch.column(v).to_numpy() for v in variables])
        for table in tables
        for batch in table.batches()
    ]
    found = np.concatenate(parts, axis=1)
    return found[:, np.lexsort(found[::-1])]


@pytest.mark.parametrize(("arity", "ids"), [(1, 2**30), (2, 3_000), (2, 2**28), (3, 200), (5, 20)])
def test_many_facts(make_engine: Any, arity: int, ids: int) -> None:
    engine = make_engine(terms=ids)
    columns = many(1, 400_000, ids, arity)
    relation, expected = loaded(engine, columns), unique_rows(columns)
    names = tuple("abcde"[:arity])
    assert relation.size("all") == expected.shape[1]
    assert (numpy_rows(scan(relation, names, "all"), names) == expected).all()
    probe = many(2, 1000, ids, arity)
    probe[:, ::2] = columns[:, :500]
    present = {tuple(fact) for fact in expected.T.tolist()}
    found = relation.contains(engine.table(names, probe), "all")
    assert len(found) == sum(tuple(row) in present for row in probe.T.tolist())


@pytest.mark.parametrize("ids", [700, 1_000_000])
def test_a_large_join(make_engine: Any, ids: int) -> None:
    """As many rows as a hash join in Python finds, once each, small domains by bitmap and large ones by sorting."""
    engine = make_engine(terms=ids)
    left, right = unique_rows(many(1, 350_000, ids, 2)), unique_rows(many(2, 800, ids, 2))
    a, b = loaded(engine, left), loaded(engine, right)
    follow: dict[int, list[int]] = {}
    for y, z in right.T.tolist():
        follow.setdefault(y, []).append(z)
    expected = Counter((x, z) for x, y in left.T.tolist() for z in follow.get(y, ()))
    join = p.Join(p.Read(a, ("x", "y")), p.Read(b, ("y", "z")), ("x", "z"))
    back = p.Join(p.Read(b, ("y", "z")), p.Read(a, ("x", "y")), ("x", "z"))
    for expr in (join, back):
        assert engine.count(expr) == expected.total()
        assert engine.count(p.Project(expr, ("x", "z"), "set")) == len(expected)
        assert bag_of(engine.evaluate(p.Project(expr, ("x", "z"), "sum")), ("x", "z")) == expected
        head = engine.relation("head", 2)
        engine.run([Work(head, p.Project(expr, ("z", "x"), "keep"), 1)])
        assert head.derive() == len(expected)
        assert set(bag_of(scan(head, ("z", "x"), "delta"), ("x", "z"))) == set(expected)


def test_a_derived_relation_of_many_facts_joins_with_itself(make_engine: Any) -> None:
    """A relation that a bitmap kept free of duplicates is not sorted before somebody looks it up: not under a scan."""
    engine = make_engine(terms=1000)
    columns = many(3, 600_000, 1000, 2)
    facts = unique_rows(columns)
    source, relation = loaded(engine, columns), engine.relation("derived", 2)
    assert facts.shape[1] > 400_000
    engine.run([Work(relation, p.Project(p.Read(source, ("x", "y")), ("y", "x"), "keep"), 1)])
    relation.derive()
    relation.merge()
    relation.rest()
    backwards, forwards = p.Read(relation, ("y", "x")), p.Read(relation, ("x", "y"))
    both = {tuple(f) for f in facts.T.tolist()}
    assert engine.count(p.SemiJoin(backwards, forwards, ("x", "y"))) == sum((y, x) in both for x, y in both)


def test_one_row_with_many_matches(make_engine: Any) -> None:
    engine = make_engine(terms=600_000)
    star = loaded(engine, np.stack([np.zeros(500_000, np.int32), np.arange(500_000, dtype=np.int32)]))
    tables = list(engine.evaluate(p.Join(p.Read(star, ("x", 17)), p.Read(star, ("x", "y")), ("y",))))
    assert sum(map(len, tables)) == 500_000
    assert max(map(len, tables)) <= 2**20, "bounded chunks"


def test_a_product_comes_in_bounded_chunks(make_engine: Any) -> None:
    engine = make_engine(terms=2_000)
    line = loaded(engine, np.arange(2_000, dtype=np.int32)[np.newaxis])
    product = p.Join(p.Read(line, ("x",)), p.Read(line, ("y",)), ("x", "y"))
    sizes = [len(table) for table in engine.evaluate(product)]
    assert sum(sizes) == 4_000_000
    assert max(sizes) <= 2**20
    assert sum(len(table) for table in engine.evaluate(product, 10)) == 10


def test_closing(make_engine: Callable[..., Engine]) -> None:
    make_engine().close()
