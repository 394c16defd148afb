"""Rules of one shape as one plan: a join with a small table of rules, broadcast.

What differs between rules of one shape (see `shapes`) becomes a column of the rule table, what agrees a literal. So a hundred copy rules cost one
scan of the facts and one join with a hundred rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession

from modulog.engines import protocol as p
from modulog.engines.defaults import as_joins
from modulog.engines.spark.computing import SparkValues
from modulog.engines.spark.expanding import Broadcasts
from modulog.engines.spark.functions import F
from modulog.engines.spark.lookups import Frame, Lookups
from modulog.engines.spark.shapes import Member
from modulog.engines.spark.table import WEIGHT, SparkTable
from modulog.engines.spark.tallies import Tally

RULE = "_rule"


class Compilation:
    """The plan of all members of one shape. `facts` gives the facts of some relations in a version; `values` compares and computes."""

    def __init__(
        self,
        spark: SparkSession,
        members: Sequence[Member],
        facts: Callable[[Sequence[p.Read]], DataFrame],
        values: SparkValues,
        broadcasts: Broadcasts,
        broadcast_limit: int,
        tally: Tally | None = None,
    ) -> None:
        self.members, self.facts, self.values, self.tally = members, facts, values, tally
        self.lookups, self.broadcast_limit = Lookups(spark, broadcasts, self._name), broadcast_limit
        parameters = list(zip(*(m.parameters for m in members), strict=True))
        self.varying = [k for k, column in enumerate(parameters) if len(set(column)) > 1]
        self.literals = [column[0] for column in parameters]
        self.names: dict[str, str] = {}
        self.next_parameter = self.next_read = 0
        self.rules: DataFrame | None = None
        if self.varying:
            named = zip(tally.numbers if tally else range(len(members)), members, strict=True)
            rows = [(r, *(m.parameters[k] for k in self.varying)) for r, m in named]
            schema = ", ".join(f"`{name}` bigint" for name in (RULE, *map(_parameter, self.varying)))
            self.rules = F.broadcast(spark.createDataFrame(rows, schema))

    def heads(self) -> DataFrame:
        """Rows (p, c0, c1, …) for the relations of the heads; the tally counts them."""
        expr = self.members[0].expr
        assert isinstance(expr, p.Project)
        body = self.evaluate(expr.child)
        varies = self.next_parameter in self.varying
        target = self._parameter().cast("int").alias("p")
        columns = [self._value(a).cast("long").alias(f"c{j}") for j, a in enumerate(expr.args)]
        if self.tally is None or not self.tally.watches:
            return body.frame.select(target, *columns)
        # Spark does not look through what counts: only columns that are needed pass, and a literal stays outside.
        rule = None if self.rules is None else RULE
        passing = [*columns, *([target] if varies else []), *([F.col(RULE)] if rule else [])]
        counted = self.tally.watch(body.frame.select(*passing), rule)
        return counted.select("p" if varies else target, *(f"c{j}" for j in range(len(columns))))

    def answers(self) -> Frame:
        """The rows of the expression, the columns named by its variables."""
        found = self.evaluate(self.members[0].expr)
        weights = [F.col(WEIGHT)] if found.weighted else []
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
                return Frame(self._with_rules(frame, []), expr.variables)
            case p.Multiway():
                return self.evaluate(as_joins(expr))

    def _scan(self, read: p.Read) -> Frame:
        if not read.relation.listed:
            self.next_read += 1
            found = self.lookups.scan(read)
            return Frame(self._with_rules(found.frame, []), found.variables, found.weighted)
        frame, conditions, fresh = self._facts(read, ())
        local = [c for c, varies in conditions if not varies]
        frame = reduce(lambda f, c: f.filter(c), local, frame)
        joined = self._with_rules(frame, [c for c, varies in conditions if varies])
        return Frame(joined.select(*fresh, *self._carried()), read.variables)

    def _join(self, expr: p.Join) -> Frame:
        left = self.evaluate(expr.left)
        if not isinstance(expr.right, p.Read):
            return self._join_sets(left, expr)
        if not expr.right.relation.listed:
            return self._look_up(left, expr, expr.right)
        right, conditions, fresh = self._facts(expr.right, left.variables)
        right = reduce(lambda f, c: f.filter(c), [c for c, outer in conditions if not outer], right)
        outer = [c for c, outer in conditions if outer]
        frame = (
            left.frame.join(right, reduce(Column.__and__, outer)) if outer else left.frame.crossJoin(right)
        )
        kept = [F.col(self._name(v)) for v in left.variables if v in expr.variables]
        names = [v for v in expr.right.variables if v in expr.variables and v not in left.variables]
        chosen = [c for v, c in zip(_fresh(expr.right, left.variables), fresh, strict=True) if v in names]
        weights = [F.col(WEIGHT)] if left.weighted else []
        variables = (*(v for v in left.variables if v in expr.variables), *names)
        return Frame(frame.select(*kept, *chosen, *self._carried(), *weights), variables, left.weighted)

    def _look_up(self, left: Frame, expr: p.Join, read: p.Read) -> Frame:
        if not any(v in left.variables for v in read.variables):
            return self._join_sets(left, expr)
        self.next_read += 1
        found = self.lookups.join(left, read, expr.variables)
        weights = [F.col(WEIGHT)] if found.weighted else []
        columns = [F.col(self._name(v)) for v in expr.variables]
        return Frame(found.frame.select(*columns, *self._carried(), *weights), expr.variables, found.weighted)

    def _join_sets(self, left: Frame, expr: p.Join) -> Frame:
        right = self.evaluate(expr.right)
        shared = [v for v in left.variables if v in right.variables]
        other = {v: f"__{self._name(v)}" for v in right.variables}
        weights = [(F.col(WEIGHT)).alias("__#")] if right.weighted else []
        rule = [F.col(RULE).alias("__rule")] if self.rules is not None else []
        frame = right.frame.select(
            *(F.col(self._name(v)).alias(n) for v, n in other.items()), *rule, *weights
        )
        conditions = [F.col(self._name(v)) == F.col(other[v]) for v in shared]
        conditions += [F.col(RULE) == F.col("__rule")] if rule else []
        joined = (
            left.frame.join(frame, reduce(Column.__and__, conditions))
            if conditions
            else left.frame.crossJoin(frame)
        )
        columns = [
            F.col(self._name(v)) if v in left.variables else F.col(other[v]).alias(self._name(v))
            for v in expr.variables
        ]
        counts = [F.col(WEIGHT)] * left.weighted + [F.col("__#")] * right.weighted
        product = [reduce(Column.__mul__, counts).alias(WEIGHT)] if counts else []
        return Frame(joined.select(*columns, *self._carried(), *product), expr.variables, bool(counts))

    def _filter(self, expr: p.SemiJoin | p.AntiJoin) -> Frame:
        left = self.evaluate(expr.left)
        weights = [F.col(WEIGHT)] if left.weighted else []
        columns = [F.col(self._name(v)) for v in expr.variables]
        how = "left_semi" if isinstance(expr, p.SemiJoin) else "left_anti"
        if isinstance(expr.right, p.Read) and not expr.right.relation.listed:
            self.next_read += 1
            kept = self.lookups.filter(left, expr.right, how == "left_semi")
            return Frame(kept.select(*columns, *self._carried(), *weights), expr.variables, left.weighted)
        if isinstance(expr.right, p.Read):
            right, conditions, _ = self._facts(expr.right, left.variables)
            right = reduce(lambda f, c: f.filter(c), [c for c, outer in conditions if not outer], right)
            outer = [c for c, outer in conditions if outer]
        else:
            found = self.evaluate(expr.right)
            renamed = [F.col(self._name(v)).alias(f"__{self._name(v)}") for v in found.variables]
            rule = [F.col(RULE).alias("__rule")] if self.rules is not None else []
            right = found.frame.select(*renamed, *rule)
            shared = [v for v in found.variables if v in left.variables]
            outer = [F.col(self._name(v)) == F.col(f"__{self._name(v)}") for v in shared]
            outer += [F.col(RULE) == F.col("__rule")] if rule else []
        condition = reduce(Column.__and__, outer) if outer else F.lit(True)
        frame = left.frame.join(right, condition, how)
        return Frame(frame.select(*columns, *self._carried(), *weights), expr.variables, left.weighted)

    def _where(self, expr: p.Where) -> Frame:
        child = self.evaluate(expr.child)
        left, right = expr.condition.left, expr.condition.right
        if expr.condition.operator == "is":
            assert not isinstance(left, p.Compute) and not isinstance(right, p.Compute)
            frame = child.frame.filter(self._constant(left) == self._constant(right))
        else:
            condition = p.Condition(expr.condition.operator, self._named(left), self._named(right))
            frame = self.values.satisfy(child.frame, condition)
        weights = [F.col(WEIGHT)] if child.weighted else []
        columns = [F.col(self._name(v)) for v in expr.variables]
        return Frame(frame.select(*columns, *self._carried(), *weights), expr.variables, child.weighted)

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
        child = self.evaluate(expr.child)
        names = expr.variables
        columns = [self._constant(a).alias(self._name(n)) for n, a in zip(names, expr.args, strict=True)]
        weights = [F.col(WEIGHT)] if child.weighted else [F.lit(1).cast("long").alias(WEIGHT)]
        if expr.how == "sum":
            frame = child.frame.select(*columns, *self._carried(), *weights)
            keys = [c for c in frame.columns if c != WEIGHT]
            return Frame(frame.groupBy(*keys).agg(F.sum(WEIGHT).alias(WEIGHT)), names, True)
        if expr.how == "set":
            return Frame(child.frame.select(*columns, *self._carried()).distinct(), names)
        frame = child.frame.select(*columns, *self._carried(), *(weights if child.weighted else []))
        return Frame(frame, names, child.weighted)

    def _union(self, expr: p.Union) -> Frame:
        parts = [self.evaluate(part) for part in expr.parts]
        columns = [F.col(self._name(v)) for v in expr.variables]
        weighted = any(part.weighted for part in parts)
        one = [F.lit(1).cast("long").alias(WEIGHT)] if weighted else []
        frames = [
            part.frame.select(*columns, *self._carried(), *([F.col(WEIGHT)] if part.weighted else one))
            for part in parts
        ]
        return Frame(reduce(DataFrame.union, frames), expr.variables, weighted)

    # ---- Facts, parameters and names

    def _facts(
        self, read: p.Read, bound: Sequence[str]
    ) -> tuple[DataFrame, list[tuple[Column, bool]], list[Column]]:
        """The facts that a read needs, in columns of their own; its conditions, each with whether it speaks of other columns; and
        the columns of its fresh variables."""
        reads = [m.reads[self.next_read] for m in self.members]
        self.next_read += 1
        source = self.facts(reads)
        suffix = f"_{self.next_read}"
        frame = source.select(*(F.col(c).alias(f"__{c}{suffix}") for c in source.columns))
        varies = self.next_parameter in self.varying
        conditions = [(F.col(f"__p{suffix}") == self._parameter(), varies)]
        fresh: dict[str, Column] = {}
        for j, arg in enumerate(read.args):
            column = F.col(f"__c{j}{suffix}")
            if isinstance(arg, int):
                varies = self.next_parameter in self.varying
                conditions.append((column == self._parameter(), varies))
            elif arg is not None and arg in bound:
                conditions.append((column == F.col(self._name(arg)), True))
            elif arg is not None and arg in fresh:
                conditions.append((column == fresh[arg], False))
            elif arg is not None:
                fresh[arg] = column
        if (
            sum(r.relation.size(r.version) for r in {id(r.relation): r for r in reads}.values())
            <= self.broadcast_limit
            and bound
        ):
            frame = F.broadcast(frame)
        return frame, conditions, [c.alias(self._name(v)) for v, c in fresh.items()]

    def _with_rules(self, frame: DataFrame, conditions: list[Column]) -> DataFrame:
        if self.rules is None:
            return frame
        return (
            frame.join(self.rules, reduce(Column.__and__, conditions))
            if conditions
            else frame.crossJoin(self.rules)
        )

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


def _fresh(read: p.Read, bound: Sequence[str]) -> list[str]:
    return [v for v in read.variables if v not in bound]
