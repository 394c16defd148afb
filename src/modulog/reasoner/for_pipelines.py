"""What pipelines, and tasks on Spark, ask of a reasoner beside what its users do.

These functions are for reasoners of this process; none of them is for those that hand their work to a task.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modulog.engines.options import EngineName, SparkOptions
from modulog.engines.registry import make_backend
from modulog.engines.table import Table
from modulog.evaluation.observers import Checkpoints, ProgressCallback
from modulog.language.model import Predicate, Program
from modulog.language.parser import read_program
from modulog.maintenance import explicit_facts
from modulog.maintenance.change import Change
from modulog.maintenance.update import Journal
from modulog.maintenance.update_progress import UpdateCheckpoints
from modulog.planning.passes import DEFAULT, Switches
from modulog.reasoner import persistence
from modulog.reasoner.fact_batch import FactBatch
from modulog.reasoner.loader import Loader, Reading
from modulog.reasoner.reasoner import Reasoner
from modulog.store.manifest import read_manifest
from modulog.store.store import Store

# ---- Reasoners


def begin(
    program: str | Path | Program,
    folder: Path | None = None,
    switches: Switches = DEFAULT,
    *,
    engine: EngineName = "auto",
    workers: int | None = None,
    spark: Any = None,
    progress: ProgressCallback | None = None,
    checkpoints: Checkpoints | None = None,
) -> Reasoner:
    """A reasoner of this process, whose work `checkpoints` keep; imports are relative to a folder."""
    found, home = read_program(program)
    backend = make_backend(engine, SparkOptions.of(spark), workers)
    made = object.__new__(Reasoner)
    made._start(found, home if folder is None else folder, switches, backend, progress, checkpoints)
    return made


def open_store(
    folder: str | os.PathLike[str],
    *,
    engine: EngineName = "auto",
    workers: int | None = None,
    spark: Any = None,
    progress: ProgressCallback | None = None,
    program: Program | None = None,
    switches: Switches | None = None,
    checkpoints: Checkpoints | UpdateCheckpoints | None = None,
) -> Reasoner:
    """A reasoner of this process over a store, as `Reasoner.open` makes it.

    With another program or other switches what follows is computed again. `checkpoints` are those of that
    computation; without it, they are those of the updates that are to come.
    """
    made = object.__new__(Reasoner)
    made._open(folder, engine, workers, SparkOptions.of(spark), progress, program, switches, checkpoints)
    return made


def observe(reasoner: Reasoner, progress: ProgressCallback) -> None:
    """Let another observer be told how far the work is."""
    reasoner._observe = progress


def supplied(reasoner: Reasoner) -> set[str]:
    """The names of the predicates that somebody has given facts for."""
    return reasoner._loader.known.supplied


# ---- The store


def save(reasoner: Reasoner, folder: str | os.PathLike[str], notes: Mapping[str, Any] | None) -> None:
    """Save as `Reasoner.save` does, with notes, which JSON must be able to say."""
    reasoner._save(folder, notes)


def settle_in(reasoner: Reasoner, folder: Path) -> int:
    """Save into a folder, which is the store of the reasoner from now on; returns the number of the state.

    A folder for a reasoner that has a store already must have all files of that store, too.
    """
    if reasoner._home is None:
        reasoner.save(folder)
        relations = [kept for _, _, kept in persistence.kept_relations(reasoner._facts, reasoner._live())]
        reasoner._home = persistence.Home(Store(folder, read_manifest(folder), None), relations, None)
    else:
        reasoner._home.move(folder)
        reasoner.save(folder)
    if reasoner._home.journal is None:
        assert reasoner._maintenance is not None
        reasoner._maintenance.journal = reasoner._home.journal = Journal(reasoner._backend.engine)
    return reasoner._home.manifest.generation


# ---- Facts for updates


@dataclass(frozen=True, slots=True)
class Given:
    """Facts that a reasoner has read, and that wait for one of its updates."""

    loader: Loader
    tables: Mapping[Predicate, list[Table]]

    def __add__(self, other: Given) -> Given:
        both = {p: [*self.tables.get(p, ()), *other.tables.get(p, ())] for p in (*self.tables, *other.tables)}
        return Given(self.loader, both)


def given(reasoner: Reasoner, batch: FactBatch) -> Given:
    """The facts of a batch, which are read now."""
    with reasoner._loader.all_or_nothing():
        return Given(reasoner._loader, reasoner._loader.tables(batch))


@contextmanager
def leaving(reasoner: Reasoner) -> Iterator[None]:
    """Facts that are read inside the block are to be deleted: predicates that nobody knew stay unknown."""
    with reasoner._loader.reading_deletions():
        yield


def update(reasoner: Reasoner, *, add: Given | None, delete: Given | None) -> Change:
    """`Reasoner.update` with facts that were read before."""
    with reasoner._loader.restoring_names():
        reasoner._ready()
        minus, plus = (dict(facts.tables) if facts else {} for facts in (delete, add))
        return reasoner._update_tables(minus, plus)


def difference(
    reasoner: Reasoner, predicates: Iterable[Predicate], facts: Given | None
) -> tuple[Given, Given]:
    """What to delete and add, so that the explicit facts of predicates are `facts` and the program's."""
    reasoner._ready()
    loader = reasoner._loader
    wanted_facts: Mapping[Predicate, list[Table]] = {} if facts is None else facts.tables
    own = loader.forms.of({p: [table] for p, table in loader.own().items()})
    wanted = {p: [*wanted_facts.get(p, []), *own.get(p, [])] for p in predicates}
    gone, come = explicit_facts.difference(reasoner._facts, wanted)
    return Given(loader, gone), Given(loader, come)


# ---- What was read


def take_readings(reasoner: Reasoner) -> list[Reading]:
    """What was found in each path that was read since the last call: bad records, and rows.

    Spark knows the rows once they are facts.
    """
    found, reasoner._loader.readings = reasoner._loader.readings, []
    return found


def note_table(reasoner: Reasoner, path: str, rows: int, aside: Sequence[str]) -> None:
    """Note a table that Spark has read: its good rows, and the folders of its bad records."""
    reasoner._loader.note_table(path, rows, aside)


def call_files(reasoner: Reasoner, called: Mapping[str, str]) -> None:
    """Name files that were read as those of which they are copies, in readings and bad records."""
    reasoner._loader.call_files(called)


def move_bad_records(reasoner: Reasoner, folder: str | os.PathLike[str]) -> int:
    """Write the bad records to Parquet files in a local folder and forget them; returns their number."""
    aside = reasoner._backend.aside
    found = len(aside)
    if found:
        aside.write_into(Path(folder))
        aside.forget(list(aside.pieces))
    return found


# ---- Predicates


def named(reasoner: Reasoner, names: Collection[str]) -> list[Predicate]:
    """The predicates with these names; with RDF, these may be `triple` and `rdf:type`, too."""
    reasoner._stage_program()
    reasoner._materialise_triples()
    return sorted(p for name in set(names) for p in reasoner._readings.candidates(name))
