"""The log of a run: a line of JSON for every stage, every round and everything that becomes known, in `runs/`
of the store's folder.

    {"at": "2026-03-01T04:00:02.118Z", "event": "stage", "stage": "read"}
    {"at": "2026-03-01T04:00:02.120Z", "event": "note", "stage": "read", "source": "orders/*.csv"}
    {"at": "2026-03-01T04:00:09.870Z", "event": "done", "stage": "read", "seconds": 7.752}

A line is written as soon as it is true: the log of a run that was killed ends where it was. The report is
made from these lines alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from modulog.errors import DataError, ModulogError
from modulog.formats.folders import replacing
from modulog.kernels.compile_time import compile_time, working_time
from modulog.pipeline.config import Configuration
from modulog.pipeline.report import report
from modulog.pipeline.run import COMPILING, Run, Watch
from modulog.store.draft import RUNS, check_target
from modulog.store.locks import lock_for_running
from modulog.version import __version__


class RunLog:
    """A `Watch` that writes down what it is told, and tells another."""

    def __init__(self, path: Path, also: Watch) -> None:
        self.path, self._also, self._stage = path, also, ""
        self.events: list[dict[str, Any]] = []
        self.seconds: dict[str, float] = {}
        self._within = 0.0  # seconds of stages inside the one that runs
        self._compiled = compile_time.seconds
        self._file = path.open("x", encoding="utf-8", buffering=1)

    def write(self, event: str, **values: Any) -> None:
        """One line; what JSON cannot say is written as text. On a full disk the run has other worries than
        its log.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        stage = {"stage": self._stage} if self._stage else {}
        self._append(
            json.dumps({"at": now, "event": event, **stage, **values}, ensure_ascii=False, default=str)
        )

    def _append(self, line: str) -> None:
        self.events.append(json.loads(line))
        with suppress(OSError):
            self._file.write(line + "\n")

    @property
    def spark_log(self) -> Path:
        """Where a Spark that is started for this run is to write its own log."""
        return self.path.with_suffix(".spark.log")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Note when the stage begins, when it ends, and whether it failed; a stage inside another one has
        seconds of its own.
        """
        outer, self._stage = self._stage, name
        earlier, self._within = self._within, 0.0
        outcome, began = {"event": "done"}, working_time()
        self.write("stage")
        try:
            with self._also.stage(name):
                yield
        except BaseException as error:
            outcome = {"event": "failed", "error": _words(error)}
            raise
        finally:
            whole = working_time() - began
            own = whole - self._within
            self.seconds[name] = self.seconds.get(name, 0.0) + own
            self.write(**outcome, seconds=round(own, 3))
            self._stage, self._within = outer, earlier + whole

    def note(self, **values: Any) -> None:
        """Write down what is known."""
        self.write("note", **values)
        self._also.note(**values)

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        """Write down where the work is."""
        self.write("round", stratum=stratum, strata=strata, predicates=name, round=round_, facts=facts)
        self._also(stratum, strata, name, round_, facts)

    # ---- What another process has written

    def repeat(self, line: dict[str, Any]) -> AbstractContextManager[None] | None:
        """Take over a line of a log of another process, and tell it; the line that begins a stage answers a
        context to be left when the stage ends.
        """
        self._append(json.dumps(line, ensure_ascii=False))
        event, stage = line["event"], line.get("stage", "")
        values = {name: value for name, value in line.items() if name not in ("at", "event", "stage")}
        if event == "stage":
            return self._also.stage(stage)
        if event == "note":
            self._also.note(**values)
        elif event == "round":
            self._also(*values.values())
        else:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + values["seconds"]
        return None

    def compiled(self) -> None:
        """Note how long kernels were compiled, as a stage of its own: the seconds of no other stage
        have it.
        """
        seconds, self._compiled = compile_time.seconds - self._compiled, compile_time.seconds
        if seconds:
            self.seconds[COMPILING] = self.seconds.get(COMPILING, 0.0) + seconds
            self._stage = COMPILING
            self.write("stage")
            self.write("done", seconds=round(seconds, 3))
            self._stage = ""

    def close(self) -> None:
        """No more will be written."""
        with suppress(OSError):
            self._file.close()


class Record:
    """What is kept of a run while it goes on: the log, and at the end the report beside it."""

    def __init__(self, log: RunLog) -> None:
        self.log = log

    def finished(self, run: Run) -> Run:
        """Note how the run ended; the same run, with the seconds of its stages and the place of its
        report.
        """
        self.log.compiled()
        done = replace(run, seconds=self.log.seconds, report=str(self.log.path.with_suffix(".html")))
        self.log.write("end", outcome="done", **{f.name: getattr(done, f.name) for f in fields(done)})
        return done


@contextmanager
def recorded(configuration: Configuration, watch: Watch) -> Iterator[Record]:
    """One run on a store, with log and report; a second one at the same time is refused.

    A report that cannot be written does not make a run fail.
    """
    store = Path(configuration.store)
    check_target(store)
    try:
        (store / RUNS).mkdir(parents=True, exist_ok=True)
        lock = lock_for_running(store)
        log = RunLog(_free(store / RUNS), watch)
    except OSError as error:
        raise DataError(f"{store}: the store cannot be written: {error.strerror}") from error
    failure: BaseException | None = None
    try:
        name = configuration.places.file or configuration.store
        log.write("begin", writer=f"modulog {__version__}", name=name, pipeline=_shown(configuration))
        yield Record(log)
    except BaseException as error:
        log.compiled()
        log.write("end", outcome="failed", error=_words(error))
        failure = error
        raise
    finally:
        log.close()
        page = log.path.with_suffix(".html")
        with suppress(OSError, DataError), replacing(page) as partial:
            partial.write_text(report(log.events), encoding="utf-8")
        if failure is not None and page.exists():
            failure.add_note(f"report {page}")
        lock.release()


def _free(folder: Path) -> Path:
    """The file of a run, named for the time; two runs in one second have different ones."""
    stem = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    names = (stem, *(f"{stem}-{n}" for n in range(1, 1000)))
    return next(path for name in names if not (path := folder / f"{name}.jsonl").exists())


def _words(error: BaseException) -> str:
    return error.told if isinstance(error, ModulogError) else f"{type(error).__name__}: {error}"


def _shown(configuration: Configuration) -> dict[str, Any]:
    """The configuration as JSON can say it, without what was left as it was."""
    found = _set(configuration)
    found.pop("places", None)
    found |= {"spark": configuration.shown_settings} if configuration.spark else {}
    return {
        name: [_set(item) if is_dataclass(item) else item for item in value]
        if isinstance(value, tuple)
        else value
        for name, value in found.items()
    }


def _set(given: Any) -> dict[str, Any]:
    """The fields that are not as they are by default."""
    return {
        f.name: value
        for f in fields(given)
        if (value := getattr(given, f.name)) != f.default and value not in ({}, ())
    }
