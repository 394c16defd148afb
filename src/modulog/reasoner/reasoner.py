"""The one facade: a program, its facts, and everything a user does with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from modulog.engines.backend import Backend
from modulog.engines.registry import is_one_task, make_backend
from modulog.engines.table import Table
from modulog.evaluation.facts import Facts
from modulog.evaluation.fixpoint import materialise
from modulog.evaluation.observers import Checkpoints, ProgressCallback, silent
from modulog.evaluation.statistics import RoundStatistics, Statistics
from modulog.formats.fact_file import Bad, Columns
from modulog.kernels.compile_time import compile_time, working_time
from modulog.language.model import Predicate, Program
from modulog.language.parser import read_program
from modulog.language.program_warnings import Diagnostic
from modulog.language.safety import check
from modulog.maintenance.change import Change, change_of
from modulog.maintenance.explicit_facts import difference
from modulog.maintenance.update import Journal, Maintenance
from modulog.maintenance.update_progress import UpdateCheckpoints
from modulog.planning.passes import DEFAULT, Switches, make_plan
from modulog.planning.plan import Plan
from modulog.query.predicate_reads import Readings
from modulog.reasoner import persistence
from modulog.reasoner.facts_in import Given, Loader, Reading, check_by_predicate
from modulog.reasoner.notices import notice
from modulog.reasoner.predicate_names import chosen
from modulog.reasoner.queries import Answering
from modulog.store.manifest import read_manifest
from modulog.store.store import Store
from modulog.terms.python_values import IRI

T = TypeVar("T")


class Reasoner(Answering):
    """A program with its facts: load, materialise, query.

    >>> r = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    >>> r.add("edge", [("a", "b"), ("b", "c")])
    >>> sorted(r.rows("path"))
    [('a', 'b'), ('a', 'c'), ('b', 'c')]

    What follows from the facts is computed by the first question, or by `materialise`, and kept until the next change.
    """

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """On Spark a reasoner begins as one that works in a task; as `pathlib.Path` does, this class makes the one that is meant."""
        engine, spark, workers = (options.get(name) for name in ("engine", "spark", "workers"))
        if cls is Reasoner and is_one_task(engine or "auto", spark, workers):
            from modulog.task.task_reasoner import TaskReasoner

            return object.__new__(TaskReasoner)  # type: ignore[return-value]
        return object.__new__(cls)

    def __init__(
        self,
        program: str | Path | Program,
        *,
        engine: str = "auto",
        modules: str = "auto",
        maintenance: str = "auto",
        storage: str = "auto",
        decompose: str = "auto",
        value_rounds: int = DEFAULT.value_rounds,
        value_facts: int = DEFAULT.value_facts,
        table_rows: int | None = DEFAULT.table_rows,
        workers: int | None = None,
        progress: ProgressCallback | None = None,
        checkpoints: Checkpoints | None = None,
        spark: Any = None,
        **options: Any,
    ) -> None:
        """Read a program, and check it.

        Args:
            program: The text of a program, or a `Path` to a file with one.
            engine: "local", "spark", or "auto": Spark if a session was given as `spark`, otherwise local.
            modules: "auto", or "off" for plain seminaive evaluation of the rules as they stand.
            maintenance: How updates are done: "auto", or one of the papers' baselines, "dred" and "dredc", or
                "recompute", which computes every stratum that a change reaches again.
            storage: "auto" represents closures, components, unions and inverses where a list would be much larger;
                "plain" lists everything, "compact" represents whatever can be.
            decompose: Which rules are evaluated along hypertree decompositions: "auto" those for which it pays, "all"
                every rule with two atoms or more, "off" none.
            value_rounds: After so many rounds of recursive rules that create values (`?y = ?x + 1`) they stop with
                an error.
            value_facts: The same, by the number of their facts.
            table_rows: A rule of which a table gets more rows goes back to the standard plan; by default "auto"
                allows what was estimated and some more.
            workers: The number of threads on one machine, all cores that the process may use unless it is set; the
                results are the same, in the same order. On Spark 1 is one task, 2 or more are all executors.
            progress: Called once a round with the number of the stratum, the number of strata, its predicates, the
                round, and the facts so far.
            checkpoints: Keep what was computed, so that another process can go on from there; on Spark they need
                executors that evaluate rules, `workers=2` or more.
            spark: The session to use.
            options: Of Spark, refused by the local engine: `settings` for a session of our own, `folder` for facts and
                terms, `broadcast_limit`.

        >>> Reasoner("p(1) .", stroage="plain")
        Traceback (most recent call last):
        modulog.errors.OptionError: unknown option `stroage`; did you mean `storage`?
        """
        found, folder = read_program(program)
        switches = Switches(modules, maintenance, value_rounds, value_facts, storage, decompose, table_rows)
        backend = make_backend(engine, spark, options, Reasoner.__init__.__kwdefaults__, workers)
        self._start(found, folder, switches, backend, progress, checkpoints)

    @classmethod
    def of(
        cls,
        program: Program,
        folder: Path,
        switches: Switches,
        backend: Backend,
        *,
        progress: ProgressCallback | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> Reasoner:
        """A reasoner of this process over a program that has been read, whose imports are relative to a folder."""
        made = object.__new__(Reasoner)
        made._start(program, folder, switches, backend, progress, checkpoints)
        return made

    def _start(
        self,
        program: Program,
        folder: Path,
        switches: Switches,
        backend: Backend,
        progress: ProgressCallback | None,
        checkpoints: Checkpoints | None,
    ) -> None:
        if checkpoints is not None:
            checkpoints.begin(backend)
        self._begin(program, folder, switches, backend, progress)
        self._checkpoints = checkpoints
        self._loader.staged = checkpoints is not None and checkpoints.loaded
        self._loader.supply(
            p.name for p in program.predicates() if self._loader.staged
        )  # who was stopped had them
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

    def save(self, folder: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None) -> None:
        """Write program, facts and consequences into a store: a folder that is one, is empty, or is not there yet.

        Whatever happens meanwhile, the folder has the old state or the new one; who reads the old one can go on. Into the store that it was opened
        from, a reasoner writes what has changed since; it is an error if another has written there meanwhile. `notes`, which JSON must be able to say,
        are kept with the state.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Reasoner("q(?x) :- p(?x) . p(a) .").save(folder)
        ...     Reasoner.open(folder).rows("q")
        [('a',)]
        """
        path, counts = persistence.target(folder), self.materialise()
        assert self._maintenance is not None
        live = [stratum.live for stratum in self._maintenance.strata]
        persistence.save(
            path, self.program, self._switches, self._facts, live, self._backend, counts, self._home, notes
        )

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        /,
        *,
        engine: str = "auto",
        workers: int | None = None,
        progress: ProgressCallback | None = None,
        spark: Any = None,
        program: Program | None = None,
        switches: Switches | None = None,
        checkpoints: Checkpoints | UpdateCheckpoints | None = None,
        **options: Any,
    ) -> Reasoner:
        """The state of a store, on either engine, whichever wrote it; facts are read when they are asked for, and nothing is computed.

        The state stays readable until `close`, whatever is written meanwhile. The program and the switches are those it was saved with; with others, the explicit
        facts stay and what follows is computed again. `checkpoints` are those of that computation, or without it of the updates that are to come.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Reasoner("q(?x) :- p(?x) . p(a) .").save(folder)
        ...     with Reasoner.open(folder) as r:
        ...         r.update(add={"p": [("b",)]}).added
        {'p': 1, 'q': 1}
        """
        if cls is Reasoner and is_one_task(engine, spark, workers):
            from modulog.task.task_reasoner import TaskReasoner

            given = {"progress": progress, "spark": spark, "checkpoints": checkpoints, "workers": workers}
            return TaskReasoner.open(folder, program=program, switches=switches, **given, **options)
        store = persistence.opened(folder)
        own, known = persistence.program_of(store)
        is_other = (program, switches) != (None, None)
        program, switches = program or own, switches or known
        backend = make_backend(engine, spark, options, Reasoner.open.__kwdefaults__, workers)
        relations = persistence.storage_of(backend).restore(store)
        if checkpoints is not None:
            checkpoints.begin(backend)
        reasoner = cls.__new__(cls)
        reasoner._begin(program, Path(), switches, backend, progress)
        if found := persistence.restore(store, reasoner._plan, reasoner._facts, relations, anew=is_other):
            reasoner._statistics = found[0]
            reasoner._maintenance = Maintenance(found[1], reasoner._facts, switches, reasoner._readings.views)
            reasoner._maintenance.journal = Journal(backend.engine)
            if isinstance(checkpoints, UpdateCheckpoints):
                reasoner._maintenance.checkpoints = checkpoints
        maintained = reasoner._maintenance
        reasoner._home = persistence.Home(store, relations, maintained.journal if maintained else None)
        reasoner._loader.know(reasoner._facts.explicit)
        reasoner._loader.supply(e.predicate.name for e in store.manifest.relations if e.role == "explicit")
        reasoner._loader.staged = True
        if isinstance(checkpoints, Checkpoints):
            reasoner._checkpoints = checkpoints
        return reasoner

    def settle_in(self, folder: Path) -> int:
        """Save into a folder and be at home there from now on; answers the number of the state. Who has a home already finds all its files in the folder, too."""
        if self._home is None:
            self.save(folder)
            assert self._maintenance is not None
            live = [stratum.live for stratum in self._maintenance.strata]
            relations = [relation for _, _, relation in persistence.kept_relations(self._facts, live)]
            self._home = persistence.Home(Store(folder, read_manifest(folder), None), relations, None)
        else:
            self._home.move(folder)
            self.save(folder)
        if self._home.journal is None:
            assert self._maintenance is not None
            self._maintenance.journal = self._home.journal = Journal(self._backend.engine)
        return self._home.manifest.generation

    # ---- Facts in

    def add(self, predicate: str | IRI, facts: object, *, columns: Columns | None = None) -> None:
        """Add explicit facts: tuples, NumPy, pandas, Polars or Arrow data; with Spark also a data frame.

        `columns` picks the columns of a wide table that are the arguments, by name or by position from 0.

        >>> r = Reasoner("p(?x) :- q(?x, ?y) .")
        >>> r.add("q", [(1, "one", True), (2, "two", False)], columns=[0, 1])
        >>> r.count("q")
        2
        """
        self._loader.add(self._loader.arrival(predicate, facts, columns))

    def take_readings(self) -> list[Reading]:
        """What each `load` and `read` since the last call has found: path, bad records, and rows, which Spark knows once they are facts.

        >>> Reasoner("p(1) .").take_readings()
        []
        """
        found, self._loader.readings = self._loader.readings, []
        return found

    def given(self, predicate: str | IRI, facts: object, *, columns: Columns | None = None) -> Given:
        """Facts that `add` would take, to be given to `update` together with what `read` gives.

        >>> r = Reasoner("p(1) .")
        >>> r.update(add=r.given("p", [(2,)]) + r.given("q", [("x", 3)], columns=[1])).added
        {'p': 1, 'q': 1}
        """
        return Given(self._loader, self._loader.checked(self._loader.arrival(predicate, facts, columns)))

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        predicate: str | IRI | None = None,
        header: bool = False,
        strings: bool = False,
        columns: Columns | None = None,
        mapping: Mapping[str, Columns] | None = None,
        bad: Bad = "fail",
        format: str | None = None,
    ) -> Sequence[Predicate]:
        """Load facts from a file, a glob, or a folder with one file for each predicate; answers the predicates that it fills.

        A file fills the predicate it is named for, unless `predicate` says otherwise. `mapping` fills several predicates from columns of one
        wide file: `{"age": ["id", "age"], "name": ["id", "name"]}`. With `bad="set-aside"` a bad record is no error: it is left out, counted in
        `statistics.set_aside`, and kept for `bad_records`. The extension of a file tells its format, unless `format` does. On Spark a path may be a URI, or `table:` and the name of a table.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "people.csv").write_text("id,name,age\\n1,Ada,36\\n2,Ben,40\\n")
        ...     r = Reasoner("grown(?n) :- name(?i, ?n), age(?i, ?a), ?a > 38 .")
        ...     columns = {"age": ["id", "age"], "name": ["id", "name"]}
        ...     _ = r.load(Path(folder, "people.csv"), header=True, mapping=columns)
        ...     r.rows("grown")
        [('Ben',)]
        """
        return self._loader.load(
            path,
            predicate=None if predicate is None else self._loader.named(predicate),
            header=header,
            strings=strings,
            columns=columns,
            mapping=mapping,
            bad=bad,
            format=format,
        )

    def read(
        self,
        path: str | os.PathLike[str],
        *,
        predicate: str | IRI | None = None,
        header: bool = False,
        strings: bool = False,
        columns: Columns | None = None,
        mapping: Mapping[str, Columns] | None = None,
        bad: Bad = "fail",
        format: str | None = None,
    ) -> Given:
        """Facts of files, as `load` takes them, to be given to `update`: `r.update(delete=r.read("old/"), add=r.read("a.csv") + r.read("b.csv"))`.

        They are read now, but are no facts of this reasoner yet.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "edge.csv").write_text("b,c\\n")
        ...     r = Reasoner("edge(a, b) .")
        ...     r.update(add=r.read(Path(folder, "edge.csv"))).added
        {'edge': 1}
        """
        return self._loader.read(
            path,
            predicate=None if predicate is None else self._loader.named(predicate),
            header=header,
            strings=strings,
            columns=columns,
            mapping=mapping,
            bad=bad,
            format=format,
        )

    def discard(self, predicate: str | IRI) -> list[str]:
        """Take back everything that was added or loaded for a predicate and that no materialisation has taken in; answers what that was.

        An error about facts comes again with every materialisation until they are taken back, and all others are kept: `discard` them, and `add` or `load`
        better ones in their place. Facts of triples go under all names that they have; `"triple"` takes back all files of triples. What was materialised is
        deleted with `update`. If nothing waits, the answer is empty.

        >>> r = Reasoner("q(?x) :- p(?x) .")
        >>> r.add("p", [("wrong",)])
        >>> r.discard("p")
        ['facts of p']
        >>> r.add("p", [("right",)])
        >>> r.rows("q")
        [('right',)]
        """
        return self._loader.discard(predicate)

    def _stage_program(self) -> None:
        """The program's own facts and imports, once."""
        self._loader.stage_program()

    # ---- Reasoning

    def materialise(self) -> Statistics:
        """Compute every consequence, unless nothing has changed since the last time.

        >>> print(Reasoner("q(?x) :- p(?x) . p(a) .").materialise().facts)
        2
        """
        self._ready()
        assert self._statistics is not None
        return self._count(self._statistics)

    def _ready(self) -> None:
        if self._statistics is not None:
            if self._loader.waiting:
                self._apply({}, self._loader.waiting.tables())
                self._loader.taken()
            return
        self._stage_program()
        notice(self.program, self._loader.supplied)
        self._facts.identify_constants()
        engine = self._backend.engine
        began, actions = working_time(), engine.actions
        with engine.described("explicit facts"):
            explicit, before = self._loader.settle(), engine.failures
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
        self._loader.taken()
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

    def update(
        self,
        *,
        add: Mapping[str | IRI, object] | Given | None = None,
        delete: Mapping[str | IRI, object] | Given | None = None,
    ) -> Change:
        """Add and delete explicit facts and bring every consequence up to date, at a cost that follows the change.

        Both take what `Reasoner.add` takes, by predicate, or what `Reasoner.read` read from files. A fact in both ends up present; only explicit facts can be
        deleted: `Change` counts those that rules still derive. A failed update changes nothing.

        >>> r = Reasoner("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")
        >>> r.add("path", [("a", "b"), ("b", "c")])
        >>> change = r.update(add={"path": [("c", "d")]}, delete={"path": [("a", "b")]})
        >>> change.added, change.deleted, sorted(r.rows("path"))
        ({'path': 2}, {'path': 2}, [('b', 'c'), ('b', 'd'), ('c', 'd')])
        """
        with self._loader.trying():
            for facts in (add, delete):
                check_by_predicate(facts)
                self._loader.supply(facts if isinstance(facts, Mapping) else ())
            self._ready()
            minus = self._loader.given(delete or {}, leaving=True)
            plus = self._loader.given(add or {})
            self._loader.doubt({*minus, *plus})
            change = self._apply(minus, plus)
            self._loader.know(plus)
            return change

    def _apply(self, minus: dict[Predicate, list[Table]], plus: dict[Predicate, list[Table]]) -> Change:
        assert self._maintenance is not None
        with self._loader.telling():
            net = self._maintenance.update(minus, plus)
        self._counted = False
        self._readings.forget()
        return change_of(net, self._readings, self._chosen, self._backend)

    def _chosen(self, known: Iterable[Predicate], name: str | IRI | Predicate) -> Predicate:
        """The predicate that somebody means; a prefix is one of the program."""
        return chosen(known, name if isinstance(name, Predicate) else self._loader.named(name))

    def difference(self, predicates: Iterable[Predicate], facts: Given | None) -> tuple[Given, Given]:
        """What `update` must delete and add, so that the explicit facts of some predicates are those that `read` gave and those of the program.

        >>> r = Reasoner("q(a) .")
        >>> r.add("q", [("b",), ("c",)])
        >>> gone, come = r.difference([Predicate("q", 1)], r.given("q", [("c",), ("d",)]))
        >>> r.update(delete=gone, add=come).deleted, sorted(r.rows("q"))
        ({'q': 1}, [('a',), ('c',), ('d',)])
        """
        self._ready()
        given = {} if facts is None else facts.of(self._loader)
        own = self._loader.forms.of({p: [table] for p, table in self._loader.own().items()})
        wanted = {p: [*given.get(p, []), *own.get(p, [])] for p in predicates}
        gone, come = difference(self._facts, wanted)
        return Given(self._loader, gone), Given(self._loader, come)

    @property
    def statistics(self) -> Statistics | None:
        """What the last materialisation did, and how many facts there are now; None before the first."""
        return None if self._statistics is None else self.materialise()

    @property
    def warnings(self) -> list[Diagnostic]:
        """What looks odd in the program, given the facts that are known so far.

        >>> print(Reasoner("p(?x, ?y) :- q(?x), r(?y) . q(1) . r(2) .").warnings[0].message)
        a Cartesian product: `q(?x)` and `r(?y)` share no variable
        """
        return check(self.program, known=self._loader.supplied)

    def perform(self, work: Callable[[Reasoner], T], *, changes: str = "") -> T:
        """Do something with the reasoner where its facts are: on Spark as one task, to which `work`, and back from which its result, travels by `pickle`.

        What changes facts, and is done as a whole or not at all, must say so, by a word for it.

        >>> from operator import methodcaller
        >>> Reasoner("p(1) . q(2) .").perform(methodcaller("count", "p"))
        1
        """
        return work(self)

    def note_table(self, path: str, rows: int, aside: Sequence[str]) -> None:
        """Take note of a table that Spark has read for this process: how many good rows it has, and the folders of its bad records."""
        self._loader.note_table(path, rows, aside)

    def call_files(self, called: Mapping[str, str]) -> None:
        """Give files that were read other names, in readings and bad records: those of which they are copies."""
        self._loader.call_files(called)

    @property
    def supplied(self) -> set[str]:
        """The names that somebody has given facts for."""
        return self._loader.supplied

    def observe(self, progress: ProgressCallback) -> None:
        """Let another observer be told how far the work is."""
        self._observe = progress

    def plan(self) -> Plan:
        """How the program is evaluated; after a run, with the orders last used.

        >>> print(Reasoner("q(?x) :- p(?x, ?y), ~r(?y) .").plan())
        facts    p/2, r/1
        stratum 1: q/1 (nonrecursive)
            q(?x) :- p(?x, ?y), ~r(?y) .
        """
        return self._plan

    # ---- The end

    def close(self) -> None:
        """Give back what the engine holds: temporary folders, and a Spark session of our own."""
        self._backend.close()

    def __enter__(self) -> Reasoner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
