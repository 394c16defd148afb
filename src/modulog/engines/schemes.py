"""What relations promise that can keep facts without listing them: closures and views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeGuard

from modulog.engines.protocol import Relation, Table


class Closing(Relation, Protocol):
    """A relation that can close what is scheduled: the facts that follow are represented, not listed.

    A linear closure has edges beside its seeds. Facts, seeds and edges run as the closure does: from a source to a target.
    """

    def consider(self, seeds: Table, edges: Table | None) -> bool:
        """Take all seeds and edges, if representing what follows is better than listing it; until then facts are listed."""

    def holds(self, external: int) -> bool:
        """Whether so many external facts can be represented; if they cannot, the facts are listed from now on, inside an update too."""

    def later(self, given: Callable[[], tuple[Table, Table | None]], rows: int) -> None:
        """Represent what follows from seeds and edges that are asked for at the first question, and are known to give so many facts."""

    def become(self, other: Relation) -> None:
        """Inside an update, of a closure that other recursive rules feed: hold what another relation of its kind holds."""

    def lead(self, edges: Table) -> None:
        """Hand in edges, beside the seeds that are scheduled, for the next `derive`."""


class Viewing(Relation, Protocol):
    """A relation that can show the facts of others as its own."""

    def over(self, parts: Sequence[tuple[Relation, bool]]) -> None:
        """Say what it is a view of: relations, and whether their pairs are turned round."""

    def look(self) -> None:
        """Be a view from now on."""

    def consider_view(self) -> bool:
        """Be a view from now on, if that is better than listing what the parts have."""


def can_close(relation: Relation) -> TypeGuard[Closing]:
    """Whether a relation can close what is scheduled."""
    return hasattr(relation, "consider")


def can_view(relation: Relation) -> TypeGuard[Viewing]:
    """Whether a relation can be a view."""
    return hasattr(relation, "over")
