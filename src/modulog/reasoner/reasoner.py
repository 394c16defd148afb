"""The reasoner: a program, its facts, and what a user does with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Never, TypeVar

from modulog.engines.backend import Backend
from modulog.engines.options import OF_SPARK, OF_SWITCHES, EngineName, SparkOptions, refuse
from modulog.engines.registry import is_one_task, make_backend
from modulog.errors import OptionError
from modulog.evaluation.facts import Facts
from modulog.evaluation.fixpoint import materialise
from modulog.evaluation.observers import Checkpoints, ProgressCallback, silent
from modulog.evaluation.statistics import RoundStatistics, Statistics
from modulog.evaluation.stratum import LiveStratum
from modulog.kernels.compile_time import compile_time, working_time
from modulog.language.model import Predicate, Program
from modulog.language.parser import read_program
from modulog.language.program_warnings import Diagnostic
from modulog.language.safety import check
from modulog.maintenance.change import Change, change_of
from modulog.maintenance.update import Journal, Maintenance
from modulog.maintenance.update_progress import UpdateCheckpoints
from modulog.planning.passes import DEFAULT, Switches, make_plan
from modulog.planning.plan import Plan
from modulog.query.predicate_reads import Readings
from modulog.reasoner import persistence
from modulog.reasoner.fact_changes import FactChanges, Tables
from modulog.reasoner.loader import Loader
from modulog.reasoner.notices import notice
from modulog.reasoner.predicate_names import chosen
from modulog.terms.python_values import IRI
from modulog.wording import plural

T = TypeVar("T")


class Reasoner(FactChanges):
    """A program with its facts: load, materialise, query.

    >>> r = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    >>> r.add("edge", [("a", "b"), ("b", "c")])
    >>> sorted(r.rows("path"))
    [('a', 'b'), ('a', 'c'), ('b', 'c')]

    What follows from the facts is computed by the first question, or by `materialise`, and kept until the
    next change. Changes by several threads wait for each other; a question beside a change may see a part
    of it.
    """

    def __init__(
        self,
        program: str | Path | Program,
        *,
        engine: EngineName = "auto",
        workers: int | None = None,
        spark: SparkOptions | Mapping[str, str] | Any | None = None,
        progress: ProgressCallback | None = None,
        switches: Switches = DEFAULT,
        **unknown: Never,
    ) -> None:
        """Read a program, and check it.

        Args:
            program: The text of a program, or a `Path` to a file with one.
            engine: "local", "spark", or "auto": Spark if `spark` is given, otherwise local.
            workers: The number of threads on one machine, all cores that the process may use unless it is
                set; the results are the same, in the same order. On Spark 1 is one task, 2 or more are all
                executors.
            spark: A Spark session, the settings of a new one, or `SparkOptions`.
            progress: Called once a round with the number of the stratum, the number of strata, its
                predicates, the round, and the facts so far.
            switches: How rules are planned and evaluated: for comparing algorithms, and for limits of rules
                that create values.

        >>> Reasoner("p(1) .", enigne="local")
        Traceback (most recent call last):
        modulog.errors.OptionError: unknown option `enigne`; did you mean `engine`?
        """
        refuse(unknown, Reasoner.__init__, {**OF_SWITCHES, **OF_SPARK})
        if not isinstance(switches, Switches):
            raise OptionError(f"`switches` are `Switches(…)`, not {switches!r}")
        _refuse_observer(progress)
        self._choose_kind(engine, workers, spark)
        found, folder = read_program(program)
        self._set_up(found, folder, switches, engine, workers, SparkOptions.of(spark), progress)

    def _choose_kind(self, engine: EngineName, workers: int | None, spark: object) -> None:
        """On Spark a reasoner begins as one that works in a task, which is a class of its own."""
        if type(self) is Reasoner and is_one_task(engine, spark, workers):
            from modulog.task.task_reasoner import TaskReasoner

            self.__class__ = TaskReasoner

    def _set_up(
        self,
        program: Program,
        folder: Path,
        switches: Switches,
        engine: EngineName,
        workers: int | None,
        spark: SparkOptions | None,
        progress: ProgressCallback | None,
    ) -> None:
        """Begin with a program that has been read, whose imports are relative to a folder."""
        self._start(program, folder, switches, make_backend(engine, spark, workers), progress)

    def _start(
        self,
        program: Program,
        folder: Path,
        switches: Switches,
        backend: Backend,
        progress: ProgressCallback | None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        if checkpoints is not None:
            checkpoints.begin(backend)
        self._begin(program, folder, switches, backend, progress)
        self._checkpoints = checkpoints
        if checkpoints is not None and checkpoints.loaded:  # an earlier process had all facts
            self._loader.staged = True
            self._loader.supply(p.name for p in program.predicates())
        self._facts.identify_constants()

    def _begin(
        self,
        program: Program,
        folder: Path,
        switches: Switches,
        backend: Backend,
        progress: ProgressCallback | None,
    ) -> None:
        self.program, self._switches, self._backend = program, switches, backend
        self._plan = make_plan(program, switches, backend.engine.represents)
        self._changing = RLock()
        self._facts = Facts(backend.engine, self._plan, backend)
        self._readings = Readings(program, self._facts, backend)
        self._loader = Loader(self._facts, backend, program, folder)
        self._observe = progress or silent
        self._statistics: Statistics | None = None
        self._maintenance: Maintenance | None = None
        self._home: persistence.Home | None = None  # the store that everything came from
        self._counted = True  # whether the statistics know how many facts there are
        self._compiled = compile_time.seconds  # before this reasoner
        self._checkpoints = None

    # ---- The store

    def save(self, folder: str | os.PathLike[str], **unknown: Never) -> None:
        """Write program, facts and consequences into a store: a new or empty folder, or an older store.

        Whatever happens meanwhile, the folder has the old state or the new one; who reads the old one can go
        on. Into the store that it was opened from, a reasoner writes what has changed since; it is an error
        if another has written there meanwhile.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Reasoner("q(?x) :- p(?x) . p(a) .").save(folder)
        ...     Reasoner.open(folder).rows("q")
        [('a',)]
        """
        refuse(unknown, Reasoner.save)
        self._save(folder, None)

    def _save(self, folder: str | os.PathLike[str], notes: Mapping[str, Any] | None) -> None:
        path, counts = persistence.target(folder), self.materialise()
        persistence.save(
            path,
            self.program,
            self._switches,
            self._facts,
            self._live(),
            self._backend,
            counts,
            self._home,
            notes,
        )

    def _live(self) -> list[LiveStratum]:
        """The strata that were evaluated."""
        assert self._maintenance is not None
        return list(self._maintenance.live)

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        /,
        *,
        program: str | Path | Program | None = None,
        engine: EngineName = "auto",
        workers: int | None = None,
        spark: SparkOptions | Mapping[str, str] | Any | None = None,
        progress: ProgressCallback | None = None,
        **unknown: Never,
    ) -> Reasoner:
        """The state of a store, on either engine, whichever wrote it.

        Facts are read when they are asked for, and nothing is computed: the program is the one that the store
        was saved with. With another `program` the explicit facts stay, and what follows is computed again.
        The state stays readable until `close`, whatever is written meanwhile.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Reasoner("q(?x) :- p(?x) . p(a) .").save(folder)
        ...     with Reasoner.open(folder) as r:
        ...         r.update(add={"p": [("b",)]}).added
        {'p': 1, 'q': 1}
        """
        refuse(unknown, Reasoner.open, OF_SPARK)
        _refuse_observer(progress)
        made = object.__new__(cls)
        made._choose_kind(engine, workers, spark)
        found = None if program is None else read_program(program)[0]
        made._open(folder, engine, workers, SparkOptions.of(spark), progress, found)
        return made

    def _open(
        self,
        folder: str | os.PathLike[str],
        engine: EngineName,
        workers: int | None,
        spark: SparkOptions | None,
        progress: ProgressCallback | None,
        program: Program | None,
        switches: Switches | None = None,
        checkpoints: Checkpoints | UpdateCheckpoints | None = None,
    ) -> None:
        """Begin with the state of a store."""
        store = persistence.opened(folder)
        own, known = persistence.program_of(store)
        is_other = (program, switches) != (None, None)
        program, switches = program or own, switches or known
        backend = make_backend(engine, spark, workers)
        relations = persistence.storage_of(backend).restore(store)
        if checkpoints is not None:
            checkpoints.begin(backend)
        self._begin(program, Path(), switches, backend, progress)
        if found := persistence.restore(store, self._plan, self._facts, relations, anew=is_other):
            self._statistics = found[0]
            self._maintenance = Maintenance(found[1], self._facts, switches, self._readings.views)
            self._maintenance.journal = Journal(backend.engine)
            if isinstance(checkpoints, UpdateCheckpoints):
                self._maintenance.checkpoints = checkpoints
        maintained = self._maintenance
        self._home = persistence.Home(store, relations, maintained.journal if maintained else None)
        self._loader.know(self._facts.explicit)
        self._loader.supply(e.predicate.name for e in store.manifest.relations if e.role == "explicit")
        self._loader.staged = True
        if isinstance(checkpoints, Checkpoints):
            self._checkpoints = checkpoints

    # ---- Reasoning

    def _stage_program(self) -> None:
        """The program's own facts and imports, once."""
        with self._changing:
            self._loader.stage_program()

    def materialise(self) -> Statistics:
        """Compute every consequence, unless nothing has changed since the last time.

        >>> print(Reasoner("q(?x) :- p(?x) . p(a) .").materialise().facts)
        2
        """
        self._ready()
        assert self._statistics is not None
        return self._count(self._statistics)

    def materialize(self) -> Statistics:
        """The same as `materialise`."""
        return self.materialise()

    def _ready(self) -> None:
        with self._changing:
            if self._statistics is None:
                self._begin_to_answer()
            elif self._loader.waiting:
                self._apply({}, self._loader.waiting.tables())
                self._loader.forget_waiting()

    def _begin_to_answer(self) -> None:
        """Compute every consequence for the first time."""
        self._stage_program()
        notice(self.program, self._loader.known.supplied)
        self._facts.identify_constants()
        engine = self._backend.engine
        began, actions = working_time(), engine.actions
        with engine.described("explicit facts"):
            explicit, before = self._loader.make_explicit(), engine.failures
        self._facts.forget_derived()
        loading = RoundStatistics(explicit, working_time() - began, [], engine.actions - actions)
        statistics, strata = materialise(
            self._plan, self._facts, self._observe, self._switches, self._checkpoints
        )
        self._maintenance = Maintenance(strata, self._facts, self._switches, self._readings.views)
        statistics.explicit, statistics.loading = explicit, loading
        self._counted = False
        statistics.set_aside, statistics.bad_records = len(self._backend.aside), self._backend.aside.place
        statistics.failures = engine.failures - before
        statistics.compiling = compile_time.seconds - self._compiled
        if self._checkpoints is not None:
            statistics.failures += self._checkpoints.failures
            self._loader.know(self._facts.explicit)
        self._loader.forget_waiting()
        self._statistics = statistics
        self._readings.forget()

    def _count(self, statistics: Statistics) -> Statistics:
        """Bring the numbers of facts up to date."""
        if not self._counted:
            statistics.explicit = sum(r.size("all") for r in self._facts.explicit.values())
            statistics.facts = self._readings.total()
            statistics.derived = statistics.facts - statistics.explicit
            statistics.memory = self._facts.memory()
            statistics.bytes = sum(memory.bytes for memory in statistics.memory.values())
            if self._maintenance is not None:
                statistics.node_bytes = self._maintenance.node_bytes() or statistics.node_bytes
            self._counted = True
        return statistics

    def _apply(self, minus: Tables, plus: Tables) -> Change:
        assert self._maintenance is not None
        with self._loader.explaining():
            net = self._maintenance.update(minus, plus)
        self._counted = False
        self._readings.forget()
        return change_of(net, self._readings, self._chosen, self._backend)

    def _chosen(self, known: Iterable[Predicate], name: str | IRI | Predicate) -> Predicate:
        """The predicate that somebody means; a prefix is one of the program."""
        return chosen(known, name if isinstance(name, Predicate) else self._loader.named(name))

    @property
    def warnings(self) -> list[Diagnostic]:
        """What looks odd in the program, given the facts that are known so far.

        >>> print(Reasoner("p(?x, ?y) :- q(?x), r(?y) . q(1) . r(2) .").warnings[0].message)
        a Cartesian product: `q(?x)` and `r(?y)` share no variable
        """
        return check(self.program, known=self._loader.known.supplied)

    def perform(self, work: Callable[[Reasoner], T], *, changes: str = "") -> T:
        """Do something with the reasoner where its facts are: on Spark in one task.

        `work` and its result travel by `pickle`. What changes facts, and is done as a whole or not at all,
        says so by a word for it, `changes`.

        >>> from operator import methodcaller
        >>> Reasoner("p(1) . q(2) .").perform(methodcaller("count", "p"))
        1
        """
        return work(self)

    def plan(self) -> Plan:
        """How the program is evaluated; after a run, with the orders last used.

        >>> print(Reasoner("q(?x) :- p(?x, ?y), ~r(?y) .").plan())
        facts    p/2, r/1
        stratum 1: q/1 (nonrecursive)
            q(?x) :- p(?x, ?y), ~r(?y) .
        """
        return self._plan

    # ---- Shown

    def __repr__(self) -> str:
        """The rules, and the facts as far as they were counted."""
        return f"<Reasoner: {plural(len(self.program.rules), 'rule')}, {self._shown_facts()}>"

    def _shown_facts(self) -> str:
        if self._loader.waiting:
            waiting = len(set(self._loader.waiting.predicates()))
            return f"facts of {plural(waiting, 'predicate')} not materialised yet"
        if self._statistics is None:
            return "not materialised yet"
        return plural(self._statistics.facts, "fact") if self._counted else "materialised"

    if not TYPE_CHECKING:  # with this method, type checkers would take any attribute for one of a reasoner

        def __getattr__(self, name):
            """Say what methods of earlier versions are called now."""
            instead = f": {GONE[name]}" if name in GONE else ""
            raise AttributeError(f"a Reasoner has no `{name}`{instead}", name=name, obj=self)

    def __reduce__(self) -> Never:
        """Refuse to be copied or pickled: what is kept knows its parts by their identity."""
        raise TypeError("a reasoner is neither copied nor pickled: `save` it, and `Reasoner.open` the store")

    # ---- The end

    def close(self) -> None:
        """Give back what the engine holds: temporary folders, and a Spark session of our own."""
        self._backend.close()

    def __enter__(self) -> Reasoner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refuse_observer(progress: object) -> None:
    """Raise an error unless this can be told of the progress."""
    if progress is not None and not callable(progress):
        raise OptionError(f"`progress` is a function that is called once a round, not {progress!r}")


GONE = {
    "read": "write `modulog.read(path, …)`, which `add` and `update` take",
    "given": "write `modulog.facts(predicate, data)`, which `add` and `update` take",
    "dataframe": "write `to_spark(predicate)`",
    "difference": "a `Pipeline` compares its sources with its store",
    "statistics": "`materialise()` returns them, and computes only what has changed",
    "move_bad_records": "`bad_records()` has them",
    "take_readings": "`bad_records()` and `materialise()` have what there is to know",
}
"""What users write instead of methods of earlier versions."""
