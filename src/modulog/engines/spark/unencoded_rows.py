"""Facts that wait for the ids of their terms: read and written once as blocks, then encoded with one growth of the dictionary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from modulog.engines.relation import ModuleId
from modulog.engines.spark.assign_ids import ENCODED, SOURCE_BITS, Distinct, Translate
from modulog.engines.spark.terms import SparkTerms

if TYPE_CHECKING:
    from modulog.engines.spark.relation import SparkRelation

Heads = dict["SparkRelation", ModuleId]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Staged:
    """Blocks on disk, as long as somebody holds this: the arities and names that have facts, and the bytes of all keys."""

    frame: DataFrame
    names: tuple[tuple[int, str], ...]
    text: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Facts of one arity, in blocks that are a plan or on disk, and the relations that want those of a name."""

    arity: int
    blocks: DataFrame | Staged
    wanted: Mapping[str, SparkRelation]
    source: ModuleId

    def without(self, relation: SparkRelation) -> Waiting:
        """The same for all relations but one."""
        kept = {name: r for name, r in self.wanted.items() if r is not relation}
        return Waiting(self.arity, self.blocks, kept, self.source)


def stage(terms: SparkTerms, blocks: DataFrame) -> Staged:
    """Evaluate blocks, with one job; `terms.release` deletes them once nobody holds them."""
    found = Observation()
    named = F.when(F.col("name").isNotNull(), F.struct("arity", "name"))
    watched = blocks.observe(
        found, F.collect_set(named).alias("names"), F.sum(F.octet_length("data")).alias("text")
    )
    frame = terms.stage([watched])[0]
    seen = found.get
    names = tuple(sorted((row["arity"], row["name"]) for row in seen["names"]))
    staged = Staged(frame, names, seen["text"] or 0)
    terms.hold(staged)
    return staged


def encode(terms: SparkTerms, waiting: Sequence[Waiting]) -> Iterator[tuple[int, DataFrame, Heads]]:
    """Facts (p, c0, c1, …) by arity, each once, and the relations they belong to."""
    plans = [item.blocks for item in waiting if isinstance(item.blocks, DataFrame)]
    ready = dict.fromkeys(item.blocks for item in waiting if isinstance(item.blocks, Staged))
    last = [stage(terms, reduce(DataFrame.union, plans))] if plans else []
    sources = [*ready, *last]
    numbered = [
        s.frame.withColumn("chunk", F.col("chunk") + F.lit(i << SOURCE_BITS)) for i, s in enumerate(sources)
    ]
    whole = reduce(DataFrame.union, numbered)
    places, offsets = terms.number(whole.where("bucket is not null"), sum(s.text for s in sources))
    for arity in sorted({item.arity for item in waiting}):
        mine = [item for item in waiting if item.arity == arity]
        relations: dict[tuple[int, str], tuple[int, ...]] = {}
        for item in mine:
            source = sources.index(item.blocks) if isinstance(item.blocks, Staged) else len(sources) - 1
            for name, relation in item.wanted.items():
                relations[source, name] = (*relations.get((source, name), ()), relation.number)
        facts = whole.where(F.col("arity") == arity).select(
            "chunk", "name", "numbers", F.lit(None).cast("binary").alias("slots")
        )
        both = facts.union(places.select("chunk", F.lit(None).cast("string"), "numbers", "slots"))
        run = Translate(arity, offsets, relations)
        columns = ", ".join(["p int", *(f"c{j} long" for j in range(arity))])
        encoded = both.repartition("chunk").mapInArrow(run, ENCODED)
        heads = {relation: item.source for item in mine for relation in item.wanted.values()}
        yield arity, encoded.repartition("bucket").mapInArrow(Distinct(arity), columns), heads
