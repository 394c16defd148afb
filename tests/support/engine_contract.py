"""The contract of engines: what each must do, as functions that take the function that makes one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import note

from modulog.algebra import expressions as p
from modulog.engines.engine import Engine, Work
from support.engine_model import Both, Builder, Row, bag_of, closure
from support.engine_updates import fill, updated
from support.relation_reads import scan

IDS = list(range(5))


def make_builder(make_engine: Any, seed: int, ids: list[int] = IDS) -> Builder:
    """Relations of an engine that have been filled, and random expressions over them."""
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


# ---- Random expressions and rounds


def check_expressions(builder: Any, seed: int, depth: int, wide: bool) -> None:
    ids = [0, 3, 4, 70, 800] if wide else IDS
    plain = builder(seed, ids)
    build = OneSided(plain.engine, plain.relations, seed, ids)
    both = build.any(depth)
    note(repr(both.expr))
    assert bag_of(build.engine.evaluate(both.expr), both.variables) == both.bag
    again = bag_of(build.engine.evaluate(both.expr), both.variables)
    assert again == both.bag, "evaluated twice"


def check_a_limit(builder: Any, seed: int, depth: int, limit: int) -> None:
    build = builder(seed)
    both = OneSided(build.engine, build.relations, seed, IDS).any(depth)
    total = sum(len(t) for t in build.engine.evaluate(both.expr))
    tables = list(build.engine.evaluate(both.expr, limit))
    assert sum(map(len, tables)) == min(limit, total)
    assert set(bag_of(tables, both.variables)) <= set(both.bag)


def check_count_is_the_number_of_rows(builder: Any, seed: int, depth: int) -> None:
    build = builder(seed)
    both = OneSided(build.engine, build.relations, seed, IDS).any(depth)
    assert build.engine.count(both.expr) == sum(len(t) for t in build.engine.evaluate(both.expr))


def check_a_round_schedules_what_is_new(builder: Any, seed: int, depth: int, rounds: int) -> None:
    plain = builder(seed)
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


def check_a_closure_by_rounds(make_engine: Any, edges: set[Row], linear: bool) -> None:
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


# ---- Examples


def multiplicities_of_both_sides_multiply(make_engine: Any) -> None:
    engine = make_engine(terms=10)
    edge = fill(engine, 2, [(1, 1), (1, 2), (2, 1)])
    some = p.Project(p.Read(edge, ("x", None)), ("x",), "sum")
    other = p.Project(p.Read(edge, ("x", "y")), ("x",), "sum")
    found = bag_of(engine.evaluate(p.Join(some, other, ("x",))), ("x",))
    assert found == Counter({(1,): 4, (2,): 1})


def a_filter_does_not_mind_multiplicities(make_engine: Any) -> None:
    engine = make_engine(terms=10)
    edge = fill(engine, 2, [(1, 1), (1, 2), (2, 3)])
    right = p.Project(p.Read(edge, ("y", None)), ("y",), "sum")
    left = p.Read(edge, ("x", "y"))
    assert bag_of(engine.evaluate(p.SemiJoin(left, right, ("x", "y"))), ("x", "y")) == Counter(
        [(1, 1), (1, 2)]
    )
    assert bag_of(engine.evaluate(p.AntiJoin(left, right, ("x", "y"))), ("x", "y")) == Counter([(2, 3)])


def a_constant_in_a_projection(make_engine: Any) -> None:
    engine = make_engine(terms=10)
    edge = fill(engine, 2, [(1, 1), (1, 2), (2, 1)])
    for how in ("set", "sum", "keep"):
        (table, *rest) = engine.evaluate(p.Project(p.Read(edge, ("x", "y")), (7, "x"), how))
        assert not rest
        (batch,) = table.batches()
        assert set(zip(*(c.to_pylist() for c in batch.columns[:2]), strict=True)) == {(7, 1), (7, 2)}


def incomparable_values_are_counted(make_engine: Any) -> None:
    engine = make_engine(terms=1000)
    edge = fill(engine, 2, [(1, 2), (2, 1), (950, 1), (1, 950), (951, 950)])
    expr = p.Where(p.Read(edge, ("x", "y")), p.Condition("<", "x", "y"), ("x", "y"))
    assert bag_of(engine.evaluate(expr), ("x", "y")) == Counter({(1, 2): 1})
    assert engine.failures.incomparable == 3


def a_relation_joined_with_itself_while_it_is_scanned(make_engine: Any) -> None:
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


def closing(make_engine: Callable[..., Engine]) -> None:
    make_engine().close()


EXAMPLES = [
    multiplicities_of_both_sides_multiply,
    a_filter_does_not_mind_multiplicities,
    a_constant_in_a_projection,
    incomparable_values_are_counted,
    a_relation_joined_with_itself_while_it_is_scanned,
    closing,
]
"""Tests without random choices, each of which takes the function that makes engines."""


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


def check_many_facts(make_engine: Any, arity: int, ids: int) -> None:
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


def check_a_large_join(make_engine: Any, ids: int) -> None:
    """As many rows as a hash join in Python finds, once each, small domains by bitmap and large ones by
    sorting.
    """
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
