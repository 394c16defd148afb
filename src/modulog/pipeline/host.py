"""Where a pipeline runs: on this machine here; on Spark, one task or all executors, in `spark_host`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modulog.errors import NotSupported
from modulog.formats.fact_file import FactFile
from modulog.formats.folders import Folder, LocalFolder
from modulog.formats.format import SINKS
from modulog.pipeline.config import Configuration, EngineKind, Sink, Source
from modulog.pipeline.pending_updates import read_files
from modulog.pipeline.run_state import Files, StreamState
from modulog.pipeline.sinks import write_folder
from modulog.pipeline.source_files import AT_ONCE, checksum, local_files
from modulog.reasoner import for_pipelines
from modulog.reasoner.fact_batch import read

if TYPE_CHECKING:
    from modulog.language.model import Predicate
    from modulog.pipeline.checkpoints import Committed
    from modulog.pipeline.log import RunLog
    from modulog.pipeline.spark_host import Stream
    from modulog.pipeline.survey import Work
    from modulog.reasoner.for_pipelines import Given
    from modulog.reasoner.reasoner import Reasoner
    from modulog.task.decision import Decision

Take = Callable[[Any, StreamState], None]
"""What is done with a batch of a stream, and with the state after it."""


class LocalHost:
    """One process of this machine, with its files; `workers` are the threads of the engine."""

    engine: EngineKind = "local"
    keeps_updates = False
    """Whether an update that was killed goes on where it was; otherwise it begins again with the last state
    that was saved.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers

    def decide(self, work: Work) -> Decision | None:
        """Whether one task of Spark does the work, or all executors; None where Spark does nothing."""
        return None

    # ---- Reasoners

    def options(self, checkpoints: Committed | None) -> dict[str, Any]:
        """What a reasoner is made with, or opened with, whose work these checkpoints keep."""
        return {"engine": "local", "workers": self.workers}

    def load(self, reasoner: Reasoner, source: Source) -> Sequence[Predicate]:
        """Load all facts of a source; answers the predicates that it fills."""
        return reasoner.load(source.place, **source.options())

    def read(self, reasoner: Reasoner, source: Source) -> Given:
        """All facts of a source, for an update."""
        return for_pipelines.given(reasoner, read(source.place, **source.options()))

    def read_files(self, reasoner: Reasoner, source: Source, files: Iterable[FactFile]) -> list[Given]:
        """The facts of some files of a source, as they would be read with all others."""
        return read_files(reasoner, source, files)

    # ---- Files

    def files(self, source: Source) -> list[FactFile]:
        """The files of a source, wherever they are; a batch may have none yet."""
        return local_files(source)

    def checksums(self, files: Iterable[FactFile]) -> Files:
        """The SHA-256 of each file by path."""
        paths = [str(file.path) for file in files]
        with ThreadPoolExecutor(AT_ONCE) as threads:
            return dict(zip(paths, threads.map(self._checksum, paths), strict=True))

    def _checksum(self, path: str) -> str:
        return checksum(path)

    def folder(self, place: str) -> Folder:
        """The folder of a sink."""
        return LocalFolder(place)

    def write_sink(
        self, reasoner: Reasoner, sink: Sink, parts: Mapping[Predicate, str], stale: Sequence[str]
    ) -> dict[str, int]:
        """Write the parts of some predicates, and remove parts that are wanted no more; answers the rows by
        part.
        """
        folder = self.folder(sink.place)
        return write_folder(reasoner, folder, SINKS[sink.format], list(parts), stale)

    # ---- What only Spark has

    def run_stream(self, stream: Stream, known: StreamState, folder: Path, take: Take) -> None:
        """Hand every batch of a stream that has not been applied to `take`, until its trigger has enough."""
        raise NotSupported(f"{stream.key}: a local pipeline has no streams")


@contextmanager
def host_of(configuration: Configuration, log: RunLog, spark: Any) -> Iterator[LocalHost]:
    """The host of a run; a session of Spark of our own is stopped in the end."""
    if configuration.engine == "local":
        yield LocalHost(configuration.workers)
        return
    from modulog.pipeline.spark_host import SparkHost, session

    with session(configuration, log, spark) as found:
        yield SparkHost(found, configuration)
