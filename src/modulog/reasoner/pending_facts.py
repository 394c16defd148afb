"""Facts that were added or loaded and that no materialisation has taken in.

Engines may read a source late: on Spark, frames and files are read when terms get their ids, those of all
sources together. So a source is kept here until a materialisation that began with it has succeeded. After a
failure nothing of what waits is an explicit fact, and the next attempt begins with the same sources, except
those that were taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from modulog.engines.relation import EXPLICIT
from modulog.engines.table import Table
from modulog.evaluation.facts import Facts
from modulog.evaluation.triple_forms import Forms
from modulog.language.model import Predicate
from modulog.language.triples import VIEWS_BY_NAME

Tables = dict[Predicate, list[Table]]


@dataclass(eq=False, slots=True)
class Source:
    """Facts that were given together, under all names that they have.

    `name` is the predicate that they were given for, `triple` for a file of triples; errors call them
    `shown`. `bad` are the bad records that were left out. What belongs to the
    program itself nobody can take back.
    """

    name: str
    shown: str
    tables: Mapping[Predicate, Sequence[Table]]
    bad: Sequence[object] = ()
    of_program: bool = False
    settled: bool = field(default=False, init=False)  # whether an attempt has made explicit facts of it


class Waiting:
    """The sources that wait, in the order in which they were given."""

    def __init__(self, facts: Facts, forms: Forms) -> None:
        self.facts, self.forms = facts, forms
        self.sources: list[Source] = []
        self._filled: dict[Predicate, bool] = {}  # settled in this attempt; whether there were facts before
        self._made: set[Predicate] = set()  # predicates that have explicit facts only because of what waits

    def __bool__(self) -> bool:
        return bool(self.sources)

    def add(self, sources: Iterable[Source]) -> None:
        """Let sources wait; their predicates are known from now on."""
        for source in sources:
            self._made |= source.tables.keys() - self.facts.explicit.keys()
            for predicate in source.tables:
                self.facts.explicit_relation(predicate)
            self.sources.append(source)

    def predicates(self) -> Iterator[Predicate]:
        """The predicates of all that waits."""
        for source in self.sources:
            yield from source.tables

    def tables(self) -> Tables:
        """All that waits."""
        return together(self.sources)

    # ---- Taken in

    def settle(self) -> int:
        """Make explicit facts of all that waits, for a first materialisation; returns how many there are.

        On an error nothing of what waits is explicit.
        """
        try:
            new = [source for source in self.sources if not source.settled]
            for predicate, tables in together(new).items():
                relation = self.facts.explicit_relation(predicate)
                if predicate not in self._filled:
                    self._filled[predicate] = relation.has("all")
                    if self._filled[predicate]:
                        relation.begin()
                for table in tables:
                    relation.schedule(table, EXPLICIT)
            explicit = self.facts.take_in_scheduled()
        except BaseException:
            self.unsettle()
            raise
        for source in new:
            source.settled = True
        return explicit

    def unsettle(self) -> None:
        """Let nothing of what waits be an explicit fact; what belongs to the program is to be added again."""
        for predicate, had_facts in self._filled.items():
            relation = self.facts.explicit[predicate]
            relation.rollback()
            if not had_facts:
                fresh = self.facts.engine.relation(predicate.name, predicate.arity)
                self.facts.explicit[predicate] = fresh
        self._filled = {}
        self.sources = [source for source in self.sources if not source.of_program]
        for source in self.sources:
            source.settled = False

    def taken(self) -> None:
        """A materialisation has taken everything in."""
        for predicate, had_facts in self._filled.items():
            if had_facts:
                self.facts.explicit[predicate].commit()
        self._filled, self._made = {}, set()
        self.sources = []

    # ---- Taken back

    def discard(self, name: str) -> list[Source]:
        """Take back what was given for a name, also by triples; returns the sources that lost something."""
        changed = {
            source: self._rest(source, name)
            for source in self.sources
            if not source.of_program and (source.name == name or _says(source, name))
        }
        if any(source.settled for source in changed):
            self.unsettle()
        kept = [changed.get(source, source) for source in self.sources]
        self.sources = [source for source in kept if source is not None]
        waiting = set(self.predicates())
        for predicate in self._made - waiting:
            del self.facts.explicit[predicate]
        self._made &= waiting
        return list(changed)

    def _rest(self, source: Source, name: str) -> Source | None:
        """A source without the facts of a name; None if nothing is left."""
        if source.name == name:
            return None
        rest = self.forms.without(source.tables, name)
        return Source(source.name, source.shown, rest, source.bad) if rest else None


def _says(source: Source, name: str) -> bool:
    """Whether triples were given that are facts of a predicate, too."""
    return source.name in VIEWS_BY_NAME and any(predicate.name == name for predicate in source.tables)


def together(sources: Iterable[Source]) -> Tables:
    """The facts of some sources by predicate."""
    found: Tables = {}
    for source in sources:
        for predicate, tables in source.tables.items():
            found.setdefault(predicate, []).extend(tables)
    return found
