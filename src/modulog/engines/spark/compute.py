"""Values on Spark: executors compare and compute over keys; what is new gets its id before a fact uses it.

A function's values are written to Parquet with the rows they belong to, so that they are computed once; then
the dictionary grows by those that are new. Only rules that create values pay for this. What Spark evaluates
twice is counted twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pyspark.accumulators import Accumulator
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from modulog.algebra.expressions import Compute, Condition, Value
from modulog.engines.spark import term_keys
from modulog.engines.values import Failures

if TYPE_CHECKING:
    from modulog.engines.spark.terms import SparkTerms

_KEY, _UNIT = "_key", "_unit"


class SparkValues:
    """Filters and functions over frames of ids; the variables of conditions and functions are columns."""

    def __init__(self, spark: SparkSession, terms: SparkTerms) -> None:
        self.terms, self._spark = terms, spark

    @cached_property
    def counters(self) -> tuple[Accumulator[int], ...]:
        """What executors add to, one for each kind of failure."""
        return tuple(self._spark.sparkContext.accumulator(0) for _ in Failures().counts())

    @property
    def failures(self) -> Failures:
        """How often values could not be compared or had no result."""
        if "counters" not in self.__dict__:
            return Failures()
        return Failures(*(int(counter.value) for counter in self.counters))

    def satisfy(self, frame: DataFrame, condition: Condition) -> DataFrame:
        """The rows that satisfy a condition."""
        columns = tuple(dict.fromkeys(condition.variables))
        constants: list[str] = []
        prepared = Condition(
            condition.operator,
            *(self._prepared(side, columns, constants) for side in (condition.left, condition.right)),
        )
        run = partial(
            term_keys.satisfy_batches, condition=prepared, constants=constants, counters=self.counters
        )
        holds = self._map(frame, columns, run, StructField("_holds", BooleanType(), False))
        return holds.where("_holds").select(*frame.columns)

    def compute(self, frame: DataFrame, column: str, function: Compute) -> DataFrame:
        """The rows with one more column of ids, which a function gives; those without are left out."""
        constants: list[str] = []
        prepared = self._prepared(function, function.variables, constants)
        run = partial(
            term_keys.compute_batches, function=prepared, constants=constants, counters=self.counters
        )
        computed = self._map(frame, function.variables, run, StructField(_KEY, StringType(), True))
        (staged,) = self.terms.stage([computed.where(F.col(_KEY).isNotNull())])
        self.terms.grow(staged.select(F.col(_KEY).alias("key")))
        return self.terms.encode(staged, {_KEY: column}).select(*frame.columns, column)

    def _map(
        self, frame: DataFrame, columns: Sequence[str], run: Callable[..., Any], result: StructField
    ) -> DataFrame:
        """Give executors the rows with the keys of some columns behind them, which become `result`."""
        names = {f"_v{i}": column for i, column in enumerate(columns)}
        added = [F.col(column).alias(name) for name, column in names.items()]
        unit = StructField(_UNIT, BooleanType(), False)
        kept = frame.schema.fields
        if not kept and not added:
            frame, kept = frame.select(F.lit(True).alias(_UNIT)), [unit]
        keyed = self.terms.decode(frame.select("*", *added), {name: name for name in names})
        return keyed.mapInArrow(partial(run, width=len(names)), StructType([*kept, result]))

    def _prepared(self, value: Value, columns: Sequence[str], constants: list[str]) -> Any:
        """A value for executors: variables are names of columns of keys, constants places in `constants`."""
        if isinstance(value, Compute):
            arguments = tuple(self._prepared(a, columns, constants) for a in value.arguments)
            return Compute(value.function, arguments)
        if isinstance(value, str):
            return f"_v{columns.index(value)}"
        constants.append(self.terms.key(value))
        return len(constants) - 1
