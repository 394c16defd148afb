"""Batches of Spark's Structured Streaming: each is one update, saved together with its number, so that none is applied twice.

A stream of files finds new files; they are read as all others are. Spark notes in a folder of the store how far it has come, after a batch was applied: a
batch that it gives again, because a run was killed in between, is known by its number.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modulog.engines.backend import FactFile
from modulog.engines.registry import files_on_spark
from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.formats.files import holds_facts
from modulog.formats.format import EXTENSIONS
from modulog.pipeline.config import AVAILABLE_NOW, Role, Source
from modulog.pipeline.pending_updates import read_files
from modulog.pipeline.run_state import StreamState

if TYPE_CHECKING:
    from modulog.reasoner.facts_in import Given
    from modulog.reasoner.reasoner import Reasoner

FILES = "path string, modificationTime timestamp, length long, content binary"
"""What Spark tells of files; their content is not read."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Batches to add or to delete: `open` makes the streaming frame, None if nothing has come yet, `read` the facts of one batch of it."""

    key: str
    role: Role
    trigger: str
    open: Callable[[Any], Any]
    read: Callable[[Reasoner, Any], list[Given]]


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

    def read(reasoner: Reasoner, batch: Any) -> list[Given]:
        files = []
        for path in sorted(row["path"].removeprefix("file:") for row in batch.collect()):
            if source.format is None and not holds_facts(path):
                warnings.warn(f"{path}: skipped: not {', '.join(EXTENSIONS)}", DataWarning, stacklevel=1)
            else:
                files += files_on_spark(batch.sparkSession, path, source.format)
        return read_files(reasoner, source, files)

    return Stream(source.key, source.role or "add", source.trigger, open, read)


def run_stream(
    spark: Any, stream: Stream, known: StreamState, folder: Path, take: Callable[[Any, StreamState], None]
) -> None:
    """Hand every batch that has not been applied to `take`, with the state after it, until the trigger has enough."""
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
