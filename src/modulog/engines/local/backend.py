"""The local engine with a dictionary in memory, its stores and its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modulog.engines.dictionary_backend import DictionaryBackend
from modulog.engines.freezer import Frozen
from modulog.engines.local.engine import LocalEngine
from modulog.engines.relation import Relation
from modulog.engines.storage import Changed, Kept, Stored
from modulog.engines.values import Values
from modulog.kernels.threads import Threads, usable_cores
from modulog.store.draft import Draft
from modulog.store.store import Store

if TYPE_CHECKING:
    from modulog.engines.local.checkpoint_writer import Freezer


class LocalBackend(DictionaryBackend):
    """Everything in one process."""

    def __init__(self, workers: int | Threads | None = None) -> None:
        """With so many threads, as many as the process may use cores, or those that are given."""
        if not isinstance(workers, Threads):
            workers = Threads(usable_cores() if workers is None else workers)
        self.threads = workers
        self._store: Store | None = None
        self._freezer: Freezer | None = None
        super().__init__()

    @property
    def storage(
        self,
    ) -> LocalBackend:  # not an attribute: a cycle would keep facts and locks of a forgotten reasoner
        return self

    @property
    def freezer(self) -> LocalBackend:
        return self

    def make_engine(self, values: Values) -> LocalEngine:
        return LocalEngine(values, self.threads)

    # ---- Stores

    def save(self, draft: Draft, relations: Sequence[Kept]) -> Stored:
        from modulog.engines.local.store_writer import save

        return save(draft, self.dictionary, relations)

    def save_changes(self, draft: Draft, store: Store, changes: Sequence[Changed]) -> Stored:
        from modulog.engines.local.store_writer import save_changes

        return save_changes(draft, store, self.dictionary, changes)

    def restore(self, store: Store) -> list[Relation]:
        from modulog.engines.local.store_reader import OpenedRelation

        self._store = store
        self._take_terms(store)
        opened = [OpenedRelation(stored, store) for stored in store.manifest.relations]
        for relation in opened:
            relation.threads = self.threads
        return list(opened)

    def _take_terms(self, store: Store) -> None:
        """Have the terms of a store, before there are others."""
        from modulog.engines.local.store_reader import open_dictionary

        self._take(open_dictionary(store))

    # ---- Checkpoints

    def freeze_into(self, folder: Path) -> None:
        from modulog.engines.local.checkpoint_writer import Freezer

        self._freezer = Freezer(folder)

    def can_freeze(self, relation: Relation) -> bool:
        from modulog.engines.local.checkpoint_writer import can_freeze

        return can_freeze(relation)

    def freezing_seconds(self, relations: Sequence[Relation]) -> float:
        assert self._freezer is not None
        return self._freezer.seconds(self.dictionary, relations)

    def freeze(self, relations: Sequence[Relation], changing: Sequence[Relation]) -> Frozen | None:
        assert self._freezer is not None
        aside = [asdict(record) for record in self.aside.records]
        return self._freezer.freeze(self.dictionary, aside, relations, changing)

    def thaw(self, state: Mapping[str, Any]) -> None:
        assert self._freezer is not None
        from modulog.formats.bad_records import BadRecord

        store, aside = self._freezer.thaw(state)
        self.aside.records[:] = [BadRecord(**record) for record in aside]
        self._take_terms(store)

    def thaw_relations(self, state: Mapping[str, Any], relations: Sequence[Relation]) -> None:
        assert self._freezer is not None
        self._freezer.thaw_relations(state, relations)

    def close(self) -> None:
        super().close()
        if self._store is not None:
            self._store.close()
