"""What an engine answers with: an immutable table of ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol


class Table(Protocol):
    """An immutable result: named columns of ids, perhaps with multiplicities."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    def __len__(self) -> int:
        """The number of rows: known, never a job."""

    def batches(self) -> Iterator[Any]:
        """The rows as Arrow record batches of ids; multiplicities, if any, in a last column `#`."""


def columns_of(arity: int) -> tuple[str, ...]:
    """The names of the columns for the arguments of a predicate: c0, c1, …

    >>> columns_of(2)
    ('c0', 'c1')
    """
    return tuple(f"c{j}" for j in range(arity))
