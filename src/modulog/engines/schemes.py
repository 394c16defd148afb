"""How an engine is asked to keep the facts of a predicate: a storage scheme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["plain", "closure", "reflexive closure", "components", "right-linear", "left-linear", "view"]
"""A list of facts; one of five kinds of closure, represented by what it follows from; or other relations,
shown as one's own.
"""

CLOSURES: frozenset[Kind] = frozenset(
    ("closure", "reflexive closure", "components", "right-linear", "left-linear")
)
"""The kinds of relations that close what they are given."""

REPRESENTABLE = frozenset({"closures", "shared closures", "views"})
"""What an engine may have schemes for: closures that are alone in their stratum, closures that other
recursive rules feed, and unions and inverses.
"""


Listing = Literal["never", "auto", "always"]
"""Whether facts that could be represented are listed."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """A kind of storage, and whether the facts are listed.

    With "auto" the relation itself decides, once it knows its facts. `shared` says that other recursive rules
    than its own feed a closure.

    >>> Scheme("closure", "auto").represented
    Scheme(kind='closure', listing='never', shared=False)
    >>> Scheme("right-linear").is_linear
    True
    """

    kind: Kind = "plain"
    listing: Listing = "never"
    shared: bool = False

    @property
    def represented(self) -> Scheme:
        """The same, decided."""
        return Scheme(self.kind, shared=self.shared)

    @property
    def is_linear(self) -> bool:
        """Whether a closure has edges beside its seeds."""
        return self.kind in ("right-linear", "left-linear")


PLAIN = Scheme()
"""Facts are listed."""
