"""What a backend does that can write a store and read it: terms and relations to files, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from modulog.engines.relation import Relation
from modulog.engines.table import Table
from modulog.language.model import Predicate
from modulog.store.draft import Draft
from modulog.store.manifest import Role, StoredRelation, TermsFile, staying
from modulog.store.store import Store

Kept = tuple[Predicate, Role, Relation]
"""A relation to be stored."""

Stored = tuple[tuple[TermsFile, ...], tuple[StoredRelation, ...]]
"""What a manifest says of terms and relations."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A relation that differs from a state of a store: its net changes since, in order, as (gone, come); None
    if they are not known.
    """

    before: StoredRelation
    relation: Relation
    steps: Sequence[tuple[Table, Table]] | None

    @property
    def staying(self) -> int:
        """How many of the stored files stay as they are, from the first on; none if the relation is better
        written as a whole.
        """
        if self.steps is None or not self.relation.listed or not self.before.predicate.arity:
            return 0
        return staying(self.before.files, sum(len(table) for step in self.steps for table in step))


class Storage(Protocol):
    """The part of a backend that speaks to stores."""

    def save(self, draft: Draft, relations: Sequence[Kept]) -> Stored:
        """Write all terms and the relations as files of a new state of a store."""

    def save_changes(self, draft: Draft, store: Store, changes: Sequence[Changed]) -> Stored:
        """Write new terms and relations that changed; answers all files of terms, and the entries of those
        relations.

        `store` is the state that the draft follows; its files are kept where they still hold.
        """

    def restore(self, store: Store) -> list[Relation]:
        """Take up the terms of a store, before there are others, and its relations, as they come in the
        manifest.
        """
