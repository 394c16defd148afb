"""What a run would do, in words: no Spark is started and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator

from modulog.engines.backend import FactFile
from modulog.pipeline.changed_sources import Survey, is_changed, survey
from modulog.pipeline.check import Checked
from modulog.pipeline.config import Sink, Source
from modulog.pipeline.host import LocalHost
from modulog.pipeline.run_mode import way_of
from modulog.pipeline.run_state import Known
from modulog.pipeline.source_files import size_of
from modulog.planning.passes import Switches, make_plan
from modulog.wording import plural

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def describe(checked: Checked, full: bool) -> str:
    """Sources with sizes and what changed, the strata of the plan, and the sinks."""
    configuration = checked.configuration
    way = way_of(checked, full)
    lines = [f"{way.mode} run: {way.reason}", f"store {configuration.store}", "sources"]
    lines += _sources(checked, way.known)
    lines.append("strata")
    plan = make_plan(checked.program, Switches(**configuration.switches))
    lines += [f"  {line}" for line in str(plan).splitlines()]
    lines.append("sinks")
    lines += [f"  {_sink(sink, way.mode == 'incremental')}" for sink in configuration.sinks]
    return "\n".join(lines)


def _sources(checked: Checked, known: Known | None) -> Iterator[str]:
    configuration = checked.configuration
    here = {s.key: None if s.stream else f for s, f in zip(configuration.sources, checked.files, strict=True)}
    sums = {key: None if files is None else LocalHost().checksums(files) for key, files in here.items()}
    found = survey(configuration, checked.program, known, here, sums)
    waiting = {source.key: files for source, files in found.batches}
    for source in configuration.sources:
        files = here[source.key]
        size = "" if files is None else f"  {plural(len(files), 'file')}, {_size(size_of(files))}"
        yield f"  {source.place}{size}  {_fate(source, files, known, found, waiting)}"


def _fate(
    source: Source,
    files: list[FactFile] | None,
    known: Known | None,
    found: Survey,
    waiting: dict[str, list[FactFile]],
) -> str:
    """What happens to a source."""
    if source.stream:
        return f"new files are {_does(source)} as batches of a stream ({source.trigger})"
    if files is None:
        return (
            "read"
            if known is None
            else "compared"
            if source.table
            else "compared by checksums that Spark takes"
        )
    if source.role:
        new = [str(file.path) for file in waiting[source.key]]
        return f"{_does(source)}: {', '.join(new)}" if new else "nothing new"
    if known is None:
        return "read"
    if not is_changed(source, known.state, found.sums[source.key]) and known.current:
        return "unchanged"
    before = known.state.sources.get(source.key)
    old, now = (before.files or {}) if before else {}, found.sums[source.key] or {}
    other = sorted(path for path in {*old, *now} if old.get(path) != now.get(path))
    return f"compared; changed: {', '.join(other)}" if other else "compared"


def _does(source: Source) -> str:
    return "deleted" if source.role == "delete" else "added"


def _sink(sink: Sink, only_changed: bool) -> str:
    what = ", ".join(sink.predicates) if sink.predicates else "all predicates that the program gives out"
    when = ", where their facts change" if only_changed else ""
    return f"{sink.place} ({sink.format}): {what}{when}"


def _size(size: float) -> str:
    """A number of bytes.

    >>> _size(999), _size(1_234_567)
    ('999 bytes', '1.2 MB')
    """
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
