"""Answers of a reasoner on Spark, and the net change of an update: what is small comes with the task, the
rest in files that the task has written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from modulog.errors import DataError, QueryError
from modulog.evaluation.statistics import UpdateStatistics
from modulog.formats.files import BAD_RECORDS
from modulog.formats.format import WriteFormat
from modulog.language.model import Predicate
from modulog.language.triples import VIEWS, TripleViews, is_rdf
from modulog.maintenance.change import Change, Name, seen_rows
from modulog.reasoner.predicate_names import view_names
from modulog.reasoner.queries import checked_columns
from modulog.task import worker
from modulog.task.states import forget
from modulog.task.task_base import TaskBase
from modulog.task.worker import Outcome
from modulog.terms.arrow import encode_arrow
from modulog.terms.dictionary import Dictionary
from modulog.terms.python_values import IRI, value

if TYPE_CHECKING:
    import pyarrow as pa


class TaskAnswers(TaskBase):
    """What a reasoner answers, as `Reasoner` does."""

    def predicates(self) -> list[Predicate]:
        """As `Reasoner.predicates` says."""
        return self.perform(methodcaller("predicates"))

    def rows(self, predicate: Name, *, limit: int | None = None) -> list[tuple[Any, ...]]:
        """As `Reasoner.rows` says."""
        return self.perform(methodcaller("rows", predicate, limit=limit))

    def query(self, text: str, *, limit: int | None = None) -> pa.Table:
        """As `Reasoner.query` says."""
        return self.perform(methodcaller("query", text, limit=limit))

    def count(self, text: Name) -> int:
        """As `Reasoner.count` says."""
        return int(self.perform(methodcaller("count", text)))

    def contains(self, predicate: Name, row: Sequence[object]) -> bool:
        """As `Reasoner.contains` says."""
        return bool(self.perform(methodcaller("contains", predicate, row)))

    def _stream(
        self, predicate: Name, columns: Sequence[str] | None, limit: int | None = None
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """As `Reasoner._stream` says: the facts go through a file."""
        if (executors := self._spread()) is not None:
            return executors._stream(predicate, columns, limit)
        import pyarrow as pa

        self._ready()
        outcome = self._task(partial(worker.write_batches, predicate, columns, limit), "list facts, one task")
        reader = pa.ipc.open_file(pa.memory_map(str(Path(outcome.folder, worker.ANSWERS))))

        def batches() -> Iterator[pa.RecordBatch]:
            try:
                yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
            finally:
                forget(Path(outcome.folder).parent)

        return reader.schema, batches()

    def export(
        self,
        folder: str | os.PathLike[str],
        *,
        format: WriteFormat = "csv",
        predicates: Sequence[Name] | None = None,
    ) -> dict[str, int]:
        """As `Reasoner.export` says: a task writes beside the place, and files are moved when all are
        whole.
        """
        place = os.fspath(folder)
        if (executors := self._spread()) is not None:
            return executors.export(place, format=format, predicates=predicates)
        if not self._place.is_seen(place):
            outcome = self._export(format, predicates)
            parts = Path(outcome.folder, worker.PARTS)
            self._bad_beside(parts, outcome.result)
            self._place.put(parts, place)
            forget(Path(outcome.folder).parent)
            return outcome.result  # type: ignore[no-any-return]
        with _aside(self._place.path(place)) as aside:
            outcome = self._export(format, predicates, aside)
            parts = aside / Path(outcome.folder).name
            self._bad_beside(parts, outcome.result)
            _move_all(parts, aside.parent)
            forget(Path(outcome.folder).parent)
        return outcome.result  # type: ignore[no-any-return]

    def _export(
        self, format: WriteFormat, predicates: Sequence[Name] | None, place: Path | None = None
    ) -> Outcome:
        self._ready()
        return self._task(partial(worker.export, format, predicates, place), "export, one task")

    def _bad_beside(self, folder: Path, written: dict[str, int]) -> None:
        """Put the records that were set aside where an export puts them."""
        if self._aside:
            self._write_bad(folder / BAD_RECORDS)
            written[BAD_RECORDS] = sum(count for _, count in self._aside)

    def bad_records(self, *, limit: int | None = None) -> pa.Table:
        """As `Reasoner.bad_records` says."""
        if self._executors is not None:
            return self._executors.bad_records(limit=limit)
        import pyarrow as pa
        import pyarrow.parquet as pq

        from modulog.formats.bad_records import SCHEMA

        if limit is not None and limit < 0:
            raise QueryError(f"a limit is a number of rows, not {limit}")
        tables = [pq.read_table(path, schema=SCHEMA) for path, _ in self._aside]
        whole = pa.concat_tables([SCHEMA.empty_table(), *tables])
        return whole if limit is None else whole.slice(0, limit)

    def _write_bad(self, path: Path) -> None:
        import pyarrow.parquet as pq

        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(self.bad_records(), path)

    def to_spark(self, predicate: Name, *, columns: Sequence[str] | None = None) -> Any:
        """As `Reasoner.to_spark` says: a task writes the facts, and Spark reads them."""
        if (executors := self._spread()) is not None:
            return executors.to_spark(predicate, columns=columns)
        [frame] = self._frames([predicate])
        return frame if columns is None else _renamed(frame, columns)

    def _frames(self, predicates: Sequence[Name]) -> list[Any]:
        outcome = self._export("parquet", predicates)
        return [self._place.parquet(Path(outcome.folder, worker.PARTS, name)) for name in outcome.result]

    def create_views(self) -> list[str]:
        """As `Reasoner.create_views` says."""
        if (executors := self._spread()) is not None:
            return executors.create_views()
        predicates = self.predicates()
        names = list(view_names(predicates))
        for frame, name in zip(self._frames(predicates), names, strict=True):
            frame.createOrReplaceTempView(name)
        return names


def _renamed(frame: Any, columns: Sequence[str]) -> Any:
    """A data frame of facts with other names of columns; a QueryError if these do not fit."""
    return frame.toDF(*checked_columns(Predicate("the facts", len(frame.columns)), columns))


@contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    """A folder inside one that is to get files; it is gone in the end."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        aside = folder / f".modulog-task-{uuid4().hex[:12]}"
        aside.mkdir()
    except OSError as error:
        raise DataError(f"cannot make the folder {folder}: {error.strerror}") from error
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _move_all(parts: Path, folder: Path) -> None:
    """Let whole files take their places; who runs the task must see the folder as we do."""
    if not parts.is_dir():
        raise DataError(f"{folder}: the executors do not see this folder of the driver")
    for path in sorted(parts.iterdir()):
        target = folder / path.name
        if target.is_dir():
            shutil.rmtree(target)
        path.replace(target)


