"""What a run has to do, found before any source is read: the sources as they are, and which of them will be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modulog.engines.backend import FactFile
from modulog.pipeline.changed_sources import Survey, survey
from modulog.pipeline.check import Checked
from modulog.pipeline.config import Source
from modulog.pipeline.run_mode import Way
from modulog.pipeline.run_state import Files
from modulog.pipeline.source_files import AT_ONCE, checksum

if TYPE_CHECKING:
    from modulog.pipeline.host import LocalHost


@dataclass(frozen=True, slots=True)
class Work:
    """A pipeline in which nothing is wrong, how it has to be run, and what its sources hold now."""

    checked: Checked
    way: Way
    found: Survey

    def to_read(self) -> list[Source]:
        """The sources that are read as wholes, or may be: all of a full run, otherwise those that have changed and those that fill the same predicates."""
        plain = [source for source in self.checked.configuration.sources if not source.is_batch]
        known, found = self.way.known, self.found
        if known is None:
            return plain
        if not found.changed and not found.concerned:
            return []
        names = {predicate.name for predicate in found.concerned}
        for source in found.changed:
            if source.predicates is None:  # its files tell
                return plain
            names |= set(source.predicates)
        changed = {source.key for source in found.changed}
        states = known.state.sources
        return [
            s for s in plain if s.key in changed or any(p.name in names for p in states[s.key].predicates)
        ]


Ahead = Mapping[str, Future[str]]
"""Checksums by path that are being computed."""


@contextmanager
def checksums_ahead(checked: Checked) -> Iterator[Ahead]:
    """Compute the checksums of the files that lie here, while Spark starts."""
    paths = {
        str(file.path)
        for source, files in zip(checked.configuration.sources, checked.files, strict=True)
        for file in files or ()
        if not source.stream
    }
    threads = ThreadPoolExecutor(AT_ONCE)
    try:
        yield {path: threads.submit(checksum, path) for path in sorted(paths)}
    finally:
        threads.shutdown(cancel_futures=True)


def survey_on(host: LocalHost, checked: Checked, way: Way, ahead: Ahead) -> Survey:
    """The sources as they are, before one of them is read: what changes later is seen by the next run."""
    files: dict[str, list[FactFile] | None] = {}
    sums: dict[str, Files | None] = {}
    for source, here in zip(checked.configuration.sources, checked.files, strict=True):
        found = None if source.table or source.stream else here
        if source.path is not None and here is None and not source.stream:
            found = host.files(source)
        files[source.key] = found
        if found is not None and all(str(file.path) in ahead for file in found):
            sums[source.key] = {str(file.path): ahead[str(file.path)].result() for file in found}
        else:
            sums[source.key] = None if found is None else host.checksums(found)
    return survey(checked.configuration, checked.program, way.known, files, sums)
