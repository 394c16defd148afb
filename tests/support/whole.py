"""All facts of a reasoner at once: two jobs, however many predicates there are; `rows` would need one for each."""

from __future__ import annotations

from functools import reduce
from typing import Any

from modulog import Reasoner
from modulog.terms.constant import Constant
from modulog.terms.python_values import value


def all_rows(r: Reasoner) -> dict[str, list[tuple[Any, ...]]]:
    """The facts of every predicate, as `rows` gives them."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F

    predicates = r.predicates()
    frames = []
    for number, predicate in enumerate(predicates):
        for table in r._tables(predicate):
            ids = F.array(*(F.col(f"c{j}").cast("long") for j in range(predicate.arity)))
            frames.append(table.frame.select(F.lit(number).alias("p"), ids.cast("array<long>").alias("ids")))  # type: ignore[attr-defined]
    found: dict[str, list[tuple[Any, ...]]] = {p.name: [] for p in predicates}
    terms: Any = r._backend.terms  # type: ignore[attr-defined]
    values = {row["id"]: value(Constant.from_key(row["key"].encode())) for row in terms.frame().collect()}
    for row in reduce(DataFrame.union, frames).collect():
        found[predicates[row["p"]].name].append(tuple(values[i] for i in row["ids"]))
    return found
