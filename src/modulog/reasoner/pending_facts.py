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
    """Facts from one place, such as a file or one call of `add`, by every predicate that they are facts of.

    `name` is the predicate that the user named, or `triple` for a file of triples; `shown` is how errors name
    the place. `bad` are the bad records that were left out. What belongs to the program itself cannot be
    discarded.
    """

    name: str
    shown: str
    tables: Mapping[Predicate, Sequence[Table]]
    bad: Sequence[object] = ()
    of_program: bool = False
    is_explicit: bool = field(default=False, init=False)  # whether the relations have its facts


class Waiting:
    """The sources that no materialisation has stored yet, in the order of the calls."""

    def __init__(self, facts: Facts, forms: Forms) -> None:
        self.facts, self.forms = facts, forms
        self.sources: list[Source] = []
        self._filled: dict[Predicate, bool] = {}  # those that this attempt stores into: had they facts?
        self._made: set[Predicate] = set()  # predicates that have explicit facts only because of what waits

    def __bool__(self) -> bool:
        return bool(self.sources)

    def add(self, sources: Iterable[Source]) -> None:
        """Append sources, and make relations for their predicates."""
        for source in sources:
            self._made |= source.tables.keys() - self.facts.explicit.keys()
            for predicate in source.tables:
                self.facts.explicit_relation(predicate)
            self.sources.append(source)

    def predicates(self) -> Iterator[Predicate]:
        """The predicates of all waiting sources."""
        for source in self.sources:
            yield from source.tables

    def tables(self) -> Tables:
        """The tables of all waiting sources, by predicate."""
        return merged_tables(self.sources)

    # ---- Stored

    def make_explicit(self) -> int:
        """Store the facts of all sources in the relations of explicit facts; returns how many facts these have.

        After an error the relations have none of them.
        """
        try:
            new = [source for source in self.sources if not source.is_explicit]
            for predicate, tables in merged_tables(new).items():
                relation = self.facts.explicit_relation(predicate)
                if predicate not in self._filled:
                    self._filled[predicate] = relation.has("all")
                    if self._filled[predicate]:
                        relation.begin()
                for table in tables:
                    relation.schedule(table, EXPLICIT)
            explicit = self.facts.take_in_scheduled()
        except BaseException:
            self.withdraw()
            raise
        for source in new:
            source.is_explicit = True
        return explicit

    def withdraw(self) -> None:
        """Undo `make_explicit`, and drop the sources of the program, which are to be added again."""
        for predicate, had_facts in self._filled.items():
            relation = self.facts.explicit[predicate]
            relation.rollback()
            if not had_facts:
                fresh = self.facts.engine.relation(predicate.name, predicate.arity)
                self.facts.explicit[predicate] = fresh
        self._filled = {}
        self.sources = [source for source in self.sources if not source.of_program]
        for source in self.sources:
            source.is_explicit = False

    def clear(self) -> None:
        """Commit what was stored, and forget all sources."""
        for predicate, had_facts in self._filled.items():
            if had_facts:
                self.facts.explicit[predicate].commit()
        self._filled, self._made = {}, set()
        self.sources = []

    # ---- Discarded

    def discard(self, name: str) -> list[Source]:
        """Drop the facts of a predicate, also those in triples; returns the sources that they were in."""
        changed = {
            source: self._rest(source, name)
            for source in self.sources
            if not source.of_program and (source.name == name or _has_triples_of(source, name))
        }
        if any(source.is_explicit for source in changed):
            self.withdraw()
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


def _has_triples_of(source: Source, name: str) -> bool:
    """Whether a source of triples has facts of this predicate, too."""
    return source.name in VIEWS_BY_NAME and any(predicate.name == name for predicate in source.tables)


def merged_tables(sources: Iterable[Source]) -> Tables:
    """The facts of some sources by predicate."""
    found: Tables = {}
    for source in sources:
        for predicate, tables in source.tables.items():
            found.setdefault(predicate, []).extend(tables)
    return found
