"""Results to where they are wanted: each predicate written aside, and moved to its place when it is whole.

A folder has a part for each predicate, as `Reasoner.export` names it; tables are one for each predicate. Only parts of predicates that have changed are written. Whoever
is killed between two moves leaves the rest to the next run, which knows what sinks do not have yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from modulog.answering import BAD_RECORDS
from modulog.errors import DataError
from modulog.formats import rdf_writing
from modulog.formats.exporting import part_names
from modulog.language.model import Predicate
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
    wanted = [p for p in parts if known is None or p.name in changed]
    stale = [name for name in known or () if name not in parts.values()]
    if sink.table is not None:
        written = {parts[p]: _write_table(reasoner, spark, p, parts[p]) for p in wanted}
        for name in stale:
            spark.sql(f"DROP TABLE IF EXISTS {name}")
    else:
        written = _write_folder(reasoner, Place(spark, sink.place), sink, wanted, stale)
    return written, tuple(parts.values())


def predicates_of(sink: Sink, reasoner: Reasoner) -> list[Predicate]:
    """The predicates that a sink takes: those it names, those that the program gives out, or all."""
    program = reasoner.program
    named = sink.predicates or (*program.outputs, *(directive.predicate for directive in program.exports))
    return [p for p in reasoner.predicates() if not named or p.name in named]


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
    reasoner: Reasoner, place: Place, sink: Sink, wanted: Sequence[Predicate], stale: Sequence[str]
) -> dict[str, int]:
    if not wanted and not stale:
        return {}
    with place.aside() as aside:
        format = SINK_FORMATS[sink.format]
        written = reasoner.export(aside, format=format, predicates=wanted) if wanted else {}
        for name in written:
            place.take(aside, name)
        for name in stale:
            place.delete(name)
    return {f"{place.folder}/{name}": rows for name, rows in written.items() if name != BAD_RECORDS}


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


class Place:
    """A folder of parts on any file system that Spark knows."""

    def __init__(self, spark: Any, folder: str) -> None:
        self.folder = folder.rstrip("/")
        self._jvm = spark._jvm
        self._system = self._path("").getFileSystem(spark._jsc.hadoopConfiguration())

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.folder}/{name}" if name else self.folder)

    @contextmanager
    def aside(self) -> Iterator[str]:
        """A folder in this one for what is not whole yet; it is gone in the end, and so are those of runs that were killed."""
        self._system.mkdirs(self._path(""))
        for entry in self._system.listStatus(self._path("")):
            if entry.getPath().getName().startswith(f".{_ASIDE}"):
                self._system.delete(entry.getPath(), True)
        name = f".{_ASIDE}-{uuid4().hex[:12]}"
        try:
            yield f"{self.folder}/{name}"
        finally:
            self._system.delete(self._path(name), True)

    def take(self, aside: str, name: str) -> None:
        """Let a part that is whole take the place of the old one."""
        new, place = self._jvm.org.apache.hadoop.fs.Path(f"{aside}/{name}"), self._path(name)
        old = self._jvm.org.apache.hadoop.fs.Path(f"{aside}/old-{name}")
        if self._system.exists(place) and not self._system.rename(place, old):
            raise DataError(f"{self.folder}/{name}: cannot be replaced")
        if not self._system.rename(new, place):
            raise DataError(f"{self.folder}/{name}: cannot be written")

    def delete(self, name: str) -> None:
        """Remove a part."""
        self._system.delete(self._path(name), True)
