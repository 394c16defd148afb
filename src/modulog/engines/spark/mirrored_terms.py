"""The terms on the driver: a copy of a small dictionary, with the same ids, for rules that the driver evaluates.

Ids are dense, so a copy that takes terms in the order of their ids gives them the same ids. What a rule creates here becomes a term of the
dictionary at once, without a job.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from modulog.engines.local.vocabulary import Vocabulary
from modulog.engines.protocol import Compute, Condition, Failures
from modulog.engines.spark.keys import key_array, read_keys, text_buffers
from modulog.engines.spark.terms import SparkTerms
from modulog.errors import InternalError
from modulog.terms.dictionary import Dictionary

MOST = 500_000
"""Up to so many terms the dictionary is copied."""


class MirroredTerms:
    """What the local engine asks of terms, answered on the driver."""

    def __init__(self, terms: SparkTerms) -> None:
        self.terms, self.vocabulary = terms, Vocabulary(Dictionary())

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def ready(self) -> bool:
        """Whether the dictionary is small enough."""
        return len(self.terms) <= MOST

    @property
    def dictionary(self) -> Dictionary:
        """The copy, with every term there is."""
        self._refresh()
        return self.vocabulary.dictionary

    def compare(self, operator: str, left: Any, right: Any) -> tuple[Any, int]:
        self._refresh()
        return self.vocabulary.compare(operator, left, right)

    def satisfy(self, condition: Condition, columns: dict[str, Any], rows: int) -> tuple[Any, Failures]:
        self._refresh()
        return self.vocabulary.satisfy(condition, columns, rows)

    def compute(self, function: Compute, columns: dict[str, Any], rows: int) -> tuple[Any, Any, Failures]:
        self._refresh()
        before = len(self.terms)
        found = self.vocabulary.compute(function, columns, rows)
        self._adopt(before)
        return found

    def encode(self, columns: Sequence[pa.Array], rows: int) -> Any:
        """Columns of keys as an array of ids; what is new becomes a term of the dictionary at once."""
        if not columns:
            return np.empty((0, rows), np.int32)
        self._refresh()
        before, dictionary = len(self.terms), self.vocabulary.dictionary
        ids = np.stack([read_keys(dictionary, column) for column in columns])
        self._adopt(before)
        return ids.view(np.int32)

    def _adopt(self, before: int) -> None:
        """Let the dictionary know the terms that are new here."""
        dictionary = self.vocabulary.dictionary
        if len(dictionary) > before:
            fresh = np.arange(before, len(dictionary), dtype=np.uint32)
            self.terms.adopt(key_array(dictionary, fresh).to_pylist())

    def _refresh(self) -> None:
        """Take over the terms that are new since the last time."""
        dictionary = self.vocabulary.dictionary
        first = len(dictionary)
        if first == len(self.terms):
            return
        data, offsets = text_buffers(self.terms.keys_from(first))
        dictionary.extend(data, offsets)
        if len(dictionary) != len(self.terms):
            raise InternalError("the terms on the driver are not those of the dictionary")
