"""Facts that rules have given and that wait for the next `derive`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from modulog.engines.relation import ModuleId
from modulog.engines.spark.relation import SparkRelation

MUCH = 1_000_000  # known facts that are worth a job not to shuffle
EBB = 20  # times the facts of the last round


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Facts (p, c0, c1, …) for the next `derive`; `distinct` if none of them is there twice."""

    arity: int
    frame: DataFrame
    heads: dict[SparkRelation, ModuleId]
    distinct: bool = False


def without(relation: SparkRelation, scheduled: Sequence[Scheduled]) -> list[Scheduled]:
    """What is left when the facts of one relation are dropped."""
    kept = []
    for found in scheduled:
        if relation in found.heads:
            heads = {r: source for r, source in found.heads.items() if r is not relation}
            found = replace(found, frame=found.frame.filter(F.col("p") != relation.number), heads=heads)
        if found.heads:
            kept.append(found)
    return kept


def by_source(scheduled: list[Scheduled]) -> Iterator[list[Scheduled]]:
    """What goes into one part: everything, unless a relation keeps its sources apart; what is explicit comes first."""
    if not any(relation.by_source for found in scheduled for relation in found.heads):
        yield scheduled
        return
    for source in sorted({source for found in scheduled for source in found.heads.values()}):
        group = []
        for found in scheduled:
            mine = {relation: s for relation, s in found.heads.items() if s == source}
            if mine:
                wanted = [relation.number for relation in mine]
                frame = found.frame.filter(F.col("p").isin(wanted))
                group.append(replace(found, frame=frame, heads=mine))
        yield group


def is_ebbing(relations: Sequence[SparkRelation]) -> bool:
    """Whether much is known and the last round brought little of it: then the next will hardly bring more."""
    last = [(r, (r.come if r.updating else r.base)[-1:]) for r in relations]
    recent = sum(part.count(r.number) for r, parts in last for part in parts)
    return sum(r.size("after") for r in relations) > max(MUCH, EBB * recent)
