"""`Pipeline`, the facade: from raw sources to results that are kept up to date, again and again; and what a
run would do, in words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

from modulog.engines.options import OF_SWITCHES, refuse
from modulog.errors import OptionError
from modulog.formats.fact_file import Columns, FactFile
from modulog.pipeline.check import Checked, check
from modulog.pipeline.config import (
    AVAILABLE_NOW,
    GONE,
    Configuration,
    EngineKind,
    Role,
    Sink,
    Source,
    gone,
)
from modulog.pipeline.config_file import read_configuration
from modulog.pipeline.host import LocalHost
from modulog.pipeline.run import Mode, Run, Unwatched, Watch
from modulog.pipeline.run_state import Known, way_of
from modulog.pipeline.source_files import size_of
from modulog.pipeline.survey import Survey, is_changed, survey
from modulog.planning.passes import CHOICES, DEFAULT, Switches, make_plan
from modulog.reasoner.fact_batch import facts
from modulog.wording import plural

if TYPE_CHECKING:
    from modulog.pipeline.spark_host import Stream


class Pipeline:
    """Sources, rules and sinks over one store: run it again when sources have changed.

    >>> from tempfile import TemporaryDirectory
    >>> from modulog import Pipeline
    >>> from modulog.pipeline import Sink, Source
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "rules.rls").write_text("path(?x, ?y) :- edge(?x, ?y) .")
    ...     _ = Path(folder, "links.csv").write_text("from,to\\na,b\\n")
    ...     pipeline = Pipeline(
    ...         sources=[Source(f"{folder}/links.csv", header=True, map={"edge": ["from", "to"]})],
    ...         rules=[f"{folder}/rules.rls"],
    ...         sinks=[Sink(f"{folder}/results", predicates=("path",))],
    ...         store=f"{folder}/store",
    ...         mode="incremental",
    ...     )
    ...     pipeline.check()

    `run()` does the work.

    Args:
        rules: Files of rules, which make one program.
        store: The folder of the store.
        sources: Where facts come from.
        sinks: Where results go.
        mode: "full" reads everything in each run, "incremental" what has changed since the last one.
        engine: "spark", or "local" for this process, without Java.
        workers: On Spark 1 is one task that does everything in a worker, and more are executors that evaluate rules by
            SQL; unless it is given, it is 1 where the facts fit the memory of a worker. With the local engine it is the
            number of threads.
        spark: The settings of a session of our own.
        switches: How rules are evaluated, as `Reasoner` takes them; but for limits.
        broadcast_limit: See `SparkOptions`.
        checkpoint_rounds: After how many rounds of a fixpoint the work so far is committed.
    """

    def __init__(
        self,
        *,
        rules: Iterable[str | os.PathLike[str]],
        store: str | os.PathLike[str],
        sources: Sequence[Source] = (),
        sinks: Sequence[Sink] = (),
        mode: Mode = "full",
        engine: EngineKind = "spark",
        workers: int | None = None,
        spark: Mapping[str, str] | None = None,
        switches: Switches = DEFAULT,
        broadcast_limit: int | None = None,
        checkpoint_rounds: int = 10,
        **unknown: Never,
    ) -> None:
        for name in GONE:
            if name in unknown:
                raise OptionError(gone(name))
        moved = {name: spelt for name, spelt in OF_SWITCHES.items() if name in CHOICES}
        refuse(unknown, Pipeline.__init__, moved)
        self.configuration = Configuration(
            rules=tuple(os.fspath(path) for path in rules),
            store=os.fspath(store),
            sources=tuple(sources),
            sinks=tuple(sinks),
            mode=mode,
            engine=engine,
            workers=workers,
            spark=spark or {},
            broadcast_limit=broadcast_limit,
            checkpoint_rounds=checkpoint_rounds,
            **{name: getattr(switches, name) for name in CHOICES},
        )
        self._streams: list[Stream] = []

    def __repr__(self) -> str:
        made = self.configuration
        sizes = f"{plural(len(made.sources), 'source')}, {plural(len(made.sinks), 'sink')}"
        return f"<Pipeline: {sizes}, {made.mode}, store {made.store}>"

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        engine: EngineKind | None = None,
        workers: int | None = None,
    ) -> Pipeline:
        """The pipeline of a TOML file; paths in it are relative to its folder. `engine` and `workers` say
        where it runs, whatever the file says.

        >>> from tempfile import TemporaryDirectory
        >>> from modulog.errors import PipelineError
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "pipeline.toml")
        ...     _ = file.write_text('store = "store"\\nrules = ["rules.rls"]\\nmod = "full"\\n')
        ...     try:
        ...         Pipeline.from_file(file)
        ...     except PipelineError as error:
        ...         print(str(error).replace(folder, "").replace("/rules", "rules"))
        /pipeline.toml:2: rules.rls: there is no such file
        /pipeline.toml:3: there is no key `mod` here; did you mean `mode`?
        """
        made = cls.__new__(cls)
        made.configuration, made._streams = read_configuration(Path(path), engine, workers), []
        return made

    def stream(
        self,
        frame: Any,
        predicate: str,
        *,
        columns: Columns | None = None,
        role: Role = "add",
        name: str | None = None,
        trigger: str = AVAILABLE_NOW,
    ) -> None:
        """Take the batches of a streaming data frame, too: each is one update. `name` tells streams of one
        predicate apart in later runs.
        """
        if self.configuration.engine == "local":
            raise OptionError('a local pipeline has no streams: take the Spark engine, engine="spark"')
        from modulog.pipeline.spark_host import Stream

        key = name or f"{predicate}-{role}"
        self._streams.append(
            Stream(
                key,
                role,
                trigger,
                lambda spark: frame,
                lambda batch: facts(predicate, batch, columns=columns),
            )
        )

    def check(self) -> None:
        """Look for mistakes in everything that can be looked at without Spark; an error lists all of them."""
        self._checked()

    def _checked(self) -> Checked:
        return check(self.configuration)

    def describe(self, *, full: bool = False) -> str:
        """What `run` would do: sources, strata and sinks, without Spark."""
        return describe(self._checked(), full)

    def run(self, *, full: bool = False, spark: Any = None, watch: Watch | None = None) -> Run:
        """Check everything, then bring the store and the sinks up to date; `full=True` starts again from the
        sources as they are.
        """
        checked = self._checked()
        if spark is not None and self.configuration.engine == "local":
            raise OptionError(
                '`spark` is a session, and the engine of this pipeline is local: leave it out, or take engine="spark"'
            )
        from modulog.pipeline.runner import run_alone

        return run_alone(checked, watch or Unwatched(), full=full, spark=spark, streams=self._streams)


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
