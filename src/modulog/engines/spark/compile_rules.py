"""Rules of one shape as one plan: a join with a small table of rules, broadcast.

Two pieces of work have the same *shape* when their expressions differ only in which relations they read and
write and in the constants of their atoms. What differs becomes a column of the rule table, what agrees a
literal. So a hundred copy rules cost one scan of the facts and one join with a hundred rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from modulog.algebra import expressions as p
from modulog.algebra.default_joins import as_joins
from modulog.engines.spark.compute import SparkValues
from modulog.engines.spark.relation import SparkRelation
from modulog.engines.spark.table import WEIGHT, SparkTable


@dataclass(slots=True)
class Member:
    """An expression: its shape, and the values of its parameters in the order in which a walk meets them."""

    expr: p.Expr
    shape: tuple[Any, ...] = ()
    parameters: list[int] = field(default_factory=list)
    reads: list[p.Read] = field(default_factory=list)


def rule(expr: p.Project, head: SparkRelation) -> Member:
    """A rule: the projection's arguments are those of the head."""
    found, names = Member(expr), dict[str, int]()
    body = _shape(expr.child, found, names)
    found.parameters.append(head.number)
    found.shape = (head.arity, body, tuple(_slot(a, found, names) for a in expr.args))
    return found


def question(expr: p.Expr) -> Member:
    """An expression that stands for itself."""
    found = Member(expr)
    found.shape = _shape(expr, found, {})
    return found


def _slot(arg: p.Argument, found: Member, names: dict[str, int]) -> object:
    if isinstance(arg, str):
        return names.setdefault(arg, len(names))
    if isinstance(arg, int):
        found.parameters.append(arg)
        return "constant"
    return None


def _shape(expr: p.Expr, found: Member, names: dict[str, int]) -> tuple[Any, ...]:
    def listed(variables: Sequence[str]) -> tuple[int, ...]:
        return tuple(names[v] for v in variables)

    match expr:
        case p.Read():
            assert isinstance(expr.relation, SparkRelation)
            found.reads.append(expr)
            found.parameters.append(expr.relation.number)
            args = tuple(_slot(a, found, names) for a in expr.args)
            return ("read", expr.relation.arity, expr.version, expr.except_from, args)
        case p.Join() | p.SemiJoin() | p.AntiJoin():
            sides = (_shape(expr.left, found, names), _shape(expr.right, found, names))
            return (type(expr).__name__, *sides, listed(expr.variables))
        case p.Where():
            child = _shape(expr.child, found, names)
            condition = tuple(_value_shape(v, names) for v in (expr.condition.left, expr.condition.right))
            return ("where", child, expr.condition.operator, condition, listed(expr.variables))
        case p.Project():
            child = _shape(expr.child, found, names)
            return (
                "project",
                child,
                tuple(names[a] if isinstance(a, str) else ("is", a) for a in expr.args),
                expr.how,
            )
        case p.Extend():
            child = _shape(expr.child, found, names)
            value = _value_shape(expr.value, names)
            names.setdefault(expr.variable, len(names))
            return ("extend", child, names[expr.variable], value)
        case p.Union():
            return ("union", *(_shape(part, found, names) for part in expr.parts))
        case p.Rows():
            for name in expr.variables:
                names.setdefault(name, len(names))
            return ("rows", id(expr.table), listed(expr.variables))
        case p.Multiway():
            return _shape(as_joins(expr), found, names)


def _value_shape(value: p.Value, names: dict[str, int]) -> object:
    if isinstance(value, p.Compute):
        return (value.function, *(_value_shape(a, names) for a in value.arguments))
    return names[value] if isinstance(value, str) else ("is", value)


RULE = "_rule"
RIGHT_WEIGHT = "__#"


@dataclass(slots=True)
class Frame:
    """A data frame with a column for each variable, perhaps those of the rule table, perhaps weights."""

    frame: DataFrame
    variables: tuple[str, ...]
    weighted: bool = False

    @property
    def weight(self) -> Column | None:
        """How often each row is there, if that is said."""
        return F.col(WEIGHT) if self.weighted else None


@dataclass(slots=True)
class Side:
    """The right side of a join: conditions, and columns of variables that the left side lacks."""

    frame: DataFrame
    conditions: list[Column]
    columns: Mapping[str, Column]
    weighted: bool = False


