"""What an engine is: it makes relations, and evaluates a whole round of expressions over them at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from modulog.algebra.expressions import Expr, Read
from modulog.engines.relation import Counters, ModuleId, Relation
from modulog.engines.schemes import PLAIN, Scheme
from modulog.engines.table import Table
from modulog.engines.values import NO_FAILURES, Failures


@dataclass(slots=True)
class Work:
    """One rule to evaluate in a round: facts for `relation` from `expr`, whose columns are its arguments, for
    a module.
    """

    relation: Relation
    expr: Expr
    source: ModuleId
    label: object = ""  # what statistics call it
    rows: int | None = None  # how many rows the expression gave, set by an engine that counts them
    seconds: float = 0.0
    failures: Failures = NO_FAILURES
    """Of its evaluation, where the engine can tell them from those of other rules."""
    there: bool = False
    """Whether all of the facts held when the update began, which an engine need not look up then."""


class Engine(Protocol):
    """Keeps relations and evaluates expressions over them.

    An engine derives from this class and writes the functions without a body; the others have answers that
    are right for any engine, and that engines replace which know better.
    """

    shares_rounds: bool = False
    """Whether strata that do not depend on each other are to be evaluated together, since a round is
    expensive.
    """

    represents: frozenset[str] = frozenset()
    """Those of `schemes.REPRESENTABLE` that it has schemes for."""

    # ---- Keeping

    @abstractmethod
    def relation(self, name: str, arity: int, scheme: Scheme = PLAIN) -> Relation:
        """A new, empty relation; of a kind of closure it is `Closing`, of the kind "view" `Viewing`.

        Schemes that the engine does not represent are not asked for.
        """

    @abstractmethod
    def counters(self, name: str, arity: int) -> Counters:
        """New counters, all of them zero."""

    @abstractmethod
    def table(self, columns: tuple[str, ...], ids: Any) -> Table:
        """A table of the given ids: an array with one row for each column."""

    # ---- Evaluating

    @abstractmethod
    def run(self, work: Sequence[Work], lazily: bool = False, limit: int | None = None) -> None:
        """Evaluate every piece of work, all over the same versions, and schedule the results.

        `lazily` says that no recursion waits for them: the engine may put the evaluation off until somebody
        reads. With a `limit` the engine may stop as soon as all pieces together gave more rows: what was
        scheduled is then good for nothing.
        """

    @abstractmethod
    def evaluate(self, expr: Expr, limit: int | None = None) -> Iterator[Table]:
        """The rows of an expression in bounded chunks, the first `limit` of them; the order is not fixed."""

    @abstractmethod
    def collect(self, expr: Expr, limit: int | None = None) -> Table:
        """All rows of an expression, in one table; of more than `limit`, perhaps only some, but more than
        `limit`.
        """

    def count(self, expr: Expr) -> int:
        """How many rows an expression has."""
        return sum(map(len, self.evaluate(expr)))

    def ask(self, expr: Expr) -> Table:
        """As `collect`, good until a relation changes; evaluated with whatever reads it, where a table costs
        a job.
        """
        return self.collect(expr)

    def snapshot(self, read: Read) -> Table:
        """What a read gives now, to be kept: its rows, or what lists them later where they are
        represented.
        """
        return self.collect(read)

    @abstractmethod
    def reach(self, seeds: Expr, graph: Expr) -> Iterator[Table]:
        """Pairs (s, t), each once: a seed (s, y) and a path of edges (u, v), perhaps of none, from y to t."""

    @abstractmethod
    def components(self, edges: Expr) -> Table:
        """Every node x of the edges with a member c of its connected component, the same for all of them."""

    def gathers(self, rows: int) -> bool:
        """Whether so many rows of a table may be read where the algorithms run, by its `batches`."""
        return True

    # ---- Observing

    @property
    @abstractmethod
    def failures(self) -> Failures:
        """How often, so far, values could not be compared or had no result."""

    @property
    def actions(self) -> int:
        """How often so far a cluster was asked to evaluate something; 0 where there is none."""
        return 0

    def described(self, what: str) -> AbstractContextManager[None]:
        """Where a cluster is watched while it works: work inside the context is shown there under a
        description.
        """
        return nullcontext()

    def settle(self) -> None:
        """Evaluate what was put off: from now on every size is exact."""

    def close(self) -> None:
        """Give everything back."""
