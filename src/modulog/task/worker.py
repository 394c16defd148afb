"""What happens in a task: the local engine on what the driver has described, in the Python worker of an
executor.

A task is given a state, a store in a folder that driver and workers share, or a program to begin with. It
adds what was given since, does its work, and if that has changed anything writes the next state into a folder
that belongs to this attempt alone. What it answers is small; long answers lie in files beside that state. A
worker keeps the reasoner of the state that it has seen last, by folder and generation: the next task, which
comes to the same worker most of the time, finds everything in memory.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import socket
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from modulog.errors import DataError, InternalError, QueryError
from modulog.language.model import Predicate, Program
from modulog.task.states import State, link_state

if TYPE_CHECKING:
    from modulog.evaluation.statistics import Statistics
    from modulog.formats.format import WriteFormat
    from modulog.planning.passes import Switches
    from modulog.planning.plan import Plan
    from modulog.reasoner.reasoner import Reasoner
    from modulog.task.descriptions import Description
    from modulog.task.task_answers import Counts

TOKEN = "token"
"""A file in the shared folder: who cannot read in it what the driver has written does not share the folder.
"""

BAD = "bad"
NAME = "progress"
"""The file in which an attempt notes how far it is."""
_QUIET = 0.1  # seconds between two notes of progress


class Asked(Protocol):
    """What `run` takes: the folder that driver and workers share, the driver's token in it, a folder for
    attempts, and something to do.
    """

    @property
    def folder(self) -> str: ...

    @property
    def token(self) -> str: ...

    @property
    def attempts(self) -> str: ...

    def perform(self, outcome: Outcome) -> None:
        """Do it, and say in the outcome what came of it."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a task is to do.

    `work` is called with the reasoner, once it has `staged`, and the folder of the attempt; `changes` says
    that a state must be written afterwards. Without a `state` the reasoner begins with the program; with one,
    `program` and `switches` are other ones by which everything is to be computed again.
    """

    folder: str
    token: str
    attempts: str
    work: Callable[[Reasoner, Path], Any]
    state: State | None = None
    program: Program | None = None
    home: str = ""
    switches: Switches | None = None
    staged: Sequence[Description] = ()
    changes: bool = False
    threads: int | None = None

    def perform(self, outcome: Outcome) -> None:
        """Do it, and say in the outcome what came of it."""
        _perform(self, outcome)


@dataclass(frozen=True, slots=True)
class About:
    """What the driver keeps of a reasoner that has changed."""

    statistics: Statistics
    plan: Plan
    supplied: frozenset[str]
    predicates: tuple[Predicate, ...]


@dataclass(slots=True)
class Outcome:
    """What came of a task: a result or an error; the state that was written, and bad records that were set
    aside, in the folder of the attempt.
    """

    folder: str = ""
    result: Any = None
    error: BaseException | None = None
    state: State | None = None
    about: About | None = None
    filled: list[Sequence[Predicate]] = field(default_factory=list)
    set_aside: int = 0
    warnings: list[tuple[type[Warning], str]] = field(default_factory=list)


def run(request: bytes) -> bytes:
    """Do what a request says; a mistake, and even want of memory, is an answer, so that Spark does not try
    again.
    """
    asked: Any = pickle.loads(request)
    if isinstance(asked, Path):
        asked = pickle.loads(asked.read_bytes())
    outcome = Outcome()
    try:
        outcome.folder = str(_attempt(asked))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                asked.perform(outcome)
            finally:
                outcome.warnings = [(w.category, str(w.message)) for w in caught]
    except BaseException as error:
        outcome.error = error
    return _pickled(outcome)


def _pickled(outcome: Outcome) -> bytes:
    try:
        return pickle.dumps(outcome)
    except Exception as error:  # an error of another library that cannot travel
        told = outcome.error if outcome.error is not None else error
        return pickle.dumps(Outcome(error=InternalError(f"{type(told).__name__}: {told}")))


# ---- The folder of an attempt


def _attempt(asked: Asked) -> Path:
    """A folder of this attempt alone; errors if the folder is not shared, or if this worker's like has died
    of the task before.
    """
    shared = Path(asked.folder)
    if not (shared / TOKEN).is_file() or (shared / TOKEN).read_text() != asked.token:
        raise DataError(
            f"{shared}: the executors do not see this folder of the driver: give one that all machines share as `folder`"
        )
    attempts = Path(asked.attempts)
    attempts.mkdir(exist_ok=True)
    here = f"{socket.gethostname()}-{os.getppid()}"
    if (attempts / here).exists():
        # The process that forks workers is the same as for an earlier attempt: that worker has been killed, and not its executor.
        raise Killed
    (attempts / here).touch()
    folder = attempts / uuid4().hex
    folder.mkdir()
    return folder


class Killed(Exception):
    """An earlier attempt at the same task was killed where this one runs."""


class Notes:
    """An observer that writes where the work is, and how much memory it has taken, into a file that the
    driver reads.
    """

    def __init__(self, folder: Path) -> None:
        self._file = (folder / NAME).open("a", buffering=1, encoding="utf-8")
        self._noted, self._has_begun = 0.0, False
        self.note()

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        """Note a round, unless one was noted just now; the first in any case."""
        if not self._has_begun or monotonic() - self._noted > _QUIET:
            self._has_begun = True
            self.note(stratum, strata, name, round_, facts)

    def note(self, *where: Any) -> None:
        """Write a line."""
        self._noted = monotonic()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self._file.write(json.dumps([*where, peak]) + "\n")

    def close(self) -> None:
        """No more will be written."""
        self._file.close()


# ---- Reasoners that stay

_kept: dict[State, Reasoner] = {}


def forget_reasoners() -> None:
    """Give back the memory of the reasoners that this worker has kept."""
    while _kept:
        _, reasoner = _kept.popitem()
        with suppress(Exception):
            reasoner.close()


def _perform(asked: Request, outcome: Outcome) -> None:
    from modulog.reasoner import for_pipelines
    from modulog.task.descriptions import stage_all

    notes = Notes(Path(outcome.folder))
    reasoner, state = _reasoner(asked, notes), asked.state
    try:
        for_pipelines.observe(reasoner, notes)
        outcome.filled = stage_all(reasoner, asked.staged)
        notes.note()
        outcome.result = asked.work(reasoner, Path(outcome.folder))
        if asked.changes:
            state = outcome.state = _write(reasoner, asked.state, Path(outcome.folder, "state"))
            outcome.about = _about(reasoner)
        outcome.set_aside = for_pipelines.move_bad_records(reasoner, Path(outcome.folder, BAD))
    except QueryError:  # nothing has changed
        state = None if asked.changes else asked.state
        raise
    except BaseException:
        state = None
        raise
    finally:
        notes.close()
        if state is None:
            reasoner.close()
        else:
            _kept[state] = reasoner


def _reasoner(asked: Request, notes: Notes) -> Reasoner:
    """The reasoner of the state, taken out of what is kept: if anything fails, it is not there any more."""
    from modulog.reasoner.for_pipelines import begin, open_store

    if asked.state is not None and asked.program is None and asked.state in _kept:
        return _kept.pop(asked.state)
    forget_reasoners()
    if asked.state is not None:
        return open_store(
            asked.state.folder,
            engine="local",
            workers=asked.threads,
            progress=notes,
            program=asked.program,
            switches=asked.switches,
        )
    assert asked.program is not None and asked.switches is not None
    return begin(
        asked.program,
        Path(asked.home),
        asked.switches,
        engine="local",
        workers=asked.threads,
        progress=notes,
    )


def _write(reasoner: Reasoner, before: State | None, folder: Path) -> State:
    """Write the state that a reasoner has come to, as a store of its own."""
    from modulog.reasoner.for_pipelines import settle_in

    if before is not None:
        link_state(before, folder)
    return State(str(folder), settle_in(reasoner, folder))


def _about(reasoner: Reasoner) -> About:
    from modulog.reasoner.for_pipelines import supplied

    return About(
        reasoner.materialise(),
        reasoner.plan(),
        frozenset(supplied(reasoner)),
        tuple(reasoner.predicates()),
    )


# ---- What the driver asks for, by names that can be pickled


def ask(method: Callable[[Reasoner], Any], reasoner: Reasoner, folder: Path) -> Any:
    """What the reasoner answers, which is small."""
    return method(reasoner)


def materialise(reasoner: Reasoner, folder: Path) -> None:
    """Compute every consequence."""
    reasoner.materialise()


def update(
    minus: Sequence[Description], plus: Sequence[Description], reasoner: Reasoner, folder: Path
) -> Counts:
    """Delete and add facts; the change is in the folder."""
    from modulog.reasoner import for_pipelines
    from modulog.task.descriptions import given_of
    from modulog.task.task_answers import write_change

    with for_pipelines.leaving(reasoner):
        gone = given_of(reasoner, minus)
    change = for_pipelines.update(reasoner, delete=gone, add=given_of(reasoner, plus))
    return write_change(change, folder, reasoner.predicates())


ANSWERS = "answers.arrow"


def write_batches(
    predicate: Any, columns: Sequence[str] | None, limit: int | None, reasoner: Reasoner, folder: Path
) -> None:
    """Write the facts of a predicate into a file of the folder."""
    import pyarrow as pa

    schema, batches = reasoner._stream(predicate, columns, limit)
    with pa.OSFile(str(folder / ANSWERS), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


PARTS = "parts"


def export(
    format: WriteFormat,
    predicates: Sequence[Any] | None,
    place: Path | None,
    reasoner: Reasoner,
    folder: Path,
) -> dict[str, int]:
    """Write files of predicates into the folder of the attempt, or into one of its name at a place."""
    parts = folder / PARTS if place is None else place / folder.name
    return reasoner.export(parts, format=format, predicates=predicates)
