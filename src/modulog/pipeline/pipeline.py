"""`Pipeline`, the facade: from raw sources to results that are kept up to date, again and again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modulog.engines.backend import Columns
from modulog.engines.registry import refuse_unknown
from modulog.errors import OptionError
from modulog.pipeline.check import Checked, check
from modulog.pipeline.config import (
    AVAILABLE_NOW,
    GONE,
    LIMITS,
    Configuration,
    EngineKind,
    Role,
    Sink,
    Source,
)
from modulog.pipeline.config_file import read_configuration
from modulog.pipeline.config_schema import gone
from modulog.pipeline.run import Mode, Run, Unwatched, Watch
from modulog.pipeline.summary import describe
from modulog.planning.passes import CHOICES

if TYPE_CHECKING:
    from modulog.pipeline.streams import Stream


OPTIONS = (*CHOICES, *LIMITS, "checkpoint_rounds")


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

    `run()` does the work: on Spark, or with `engine="local"` in this process, without Java. On Spark `workers=1` is one task that does everything in a worker, and more are executors that evaluate rules by SQL; unless
    it is given, it is 1 where the facts fit the memory of a worker. With the local engine it is the number of threads. Other options: `spark`, the settings of a session of our own; `modules`, `storage`, `decompose` and `maintenance`, as `Reasoner` takes
    them; `broadcast_limit`; `checkpoint_rounds`, after how many rounds of a fixpoint the work so far is committed.
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
        **options: Any,
    ) -> None:
        for name in GONE:
            if name in options:
                raise OptionError(gone(name))
        refuse_unknown(options, OPTIONS, Pipeline.__init__.__kwdefaults__)
        self.configuration = Configuration(
            rules=tuple(os.fspath(path) for path in rules),
            store=os.fspath(store),
            sources=tuple(sources),
            sinks=tuple(sinks),
            mode=mode,
            engine=engine,
            workers=workers,
            spark=spark or {},
            **options,
        )
        self._streams: list[Stream] = []

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        engine: EngineKind | None = None,
        workers: int | None = None,
    ) -> Pipeline:
        """The pipeline of a TOML file; paths in it are relative to its folder. `engine` and `workers` say where it runs, whatever the file says.

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
        """Take the batches of a streaming data frame, too: each is one update. `name` tells streams of one predicate apart in later runs."""
        if self.configuration.engine == "local":
            raise OptionError('a local pipeline has no streams: take the Spark engine, engine="spark"')
        from modulog.pipeline.streams import Stream

        key = name or f"{predicate}-{role}"
        self._streams.append(
            Stream(
                key,
                role,
                trigger,
                lambda spark: frame,
                lambda reasoner, batch: [reasoner.given(predicate, batch, columns=columns)],
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
        """Check everything, then bring the store and the sinks up to date; `full=True` starts again from the sources as they are."""
        checked = self._checked()
        if spark is not None and self.configuration.engine == "local":
            raise OptionError(
                '`spark` is a session, and the engine of this pipeline is local: leave it out, or take engine="spark"'
            )
        from modulog.pipeline.runner import run_alone

        return run_alone(checked, watch or Unwatched(), full=full, spark=spark, streams=self._streams)
