"""What an engine keeps: the facts of a predicate, and numbers of facts.

Versions of a relation inside a fixpoint: `old` (I), `delta` (Δ) and `all` (I ∪ Δ). During an update also
`before` (I), `after` ((I \\ D) ∪ A), `kept` (I \\ (D \\ A)), `either` (I ∪ A), `gone` (D \\ A) and `come` (A
\\ D), D and A being what has left and joined since `begin`. While facts are leaving, Δ is part of what is
there: `all` is (I \\ D) ∪ A, `old` the same without Δ. Outside an update `before`, `after`, `kept` and
`either` are the present state, `gone` and `come` empty.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from modulog.engines.schemes import PLAIN, Scheme
from modulog.engines.table import Table

Version = Literal["old", "delta", "all", "before", "after", "kept", "either", "gone", "come"]
ModuleId = int

EXPLICIT: ModuleId = -1
"""The source of explicit facts."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many facts there are, and how many different values in each argument; reads no data."""

    rows: float
    distinct: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes held, and the bytes that listing every fact in a plain table would take.

    >>> from modulog import Reasoner
    >>> memory = Reasoner("p(?x, ?y) :- q(?y, ?x) . q(a, b) . q(b, c) .").materialise().memory
    >>> memory["p/2"].plain
    16
    """

    bytes: int
    plain: int


class Relation(Protocol):
    """One predicate, whatever keeps its facts.

    An engine derives its relations from this class and writes the functions without a body; the others have
    answers that are right for a list of facts.
    """

    name: str
    arity: int

    by_source: bool = False
    """Set by a module that asks that Δ be kept apart by module, for reads with `except_from`."""

    intersects: bool = False
    """Whether the facts can be read in sorted order, for `Multiway`."""

    # ---- How facts are kept

    @property
    def closing(self) -> Closing | None:
        """The relation itself, if it can close what it is given."""
        return None

    @property
    def viewing(self) -> Viewing | None:
        """The relation itself, if it can show the facts of others."""
        return None

    @property
    def listed(self) -> bool:
        """Whether the facts are listed, rather than represented by fewer ones."""
        return True

    @property
    def takes_facts(self) -> bool:
        """Whether facts are handed in one by one, rather than following from others that it knows."""
        return True

    @property
    def scheme(self) -> Scheme:
        """How the facts are kept now: plain, or a decided scheme."""
        return PLAIN

    @property
    def storage(self) -> str:
        """How the facts are kept and why, for people; empty where that needs no words."""
        return ""

    @abstractmethod
    def memory(self) -> Memory:
        """What the facts cost."""

    # ---- Questions

    @abstractmethod
    def size(self, version: Version) -> int:
        """How many facts there are; a guess above zero while their evaluation has been put off."""

    def has(self, version: Version) -> bool:
        """Whether there is any fact; cheaper than `size`."""
        return self.size(version) > 0

    def guess(self, version: Version) -> int:
        """As `size`, but perhaps too many, where counting would mean reading."""
        return self.size(version)

    @abstractmethod
    def estimate(self, version: Version) -> Estimate:
        """Sizes for the planner, without reading data."""

    def unsorted(self, bound: tuple[int, ...], version: Version) -> int:
        """How many facts must be sorted before they are looked up by the bound arguments; 0 where an index
        exists.
        """
        return 0

    @abstractmethod
    def contains(self, rows: Table, version: Version) -> Table:
        """Those of the rows that are facts."""

    # ---- The three beats of a round

    @abstractmethod
    def schedule(self, rows: Table, source: ModuleId) -> None:
        """Hand in derived or explicit facts for the next `derive`; they may repeat what is there."""

    @abstractmethod
    def derive(self, leaving: bool = False) -> int:
        """delta := what was scheduled, minus what is there; returns its size.

        Inside an update, `leaving` makes it those of the scheduled facts that are there, and `merge` takes
        them away. Facts leave before facts come: after a round without `leaving`, `rest` must end the
        fixpoint before anything is scheduled to leave.
        """

    @abstractmethod
    def merge(self) -> None:
        """delta joins old, and inside an update A; if it is leaving, its facts of I join D, and those of A
        leave A.
        """

    @abstractmethod
    def spare(self, rows: Table) -> None:
        """While facts are leaving: those of the rows that are in delta leave it again, and stay facts."""

    def rest(self) -> None:
        """The fixpoint is over: give up what only its rounds need."""

    # ---- Updates

    @abstractmethod
    def begin(self) -> None:
        """before := the current state."""

    @abstractmethod
    def commit(self) -> None:
        """The current state becomes `before` for good."""

    @abstractmethod
    def rollback(self) -> None:
        """Back to `before`; what waits is forgotten."""


class Closing(Relation, Protocol):
    """A relation that can close the external facts that it is given.

    It represents the facts that follow from them, and perhaps lists them too. A linear closure has edges
    beside its seeds. Facts, seeds and edges run as the closure does: from a source to a target.
    """

    def consider(self, seeds: Table, edges: Table | None) -> bool:
        """Take all seeds and edges, and close them; False if what follows must be listed by others."""

    def holds(self, external: int) -> bool:
        """Whether so many external facts can be closed; if not, others list what follows, inside an update
        too.
        """

    def later(self, given: Callable[[], tuple[Table, Table | None]], rows: int) -> None:
        """Represent what follows from seeds and edges, so many facts; they are asked for at the first
        question.
        """

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
        """Compute the facts from the parts instead of listing them."""

    def consider_view(self) -> bool:
        """Compute the facts from the parts instead of listing them, if that is better; whether this is so."""


class Counters(Protocol):
    """A number for each fact, zero unless something was added: how many derivations it has."""

    name: str
    arity: int

    def adjust(self, rows: Table, sign: int = 1) -> None:
        """Add the multiplicity of each row, times the sign, to the number of its fact; without
        multiplicities, one.
        """

    def positive(self, rows: Table) -> Table:
        """Those of the rows whose number is above zero."""

    def items(self) -> Iterator[Table]:
        """The facts whose number is not zero, with their numbers as multiplicities, in bounded chunks."""

    def begin(self) -> None:
        """From here on, `rollback` undoes what is adjusted."""

    def commit(self) -> None:
        """What was adjusted since `begin` stays."""

    def rollback(self) -> None:
        """Every number is what it was at `begin`."""

    def memory(self) -> Memory:
        """What the numbers cost."""
