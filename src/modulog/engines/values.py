"""What an engine must know of values: how to compare them and to compute with them, and what can fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from modulog.algebra.expressions import Compute, Condition


@dataclass(frozen=True, slots=True)
class Failures:
    """How often values could not be compared, or had no result: each time a row was left out.

    >>> from modulog import Reasoner
    >>> r = Reasoner("old(?x) :- age(?x, ?n), ?n > 90 . age(Ada, 91) . age(Ben, unknown) .")
    >>> r.materialise().failures.incomparable
    1
    """

    incomparable: int = 0
    overflows: int = 0
    divisions_by_zero: int = 0
    ill_typed: int = 0

    def __add__(self, other: Failures) -> Failures:
        return Failures(*(a + b for a, b in zip(self.counts(), other.counts(), strict=True)))

    def __sub__(self, other: Failures) -> Failures:
        if self is other:  # as it is for rules without conditions and functions
            return NO_FAILURES
        return Failures(*(a - b for a, b in zip(self.counts(), other.counts(), strict=True)))

    def counts(self) -> tuple[int, int, int, int]:
        """The four numbers, in order."""
        return self.incomparable, self.overflows, self.divisions_by_zero, self.ill_typed

    def told(self) -> list[str]:
        """What happened, in a line for each kind.

        >>> Failures(2, 0, 1).told()
        ['2 comparisons of values that cannot be compared counted as false', '1 division by zero gave no fact']
        """
        words = (
            ("comparison", "comparisons", " of values that cannot be compared counted as false"),
            ("result too big for its kind", "results too big for their kind", " gave no fact"),
            ("division", "divisions", " by zero gave no fact"),
            ("function", "functions", " with arguments of the wrong kind gave no fact"),
        )
        found = zip(self.counts(), words, strict=True)
        return [f"{n:,} {one if n == 1 else many}{what}" for n, (one, many, what) in found if n]


NO_FAILURES = Failures()


class Values(Protocol):
    """What an engine must know of terms: how to compare their values and to compute with them."""

    def compare(self, operator: str, left: Any, right: Any) -> tuple[Any, int]:
        """A mask of the pairs of ids that satisfy the operator, and how many pairs are incomparable."""

    def satisfy(self, condition: Condition, columns: dict[str, Any], rows: int) -> tuple[Any, Failures]:
        """A mask of the rows, given by the ids of variables, that satisfy a condition with functions."""

    def compute(self, function: Compute, columns: dict[str, Any], rows: int) -> tuple[Any, Any, Failures]:
        """What a function gives for rows: ids, new where need be, and a mask of the rows that have a
        value.
        """

    def __len__(self) -> int:
        """The number of terms; ids are smaller."""
