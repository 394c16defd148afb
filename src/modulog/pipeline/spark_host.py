"""A run on Spark: a session, the file systems that it knows, tables of its catalogue, and Structured
Streaming.

A batch of a stream is one update, saved together with its number, so that none is applied twice. A stream of
files finds new files; they are read as all others are. Spark notes in a folder of the store how far it has
come, after a batch was applied: a batch that it gives again, because a run was killed in between, is known by
its number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modulog.engines.options import SparkOptions
from modulog.engines.registry import files_on_spark, folder_on_spark, start_spark
from modulog.errors import DataError
from modulog.formats import DataWarning, warn_user
from modulog.formats.fact_file import FactFile
from modulog.formats.files import holds_facts, is_uri
from modulog.formats.folders import Folder
from modulog.formats.format import EXTENSIONS
from modulog.pipeline.config import AVAILABLE_NOW, Configuration, EngineKind, Role, Sink, Source
from modulog.pipeline.host import LocalHost, Take
from modulog.pipeline.pending_updates import file_options
from modulog.pipeline.run import START
from modulog.pipeline.run_state import StreamState
from modulog.pipeline.sinks import ASIDE
from modulog.pipeline.source_files import checksum
from modulog.pipeline.survey import Work
from modulog.reasoner.fact_batch import FactBatch, read
from modulog.store.draft import TASKS
from modulog.task.call import open_place
from modulog.task.decision import Decision, decide

if TYPE_CHECKING:
    from modulog.language.model import Predicate
    from modulog.pipeline.checkpoints import Committed
    from modulog.pipeline.log import RunLog
    from modulog.reasoner.reasoner import Reasoner

FILES = "path string, modificationTime timestamp, length long, content binary"
"""What Spark tells of files; their content is not read."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Batches to add or to delete: `open` makes the streaming frame, None if nothing has come yet, `read` the
    facts of one batch of it.
    """

    key: str
    role: Role
    trigger: str
    open: Callable[[Any], Any]
    read: Callable[[Any], FactBatch]


def files_on(spark: Any, source: Source) -> list[FactFile]:
    """The files of a source on any file system that Spark knows; a batch may have none yet."""
    try:
        return files_on_spark(spark, source.place, source.format)
    except DataError:
        if source.is_batch:
            return []
        raise


def file_stream(source: Source) -> Stream:
    """The new files of a source."""

    def open(spark: Any) -> Any:
        if not files_on(spark, source):
            return None
        return spark.readStream.format("binaryFile").schema(FILES).load(source.place).select("path")

    def read_batch(batch: Any) -> FactBatch:
        files = []
        for path in sorted(row["path"].removeprefix("file:") for row in batch.collect()):
            if source.format is None and not holds_facts(path):
                warn_user(f"{path}: skipped: not {', '.join(EXTENSIONS)}", DataWarning)
            else:
                files += files_on_spark(batch.sparkSession, path, source.format)
        return reduce(add, (read(file.path, **file_options(source, file)) for file in files), FactBatch([]))

    return Stream(source.key, source.role or "add", source.trigger, open, read_batch)


def run_stream(
    spark: Any, stream: Stream, known: StreamState, folder: Path, take: Callable[[Any, StreamState], None]
) -> None:
    """Hand every batch that has not been applied to `take`, with the state after it, until the trigger has
    enough.
    """
    place = folder.absolute() / known.checkpoint
    failed: list[BaseException] = []

    def apply(batch: Any, number: int) -> None:
        name = json.loads((place / "metadata").read_text("utf-8"))["id"]
        if name == known.id and number <= known.batch:
            return
        try:
            take(batch, replace(known, id=name, batch=number))
        except BaseException as error:
            failed.append(error)
            raise

    if (frame := stream.open(spark)) is None:
        return
    available = stream.trigger == AVAILABLE_NOW
    trigger: dict[str, Any] = {"availableNow": True} if available else {"processingTime": stream.trigger}
    writer = frame.writeStream.foreachBatch(apply).trigger(**trigger)
    query = writer.option("checkpointLocation", f"file://{place}").start()
    try:
        query.awaitTermination()
    except Exception:
        if failed:
            raise failed[0] from None
        raise
    finally:
        query.stop()


class SparkHost(LocalHost):
    """A session of Spark, whose executors evaluate rules, unless one task does all the work."""

    engine: EngineKind = "spark"
    keeps_updates = True

    def __init__(self, spark: Any, configuration: Configuration) -> None:
        super().__init__(configuration.workers)
        self.spark, self._limits = spark, configuration.limits
        self._store = Path(configuration.store).absolute()
        self.sizes: dict[str, int] = {}

    def place(self) -> Any:
        """Spark as the place of a task, with a folder in the store."""
        return open_place(SparkOptions(session=self.spark, folder=self._store / TASKS))

    def decide(self, work: Work) -> Decision:
        """One task, if it can have the memory that the sources, and the store of an incremental run,
        ask for.
        """
        place = self.place()
        try:
            for source in work.to_read():
                self._grow(place.sizes(source.place, source.format))
            for _, files in work.found.batches:
                self._grow(place.file_sizes(files))
            if work.way.known is not None:
                self._grow({"store": sum(file.bytes for file in work.way.known.manifest.files())})
            decision = decide(self.sizes, place.room, place.cores, self.workers)
        finally:
            place.close()
        self.workers = decision.workers
        return decision

    def _grow(self, sizes: Mapping[str, int]) -> None:
        for format, size in sizes.items():
            self.sizes[format] = self.sizes.get(format, 0) + size

    def options(self, checkpoints: Committed | None) -> dict[str, Any]:
        """As `LocalHost.options`; checkpoints lie in the folder in which the reasoner keeps facts and
        terms.
        """
        folder = None if checkpoints is None else checkpoints.folder
        spark = SparkOptions(session=self.spark, folder=folder, **self._limits)
        return {"spark": spark, "workers": self.workers}

    # ---- Files

    def files(self, source: Source) -> list[FactFile]:
        """The files of a source on any file system that Spark knows; a batch may have none yet."""
        return files_on(self.spark, source)

    def _checksum(self, path: str) -> str:
        """Files of other file systems are read by Spark's driver."""
        if not is_uri(path):
            return checksum(path)
        jvm = self.spark._jvm
        place = jvm.org.apache.hadoop.fs.Path(path)
        stream = place.getFileSystem(self.spark._jsc.hadoopConfiguration()).open(place)
        try:
            return str(jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
        finally:
            stream.close()

    def folder(self, place: str) -> Folder:
        """A folder on any file system that Spark knows."""
        found: Folder = folder_on_spark(self.spark, place)
        return found

    # ---- Tables and streams

    def write_sink(
        self, reasoner: Reasoner, sink: Sink, parts: Mapping[Predicate, str], stale: Sequence[str]
    ) -> dict[str, int]:
        """As `LocalHost.write_sink`; a part may be a table."""
        if sink.table is None:
            return super().write_sink(reasoner, sink, parts, stale)
        written = {}
        for predicate, name in parts.items():
            written[name] = reasoner.count(predicate)
            self.write_table(name, written[name], self._frame(reasoner, predicate))
        self.drop_tables(stale)
        return written

    def _frame(self, reasoner: Reasoner, predicate: Predicate) -> Callable[[], Any] | None:
        return (lambda: reasoner.to_spark(predicate)) if predicate.arity else None

    def write_table(self, name: str, rows: int, frame: Callable[[], Any] | None) -> None:
        """Write a table under another name, and rename it when it is whole; without a frame it has one value,
        whether there is a row.
        """
        aside = f"{name}__{ASIDE.replace('-', '_')}"
        made = frame() if frame else self.spark.createDataFrame([(rows > 0,)], "holds boolean")
        made.write.mode("overwrite").saveAsTable(aside)
        self.drop_tables([name])
        self.spark.sql(f"ALTER TABLE {aside} RENAME TO {name}")

    def drop_tables(self, names: Sequence[str]) -> None:
        """Remove tables of a sink."""
        for name in names:
            self.spark.sql(f"DROP TABLE IF EXISTS {name}")

    def run_stream(self, stream: Stream, known: StreamState, folder: Path, take: Take) -> None:
        """As `LocalHost.run_stream`."""
        run_stream(self.spark, stream, known, folder, take)


@contextmanager
def session(configuration: Configuration, log: RunLog, spark: Any) -> Iterator[Any]:
    """The session that was given, one that is active, or one of our own; that one ends with the run."""
    if spark is not None:
        yield spark
        return
    found, stop = start_spark(configuration.spark, log.spark_log, lambda: log.stage(START))
    try:
        yield found
    finally:
        stop()
