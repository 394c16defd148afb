"""The back-end boundary: expressions as data, and what tables, relations and engines promise.

Algorithms build expressions and hand a whole round of them to an engine at once; they never see how facts are kept. A
variable is a string, a constant the integer id of its term, and None stands for an argument nobody asks for.

Versions of a relation inside a fixpoint: `old` (I), `delta` (Δ) and `all` (I ∪ Δ). During an update also `before` (I), `after`
((I \\ D) ∪ A), `kept` (I \\ (D \\ A)), `either` (I ∪ A), `gone` (D \\ A) and `come` (A \\ D), D and A being what has been retracted
and merged since `begin`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Version = Literal["old", "delta", "all", "before", "after", "kept", "either", "gone", "come"]
Argument = str | int | None
ModuleId = int

EXPLICIT: ModuleId = -1
"""The source of explicit facts."""

# ---- Expressions -----------------------------------------------------------------------------------------------------
# Identity is equality. A projection is what an engine evaluates again and again: it may keep there what it made of it.


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """The facts of a relation that match the arguments; `except_from` leaves out a module's own part of Δ (Δ \\ Δ_i)."""

    relation: Relation
    args: tuple[Argument, ...]
    version: Version = "all"
    except_from: ModuleId | None = None
    variables: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "variables", tuple(dict.fromkeys(a for a in self.args if isinstance(a, str)))
        )


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """Rows of both sides that agree on their common variables; multiplicities multiply. Keeps `variables` only."""

    left: Expr
    right: Expr
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SemiJoin:
    """The rows on the left that agree with some row on the right."""

    left: Expr
    right: Expr
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AntiJoin:
    """The rows on the left that agree with no row on the right."""

    left: Expr
    right: Expr
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of two values, variables or constants: `= != < <= > >=`, or `is` for the same term."""

    operator: str
    left: str | int
    right: str | int

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(v for v in (self.left, self.right) if isinstance(v, str))


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """The rows that satisfy a condition."""

    child: Expr
    condition: Condition
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Extend:
    """Each row with one more variable: a constant, or a copy of another variable."""

    child: Expr
    variable: str
    value: str | int

    @property
    def variables(self) -> tuple[str, ...]:
        return (*self.child.variables, self.variable)


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """The given arguments of each row, as variables or constants.

    How: "set" removes duplicates, "sum" adds their multiplicities, "keep" leaves them: whoever reads the result must not mind.
    """

    child: Expr
    args: tuple[str | int, ...]
    how: Literal["set", "sum", "keep"] = "set"
    compiled: Any = field(default=None, init=False, repr=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns: a variable under its name; a constant, or a variable that is there already, under `#` and its place."""
        names: list[str] = []
        for j, a in enumerate(self.args):
            names.append(a if isinstance(a, str) and a not in names else f"#{j}")
        return tuple(names)


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """The rows of all parts, which have the same variables in the same order."""

    parts: tuple[Expr, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        return self.parts[0].variables


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a table; its columns are the variables. A table without columns and with one row is "true"."""

    table: Table

    @property
    def variables(self) -> tuple[str, ...]:
        return self.table.columns


Expr = Read | Join | SemiJoin | AntiJoin | Where | Extend | Project | Union | Rows

# ---- Tables and relations --------------------------------------------------------------------------------------------


class Table(Protocol):
    """An immutable result: named columns of ids, perhaps with multiplicities."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    def __len__(self) -> int:
        """The number of rows: known, never a job."""

    def batches(self) -> Iterator[Any]:
        """The rows as Arrow record batches of ids; multiplicities, if any, in a last column `#`."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many facts there are, and how many different values in each argument; reads no data."""

    rows: float
    distinct: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes held, and the bytes that listing every fact in a plain table would take."""

    bytes: int
    plain: int


class Relation(Protocol):
    """One predicate, whatever keeps its facts."""

    name: str
    arity: int

    def estimate(self, version: Version) -> Estimate:
        """Sizes for the planner, without reading data."""

    def unsorted(self, bound: tuple[int, ...], version: Version) -> int:
        """How many facts must be sorted before they can be looked up by the bound arguments; 0 where an index exists."""

    def scan(self, args: tuple[Argument, ...], version: Version) -> Iterator[Table]:
        """The matching facts in bounded chunks; the columns are the variables of `args`."""

    def contains(self, rows: Table, version: Version) -> Table:
        """Those of the rows that are facts."""

    def count(self, args: tuple[Argument, ...], version: Version, by: int | None = None) -> Table:
        """How many facts match: one row `#`, or one for each value of argument `by`."""

    def distinct(self, column: int, version: Version) -> Table:
        """The different values of one argument."""

    def size(self, version: Version) -> int:
        """How many facts there are; a guess above zero while their evaluation has been put off."""

    def schedule(self, rows: Table, source: ModuleId) -> None:
        """Hand in derived or explicit facts for the next `derive`; they may repeat what is there."""

    def derive(self) -> int:
        """delta := what was scheduled, minus what is there; returns its size."""

    def merge(self) -> None:
        """delta joins old."""

    def rest(self) -> None:
        """The fixpoint is over: give up what only its rounds need."""

    def adjust(self, rows: Table) -> None:
        """Outside updates: add the multiplicities of the rows, which may be negative, to the weights of facts."""

    def retract(self, rows: Table) -> None:
        """Inside an update: take facts away. Those of I join D, with their whole weight; those of A leave A."""

    def begin(self) -> None:
        """before := the current state."""

    def commit(self) -> None:
        """The current state becomes `before` for good."""

    def rollback(self) -> None:
        """Back to `before`."""

    def memory(self) -> Memory:
        """What the facts cost."""


class Values(Protocol):
    """What an engine must know of terms: how to compare their values."""

    def compare(self, operator: str, left: Any, right: Any) -> tuple[Any, int]:
        """A mask of the pairs of ids that satisfy the operator, and how many pairs are incomparable."""

    def __len__(self) -> int:
        """The number of terms; ids are smaller."""


@dataclass(slots=True)
class Work:
    """One rule to evaluate in a round: facts for `relation` from `expr`, whose columns are its arguments, for a module."""

    relation: Relation
    expr: Expr
    source: ModuleId
    label: object = ""  # what statistics call it
    rows: int = 0  # how many rows the expression gave, set by the engine
    seconds: float = 0.0


class Engine(Protocol):
    """Keeps relations and evaluates expressions over them.

    Where a round is expensive, `shares_rounds` asks for strata that do not depend on each other to be evaluated together.
    """

    shares_rounds: bool

    @property
    def incomparable(self) -> int:
        """How many comparisons so far had values that cannot be compared."""

    def relation(self, name: str, arity: int, scheme: str = "plain") -> Relation:
        """A new, empty relation."""

    def table(self, columns: tuple[str, ...], ids: Any) -> Table:
        """A table of the given ids: an array with one row for each column."""

    def run(self, work: Sequence[Work], lazily: bool = False) -> None:
        """Evaluate every piece of work, all over the same versions, and schedule the results.

        `lazily` says that no recursion waits for them: the engine may put the evaluation off until somebody reads.
        """

    def settle(self) -> None:
        """Evaluate what was put off: from now on every size is exact."""

    def evaluate(self, expr: Expr, limit: int | None = None) -> Iterator[Table]:
        """The rows of an expression in bounded chunks; the order is not fixed."""

    def count(self, expr: Expr) -> int:
        """How many rows an expression has."""

    def close(self) -> None:
        """Give everything back."""
