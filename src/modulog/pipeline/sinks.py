"""Results to where they are wanted: each predicate written aside, and moved to its place when it is whole.

A folder has a part for each predicate, as `Reasoner.export` names it; tables are one for each predicate. Only parts of predicates that have changed are written. Whoever
is killed between two moves leaves the rest to the next run, which knows what sinks do not have yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from modulog.engines.registry import folder_on_spark
from modulog.formats import rdf_writing
from modulog.formats.exporting import part_names
from modulog.formats.files import BAD_RECORDS
from modulog.language.model import Predicate
from modulog.language.triples import VIEWS
from modulog.naming import view_names
from modulog.pipeline.configuration import PREDICATE, SINK_FORMATS, Sink

if TYPE_CHECKING:
    from modulog.session import Reasoner

_ASIDE = "modulog-writing"


def write_sink(
    reasoner: Reasoner, spark: Any, sink: Sink, known: Sequence[str] | None, changed: Collection[str]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Write the predicates of a sink that changed, all if nothing of it is known; answers the rows of what was written, and all its parts."""
    parts = _parts(sink, predicates_of(sink, reasoner))
    wanted = [p for p in parts if known is None or p.name in changed or (changed and p in VIEWS)]
    stale = [name for name in known or () if name not in parts.values()]
    if sink.table is not None:
        written = {parts[p]: _write_table(reasoner, spark, p, parts[p]) for p in wanted}
        for name in stale:
            spark.sql(f"DROP TABLE IF EXISTS {name}")
    else:
        written = _write_folder(reasoner, folder_on_spark(spark, sink.place), sink, wanted, stale)
    return written, tuple(parts.values())


def predicates_of(sink: Sink, reasoner: Reasoner) -> list[Predicate]:
    """The predicates that a sink takes: those it names, those that the program gives out, or all."""
    program = reasoner.program
    named = sink.predicates or (*program.outputs, *(directive.predicate for directive in program.exports))
    return reasoner.named(named) if named else reasoner.predicates()


def _parts(sink: Sink, predicates: Sequence[Predicate]) -> dict[Predicate, str]:
    """The name of the part of each predicate, as far as the format can say it."""
    if sink.table is not None:
        names = (sink.table.replace(PREDICATE, name) for name in view_names(predicates))
        return dict(zip(predicates, names, strict=True))
    format = SINK_FORMATS[sink.format]
    if format in rdf_writing.FORMATS:
        predicates = [p for p in predicates if rdf_writing.is_triples(p)]
    return part_names(predicates, format)


def _write_folder(
    reasoner: Reasoner, folder: Any, sink: Sink, wanted: Sequence[Predicate], stale: Sequence[str]
) -> dict[str, int]:
    """Write parts aside, and let each take the place of the old one."""
    if not wanted and not stale:
        return {}
    with _aside(folder) as aside:
        format = SINK_FORMATS[sink.format]
        written = reasoner.export(folder / aside, format=format, predicates=wanted) if wanted else {}
        old = folder.names()
        for name in written:
            if name in old:
                folder.move(name, f"{aside}/old-{name}")
            folder.move(f"{aside}/{name}", name)
        for name in stale:
            folder.delete(name)
    return {folder / name: rows for name, rows in written.items() if name != BAD_RECORDS}


def _write_table(reasoner: Reasoner, spark: Any, predicate: Predicate, name: str) -> int:
    """Write a table under another name and rename it; answers its rows."""
    aside = f"{name}__{_ASIDE.replace('-', '_')}"
    rows = reasoner.count(predicate)
    if predicate.arity:
        frame = reasoner.dataframe(predicate)
    else:
        frame = spark.createDataFrame([(rows > 0,)], "holds boolean")
    frame.write.mode("overwrite").saveAsTable(aside)
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"ALTER TABLE {aside} RENAME TO {name}")
    return rows


@contextmanager
def _aside(folder: Any) -> Iterator[str]:
    """A name in a folder for what is not whole yet; it is gone in the end, and so are those of runs that were killed."""
    folder.make()
    for name in folder.names():
        if name.startswith(f".{_ASIDE}"):
            folder.delete(name)
    name = folder.fresh(f".{_ASIDE}")
    try:
        yield name
    finally:
        folder.delete(name)
