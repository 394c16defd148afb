"""The methods of a reasoner that change its facts."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

from modulog.engines.table import Table
from modulog.errors import OptionError
from modulog.formats.fact_file import Columns
from modulog.language.model import Predicate
from modulog.maintenance.change import Change, Name
from modulog.reasoner.fact_batch import FactBatch, FactsLike, ReadOptions, read
from modulog.reasoner.fact_batch import facts as one_predicate
from modulog.reasoner.loader import Loader
from modulog.reasoner.queries import Answering
from modulog.terms.python_values import IRI

if TYPE_CHECKING:
    from threading import RLock

Tables = dict[Predicate, list[Table]]


class FactChanges(Answering):
    """The methods that take facts in and take them back."""

    _loader: Loader
    _changing: RLock  # held by the thread that changes facts, or computes what follows

    @abstractmethod
    def _apply(self, minus: Tables, plus: Tables) -> Change:
        """Delete and add facts, and bring every consequence up to date."""

    @overload
    def add(self, predicate: FactsLike) -> None: ...

    @overload
    def add(self, predicate: Name, facts: object, *, columns: Columns | None = None) -> None: ...

    def add(self, predicate: Any, facts: object = None, *, columns: Columns | None = None) -> None:
        """Add explicit facts: those of a predicate, of a mapping of predicates, or of a batch.

        Facts are tuples, NumPy, pandas, Polars or Arrow data, on Spark also a data frame. `columns` picks the
        columns of a wide table that are the arguments, by name or by position from 0. What `modulog.read`
        returns is a batch.

        >>> from modulog import Reasoner
        >>> r = Reasoner("p(?x) :- q(?x, ?y) .")
        >>> r.add("q", [(1, "one", True), (2, "two", False)], columns=[0, 1])
        >>> r.add({"q": [(3, "three")], "p": [(4,)]})
        >>> r.count("p")
        4
        """
        if isinstance(predicate, FactBatch | Mapping) and (facts is not None or columns is not None):
            raise OptionError(
                "facts and columns are those of one predicate: `modulog.facts(…)` takes them, too"
            )
        is_one = isinstance(predicate, str | IRI | Predicate) or facts is not None or predicate is None
        with self._changing:
            self._add(one_predicate(predicate, facts, columns=columns) if is_one else FactBatch.of(predicate))

    def load(self, path: str | os.PathLike[str], **options: Unpack[ReadOptions]) -> Sequence[Predicate]:
        """Add the facts of a file, a glob or a folder; returns the predicates that are filled.

        It is short for `add(modulog.read(path, …))`, and takes the same options: `predicate`, `header`,
        `strings`, `columns`, `mapping`, `bad`, `format` and `delimiter`.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from modulog import Reasoner
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "edge.csv").write_text("a,b\\nb,c\\n")
        ...     r = Reasoner("path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .")
        ...     r.load(Path(folder, "edge.csv"))
        [Predicate(name='edge', arity=2)]
        >>> r.rows("path")
        [('a', 'c')]
        """
        with self._changing:
            return self._add(read(path, **options))

    def _add(self, batch: FactBatch) -> Sequence[Predicate]:
        """Let facts wait for the next materialisation; returns the predicates that they fill."""
        return self._loader.add(batch)

    def discard(self, predicate: Name) -> list[str]:
        """Take back what was added or loaded for a predicate and is in no materialisation yet.

        It returns what that was; if nothing waits, nothing. An error about facts comes again with every
        materialisation until they are taken back, and all others are kept: `discard` them, and `add` or
        `load` better ones in their place. Facts of triples go under all names that they have; `"triple"`
        takes back all files of triples. What was materialised is deleted with `update`.

        >>> from modulog import Reasoner
        >>> r = Reasoner("q(?x) :- p(?x) .")
        >>> r.add("p", [("wrong",)])
        >>> r.discard("p")
        ['facts of p']
        >>> r.add("p", [("right",)])
        >>> r.rows("q")
        [('right',)]
        """
        return self._loader.discard(predicate)

    def update(
        self,
        *,
        add: FactsLike | None = None,
        delete: FactsLike | None = None,
    ) -> Change:
        """Add and delete explicit facts, and bring every consequence up to date.

        Both take facts by predicate, as `add` does, or a batch that `modulog.read` or `modulog.facts` made. A
        fact in both ends up present; only explicit facts can be deleted: `Change` counts those that rules
        still derive. A failed update changes nothing.

        >>> from modulog import Reasoner
        >>> r = Reasoner("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")
        >>> r.add("path", [("a", "b"), ("b", "c")])
        >>> change = r.update(add={"path": [("c", "d")]}, delete={"path": [("a", "b")]})
        >>> change.added, change.deleted, sorted(r.rows("path"))
        ({'path': 2}, {'path': 2}, [('b', 'c'), ('b', 'd'), ('c', 'd')])
        """
        with self._changing:
            return self._update(FactBatch.of(delete), FactBatch.of(add))

    def _update(self, delete: FactBatch, add: FactBatch) -> Change:
        loader = self._loader
        with loader.restoring_names():
            loader.supply_batch(delete)
            loader.supply_batch(add)
            self._ready()
            with loader.all_or_nothing():
                with loader.reading_deletions():
                    minus = loader.tables(delete)
                return self._update_tables(minus, loader.tables(add))

    def _update_tables(self, minus: Tables, plus: Tables) -> Change:
        """Delete and add facts that have been read; a warning names predicates that look misspelt."""
        self._loader.warn_of_near_names({*minus, *plus})
        change = self._apply(minus, plus)
        self._loader.know(plus)
        return change
