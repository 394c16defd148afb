"""What relations promise that can keep facts without listing them: closures and views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from modulog.engines.protocol import Relation, Table


class Closing(Relation, Protocol):
    """A relation that can close the external facts that it is given.

    It represents the facts that follow from them, and perhaps lists them too. A linear closure has edges
    beside its seeds. Facts, seeds and edges run as the closure does: from a source to a target.
    """

    def consider(self, seeds: Table, edges: Table | None) -> bool:
        """Take all seeds and edges, and close them; False if what follows must be listed by others."""

    def holds(self, external: int) -> bool:
        """Whether so many external facts can be closed; if not, others list what follows, inside an update too."""

    def later(self, given: Callable[[], tuple[Table, Table | None]], rows: int) -> None:
        """Represent what follows from seeds and edges, so many facts; they are asked for at the first question."""

    def keep_list(self, relation: Relation) -> bool:
        """Take the facts of a listed relation as its list; False if it keeps none.

        They follow from the external facts that `later` gives.
        """

    def become(self, other: Relation) -> None:
        """Inside an update, hold what another relation of its kind holds.

        This is asked of closures that other recursive rules feed.
        """

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
