"""What expressions mean, on Python counters: bags of rows with multiplicities.

An expression is built twice from one description: for an engine, and as the bag that it must give.
"""

from __future__ import annotations

import operator
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from modulog.algebra import expressions as p
from modulog.engines.engine import Engine

Row = tuple[int, ...]
Bag = Counter[Row]
OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.eq,
}


@dataclass
class Both:
    """An expression and the rows that it must give, over the same variables."""

    expr: p.Expr
    bag: Bag
    variables: tuple[str, ...]


def matches(args: tuple[Any, ...], facts: Any) -> Bag:
    """The rows of a read."""
    found: Bag = Counter()
    names = tuple(dict.fromkeys(a for a in args if isinstance(a, str)))
    for fact in facts:
        values: dict[str, int] = {}
        fits = (
            a is None or (values.setdefault(a, v) if isinstance(a, str) else a) == v
            for a, v in zip(args, fact, strict=True)
        )
        if all(list(fits)):
            found[tuple(values[n] for n in names)] += 1
    return found


class Builder:
    """Random expressions over relations with known facts."""

    def __init__(
        self, engine: Engine, relations: list[tuple[Any, set[Row]]], seed: int, ids: list[int]
    ) -> None:
        self.engine, self.relations, self.random, self.ids = engine, relations, random.Random(seed), ids
        self.names = ["x", "y", "z", "w"]

    def any(self, depth: int) -> Both:
        """An expression of at most the given depth."""
        if depth == 0:
            return self.random.choice([self.read, self.read, self.read, self.rows])()
        kinds = [self.join, self.join, self.join, self.semi_join, self.anti_join, self.where, self.extend]
        return self.random.choice([*kinds, self.project, self.project, self.union, self.read])(depth - 1)

    def read(self, depth: int = 0) -> Both:
        relation, facts = self.random.choice(self.relations)
        args = tuple(
            self.random.choice([*self.names, *self.names, None, self.random.choice(self.ids)])
            for _ in range(relation.arity)
        )
        read = p.Read(relation, args, "all")
        return Both(read, matches(args, facts), read.variables)

    def rows(self, depth: int = 0) -> Both:
        names = tuple(self.random.sample(self.names, self.random.randint(0, 3)))
        rows = [tuple(self.random.choices(self.ids, k=len(names))) for _ in range(self.random.randint(0, 6))]
        return Both(p.Rows(self.table(names, rows)), Counter(rows), names)

    def table(self, names: tuple[str, ...], rows: list[Row]) -> Any:

        ids = np.array(rows, np.int32).reshape(len(rows), len(names)).T
        return self.engine.table(names, np.ascontiguousarray(ids))

    def some(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.random.sample(names, self.random.randint(0, len(names))))

    def join(self, depth: int) -> Both:
        left, right = self.any(depth), self.plain(depth)
        every = tuple(dict.fromkeys((*left.variables, *right.variables)))
        kept = tuple(v for v in every if self.random.random() < 0.8)
        bag: Bag = Counter()
        for a, m in left.bag.items():
            values = dict(zip(left.variables, a, strict=True))
            for b, n in right.bag.items():
                other = dict(zip(right.variables, b, strict=True))
                if all(values.get(k, v) == v for k, v in other.items()):
                    both = values | other
                    bag[tuple(both[v] for v in kept)] += m * n
        return self.given(p.Join(left.expr, right.expr, kept), bag, kept)

    def plain(self, depth: int) -> Both:
        """The right side of a join or a filter."""
        return self.any(depth)

    def _filtered(self, depth: int, wanted: bool) -> Both:
        left, right = self.any(depth), self.plain(depth)
        kept = tuple(v for v in left.variables if self.random.random() < 0.8)
        bag: Bag = Counter()
        for a, m in left.bag.items():
            values = dict(zip(left.variables, a, strict=True))
            found = any(
                all(values.get(k, v) == v for k, v in zip(right.variables, b, strict=True)) for b in right.bag
            )
            if found == wanted:
                bag[tuple(values[v] for v in kept)] += m
        kind = p.SemiJoin if wanted else p.AntiJoin
        return self.given(kind(left.expr, right.expr, kept), bag, kept)

    def semi_join(self, depth: int) -> Both:
        return self._filtered(depth, True)

    def anti_join(self, depth: int) -> Both:
        return self._filtered(depth, False)

    def where(self, depth: int) -> Both:
        child = self.any(depth)
        sign = self.random.choice(list(OPERATORS))
        terms = [*child.variables, self.random.choice(self.ids)]
        left, right = self.random.choice(terms), self.random.choice(terms)
        kept = tuple(v for v in child.variables if self.random.random() < 0.8)
        bag: Bag = Counter()
        for a, m in child.bag.items():
            values = dict(zip(child.variables, a, strict=True))
            pair = [values[t] if isinstance(t, str) else t for t in (left, right)]
            if OPERATORS[sign](*pair):
                bag[tuple(values[v] for v in kept)] += m
        return self.given(p.Where(child.expr, p.Condition(sign, left, right), kept), bag, kept)

    def extend(self, depth: int) -> Both:
        child = self.any(depth)
        free = [n for n in (*self.names, "u", "v") if n not in child.variables]
        name, value = self.random.choice(free), self.random.choice([*child.variables, self.ids[0]])
        places = {v: j for j, v in enumerate(child.variables)}
        bag: Bag = Counter()
        for a, m in child.bag.items():
            bag[(*a, a[places[value]] if isinstance(value, str) else value)] += m
        return self.given(p.Extend(child.expr, name, value), bag, (*child.variables, name))

    def project(self, depth: int) -> Both:
        child = self.any(depth)
        args = self.some(child.variables)
        how = self.random.choice(["set", "sum", "keep"])
        places = [child.variables.index(a) for a in args]
        bag: Bag = Counter()
        for a, m in child.bag.items():
            bag[tuple(a[j] for j in places)] += m
        if how == "set":
            bag = Counter(dict.fromkeys(bag, 1))
        return self.given(p.Project(child.expr, args, how), bag, args)

    def union(self, depth: int) -> Both:
        first = self.any(depth)
        parts = [first, first, self.any(depth)]
        alike = [e for e in parts if e.variables == first.variables]
        bag = sum((e.bag for e in alike), Counter())
        return self.given(p.Union(tuple(e.expr for e in alike)), bag, first.variables)

    def given(self, expr: p.Expr, bag: Bag, variables: tuple[str, ...]) -> Both:
        """Too many rows for a test that lists them in Python: no rows at all."""
        if bag.total() > 100_000:
            return self.rows()
        return Both(expr, bag, variables)


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


def closure(edges: set[Row]) -> set[Row]:
    found = set(edges)
    while True:
        more = {(x, z) for x, y in found for v, z in edges if v == y} | found
        if more == found:
            return found
        found = more
