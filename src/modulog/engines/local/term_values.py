"""Where terms and integers meet for an engine: ids of constants, their names, the comparison of their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from modulog.algebra.expressions import Compute, Condition
from modulog.engines.values import Failures
from modulog.language.printer import print_term
from modulog.terms.constant import Constant
from modulog.terms.dictionary import Dictionary
from modulog.terms.literal_values import compare
from modulog.terms.term_functions import compute, satisfy


class Vocabulary:
    """A dictionary as engines and clauses see it.

    >>> from modulog.terms.python_values import constant
    >>> v = Vocabulary(Dictionary())
    >>> v.name(v.identify(constant("a")))
    'a'
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._known: dict[Constant, int] = {}

    def __len__(self) -> int:
        return len(self.dictionary)

    def identify(self, constant: Constant) -> int:
        """The id of a constant, new if need be."""
        found = self._known.get(constant)
        if found is None:
            found = self._known[constant] = int(self.dictionary.encode([constant])[0])
        return found

    def name(self, number: int) -> str:
        """The constant of an id, as rules write it."""
        return print_term(self.dictionary.decode([number])[0])

    def compare(self, operator: str, left: Any, right: Any) -> tuple[Any, int]:
        """A mask of the pairs of ids that satisfy the operator, and how many pairs are incomparable."""
        return compare(self.dictionary, operator, left.view(np.uint32), right.view(np.uint32))

    def satisfy(self, condition: Condition, columns: dict[str, Any], rows: int) -> tuple[Any, Failures]:
        """A mask of the rows that satisfy a condition with functions."""
        return satisfy(self.dictionary, condition, columns, rows)

    def compute(self, function: Compute, columns: dict[str, Any], rows: int) -> tuple[Any, Any, Failures]:
        """What a function gives for rows: ids, new where need be, and a mask of the rows that have a value."""
        return compute(self.dictionary, function, columns, rows)