FOLDER = "change"

Choosing = Callable[[set[Predicate], Name], Predicate]
"""Finds the predicate that somebody names among some."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a task says of an update; `known` are the predicates that one may ask for."""

    added: Mapping[str, int]
    deleted: Mapping[str, int]
    ignored: int
    still_derived: int
    statistics: UpdateStatistics
    known: tuple[Predicate, ...]


def write_change(change: Change, folder: Path, known: Iterable[Predicate]) -> Counts:
    """Write the facts of a change into a folder of an attempt; answers the rest. `known` are the predicates
    that there are.
    """
    change.write(folder / FOLDER)
    counts = change.added, change.deleted, change.ignored, change.still_derived
    return Counts(*counts, change.statistics, tuple({*known, *change.predicates()}))


class TaskChange(Change):
    """A change of which the facts lie in a file until the next update."""

    def __init__(
        self, counts: Counts, folder: Path, views: TripleViews, choose: Choosing, frame: Callable[[Path], Any]
    ) -> None:
        self.ignored, self.still_derived = counts.ignored, counts.still_derived
        self.statistics = counts.statistics
        self.__dict__ |= {"added": dict(counts.added), "deleted": dict(counts.deleted)}
        self._known, self._folder, self._views = set(counts.known), folder / FOLDER, views
        self._choose, self._frame = choose, frame

    def rows(self, predicate: str | IRI | Predicate, *, deleted: bool = False) -> list[tuple[Any, ...]]:
        """The facts of a predicate that were added, or deleted, until the next update."""
        views = VIEWS if any(map(is_rdf, self._known)) else ()
        chosen = self._choose(self._known.union(views), predicate)
        if chosen not in VIEWS or chosen in self._views.read:
            return list(self._rows(chosen, deleted))
        parts = ((p, self._rows(p, deleted)) for p in sorted(self._known))
        return list(seen_rows(chosen, parts, self._views))

    def _rows(self, predicate: Predicate, deleted: bool) -> Iterator[tuple[Any, ...]]:
        """The changed facts of one predicate."""
        found = pq.read_table(
            self._folder, filters=[("predicate", "=", predicate.name), ("sign", "=", -1 if deleted else 1)]
        )
        for chunk in found.column("terms").chunks:
            rows = chunk.filter(pc.equal(pc.list_value_length(chunk), predicate.arity))
            if not predicate.arity:
                yield from [()] * len(rows)
                continue
            dictionary = Dictionary()
            ids = encode_arrow(dictionary, rows.flatten(), turtle=True).reshape(-1, predicate.arity)
            values = [value(constant) for constant in dictionary.decode(np.arange(len(dictionary)))]
            yield from (tuple(values[i] for i in row) for row in ids.tolist())

    def to_spark(self) -> Any:
        """The whole change until the next update: predicate, sign (1 has come, -1 has gone) and terms, in
        Turtle form.
        """
        return self._frame(self._folder)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write what `to_spark` returns as Parquet into a new folder of this machine."""
        shutil.copytree(self._folder, folder)

    def __bool__(self) -> bool:
        return bool(self.added or self.deleted)