class Compilation:
    """The plan of all members of one shape. `facts` gives the facts of some relations in a version; `values`
    compares and computes.
    """

    def __init__(
        self,
        spark: SparkSession,
        members: Sequence[Member],
        facts: Callable[[Sequence[p.Read]], DataFrame],
        values: SparkValues,
        broadcast_limit: int,
    ) -> None:
        self.members, self.facts, self.values = members, facts, values
        self.broadcast_limit = broadcast_limit
        parameters = list(zip(*(m.parameters for m in members), strict=True))
        self.varying = [k for k, column in enumerate(parameters) if len(set(column)) > 1]
        self.literals = [column[0] for column in parameters]
        self.names: dict[str, str] = {}
        self.next_parameter = self.next_read = 0
        self.rules: DataFrame | None = None
        if self.varying:
            rows = [(r, *(m.parameters[k] for k in self.varying)) for r, m in enumerate(members)]
            schema = ", ".join(f"`{name}` bigint" for name in (RULE, *map(_parameter, self.varying)))
            self.rules = F.broadcast(spark.createDataFrame(rows, schema))

    def heads(self) -> DataFrame:
        """Rows (p, c0, c1, …) for the relations of the heads."""
        expr = self.members[0].expr
        assert isinstance(expr, p.Project)
        body = self.evaluate(expr.child)
        target = self._parameter().cast("int").alias("p")
        columns = [self._value(a).cast("long").alias(f"c{j}") for j, a in enumerate(expr.args)]
        return body.frame.select(target, *columns)

    def answers(self) -> Frame:
        """The rows of the expression, the columns named by its variables."""
        found = self.evaluate(self.members[0].expr)
        weights = [found.weight] if found.weight is not None else []
        columns = [F.col(self._name(v)).alias(v) for v in found.variables]
        return Frame(found.frame.select(*columns, *weights), found.variables, found.weighted)

    # ---- One method for each kind of expression

    def evaluate(self, expr: p.Expr) -> Frame:
        match expr:
            case p.Read():
                return self._scan(expr)
            case p.Join():
                return self._join(expr)
            case p.SemiJoin() | p.AntiJoin():
                return self._filter(expr)
            case p.Where():
                return self._where(expr)
            case p.Extend():
                return self._extend(expr)
            case p.Project():
                return self._project(expr)
            case p.Union():
                return self._union(expr)
            case p.Rows():
                assert isinstance(expr.table, SparkTable)
                named = zip(expr.table.columns, expr.variables, strict=True)
                frame = expr.table.frame.select(*(F.col(f"`{c}`").alias(self._name(v)) for c, v in named))
                return Frame(frame if self.rules is None else frame.crossJoin(self.rules), expr.variables)
            case p.Multiway():
                return self.evaluate(as_joins(expr))

    def _scan(self, read: p.Read) -> Frame:
        side = self._side(read, ())
        frame = side.frame if self.rules is None else _joined(side.frame, self.rules, side.conditions)
        return self._made(frame, read.variables, side.columns)

    def _join(self, expr: p.Join) -> Frame:
        left = self.evaluate(expr.left)
        right = self._side(expr.right, left.variables)
        frame = _joined(left.frame, right.frame, right.conditions)
        weights = [F.col(WEIGHT)] * left.weighted + [F.col(RIGHT_WEIGHT)] * right.weighted
        weight = reduce(Column.__mul__, weights) if weights else None
        return self._made(frame, expr.variables, right.columns, weight)

    def _filter(self, expr: p.SemiJoin | p.AntiJoin) -> Frame:
        left = self.evaluate(expr.left)
        right = self._side(expr.right, left.variables)
        condition = reduce(Column.__and__, right.conditions, F.lit(True))
        how = "left_semi" if isinstance(expr, p.SemiJoin) else "left_anti"
        return self._made(left.frame.join(right.frame, condition, how), expr.variables, {}, left.weight)

    def _where(self, expr: p.Where) -> Frame:
        child = self.evaluate(expr.child)
        left, right = expr.condition.left, expr.condition.right
        if expr.condition.operator == "is":
            assert not isinstance(left, p.Compute) and not isinstance(right, p.Compute)
            frame = child.frame.filter(self._constant(left) == self._constant(right))
        else:
            condition = p.Condition(expr.condition.operator, self._named(left), self._named(right))
            frame = self.values.satisfy(child.frame, condition)
        return self._made(frame, expr.variables, {}, child.weight)

    def _extend(self, expr: p.Extend) -> Frame:
        child, name = self.evaluate(expr.child), self._name(expr.variable)
        if isinstance(expr.value, p.Compute):
            function = self._named(expr.value)
            assert isinstance(function, p.Compute)
            frame = self.values.compute(child.frame, name, function)
        else:
            frame = child.frame.withColumn(name, self._constant(expr.value))
        return Frame(frame, (*child.variables, expr.variable), child.weighted)

    def _project(self, expr: p.Project) -> Frame:
        child, names = self.evaluate(expr.child), expr.variables
        columns = {n: self._constant(a) for n, a in zip(names, expr.args, strict=True)}
        if expr.how == "keep":
            return self._made(child.frame, names, columns, child.weight)
        if expr.how == "set":
            found = self._made(child.frame, names, columns)
            return Frame(found.frame.distinct(), names)
        found = self._made(child.frame, names, columns, child.weight or F.lit(1).cast("long"))
        keys = [c for c in found.frame.columns if c != WEIGHT]
        return Frame(found.frame.groupBy(*keys).agg(F.sum(f"`{WEIGHT}`").alias(WEIGHT)), names, True)

    def _union(self, expr: p.Union) -> Frame:
        parts = [self.evaluate(part) for part in expr.parts]
        weighted = any(part.weighted for part in parts)
        one = F.lit(1).cast("long") if weighted else None
        made = [self._made(part.frame, expr.variables, {}, part.weight or one) for part in parts]
        return Frame(reduce(DataFrame.union, [part.frame for part in made]), expr.variables, weighted)

    def _made(
        self,
        frame: DataFrame,
        variables: tuple[str, ...],
        columns: Mapping[str, Column],
        weight: Column | None = None,
    ) -> Frame:
        """Rows with a column for each variable, as given or its own, those of the rule table, and weights."""
        chosen = [columns.get(v, F.col(self._name(v))).alias(self._name(v)) for v in variables]
        weights = [] if weight is None else [weight.alias(WEIGHT)]
        return Frame(frame.select(*chosen, *self._carried(), *weights), variables, bool(weights))

    # ---- The right side of a join

    def _side(self, expr: p.Expr, bound: Sequence[str]) -> Side:
        """What is joined to rows that have columns for the bound variables."""
        if isinstance(expr, p.Read):
            return self._facts(expr, bound)
        found = self.evaluate(expr)
        other = {v: F.col(f"__{self._name(v)}") for v in found.variables}
        renamed = [F.col(self._name(v)).alias(f"__{self._name(v)}") for v in found.variables]
        conditions = [F.col(self._name(v)) == column for v, column in other.items() if v in bound]
        if self.rules is not None:
            renamed.append(F.col(RULE).alias("__rule"))
            conditions.append(F.col(RULE) == F.col("__rule"))
        if found.weighted:
            renamed.append(F.col(WEIGHT).alias(RIGHT_WEIGHT))
        fresh = {v: column for v, column in other.items() if v not in bound}
        return Side(found.frame.select(*renamed), conditions, fresh, found.weighted)

    def _facts(self, read: p.Read, bound: Sequence[str]) -> Side:
        """The facts of a read; conditions that speak of these alone are applied to them at once."""
        reads = [m.reads[self.next_read] for m in self.members]
        self.next_read += 1
        source, suffix = self.facts(reads), f"_{self.next_read}"
        frame = source.select(*(F.col(c).alias(f"__{c}{suffix}") for c in source.columns))
        conditions: list[Column] = []
        fresh: dict[str, Column] = {}
        places: list[tuple[Column, p.Argument]] = [(F.col(f"__p{suffix}"), 0)]
        places += [(F.col(f"__c{j}{suffix}"), arg) for j, arg in enumerate(read.args)]
        for column, arg in places:
            if isinstance(arg, int):
                varies = self.next_parameter in self.varying
                equal = column == self._parameter()
                conditions, frame = (
                    ([*conditions, equal], frame) if varies else (conditions, frame.filter(equal))
                )
            elif arg is not None and arg in bound:
                conditions.append(column == F.col(self._name(arg)))
            elif arg is not None and arg in fresh:
                frame = frame.filter(column == fresh[arg])
            elif arg is not None:
                fresh[arg] = column
        sizes = {id(r.relation): r.relation.size(r.version) for r in reads}
        if bound and sum(sizes.values()) <= self.broadcast_limit:
            frame = F.broadcast(frame)
        return Side(frame, conditions, fresh)

    # ---- Parameters and names

    def _carried(self) -> Iterator[Column]:
        """The columns of the rule table, which every later step may need."""
        if self.rules is not None:
            yield F.col(RULE)
            yield from (F.col(_parameter(k)) for k in self.varying)

    def _parameter(self) -> Column:
        """The next parameter in the order of the walk: a literal where all members agree."""
        k, self.next_parameter = self.next_parameter, self.next_parameter + 1
        return F.col(_parameter(k)) if k in self.varying else F.lit(self.literals[k])

    def _value(self, arg: str | int) -> Column:
        return F.col(self._name(arg)) if isinstance(arg, str) else self._parameter()

    def _constant(self, arg: str | int) -> Column:
        return F.col(self._name(arg)) if isinstance(arg, str) else F.lit(arg).cast("long")

    def _named(self, value: p.Value) -> p.Value:
        """A value whose variables are Spark's names."""
        if isinstance(value, p.Compute):
            return p.Compute(value.function, tuple(map(self._named, value.arguments)))
        return self._name(value) if isinstance(value, str) else value

    def _name(self, variable: str) -> str:
        """Spark's names do not tell capitals from small letters, so variables are numbered."""
        return self.names.setdefault(variable, f"v{len(self.names)}")


def _parameter(k: int) -> str:
    return f"_{k}"


def _joined(left: DataFrame, right: DataFrame, conditions: Sequence[Column]) -> DataFrame:
    return left.join(right, reduce(Column.__and__, conditions)) if conditions else left.crossJoin(right)
