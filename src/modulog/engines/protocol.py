"""The back-end boundary: expressions as data, and what tables, relations and engines promise.

Algorithms build expressions and hand a whole round of them to an engine at once; they never see how facts are kept. A
variable is a string, a constant the integer id of its term, and None stands for an argument nobody asks for.

Versions of a relation inside a fixpoint: `old` (I), `delta` (Δ) and `all` (I ∪ Δ). During an update also `before` (I), `after`
((I \\ D) ∪ A), `kept` (I \\ (D \\ A)), `either` (I ∪ A), `gone` (D \\ A) and `come` (A \\ D), D and A being what has been retracted
and merged since `begin`. While facts are leaving, Δ is part of what is there: `all` is (I \\ D) ∪ A, `old` the same without Δ.
Outside an update `before`, `after`, `kept` and `either` are the present state, `gone` and `come` empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from modulog.engines.schemes import PLAIN, Scheme

if TYPE_CHECKING:
    from modulog.engines.capabilities import Closing, Viewing

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
class Compute:
    """A function of values: its name, and variables, constants or other functions' values as its arguments."""

    function: str
    arguments: tuple[Value, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables, each once."""
        return tuple(dict.fromkeys(v for argument in self.arguments for v in variables_of(argument)))


Value = str | int | Compute


def variables_of(value: Value) -> tuple[str, ...]:
    """The variables that a value needs."""
    if isinstance(value, Compute):
        return value.variables
    return (value,) if isinstance(value, str) else ()


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of two values: `= != < <= > >=`, or, of variables and constants only, `is` for the same term."""

    operator: str
    left: Value
    right: Value

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of both sides, with repetitions."""
        return (*variables_of(self.left), *variables_of(self.right))

    @property
    def computes(self) -> bool:
        """Whether a side is more than a variable or a constant."""
        return isinstance(self.left, Compute) or isinstance(self.right, Compute)


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """The rows that satisfy a condition."""

    child: Expr
    condition: Condition
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Extend:
    """Each row with one more variable: a constant, a copy of another variable, or what a function gives.

    A row for which the function has no value is left out. New terms have their ids before anybody sees the row.
    """

    child: Expr
    variable: str
    value: Value

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
    """The rows of a table; its columns are the variables, perhaps under other names. Without columns, one row is "true"."""

    table: Table
    names: tuple[str, ...] | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        return self.table.columns if self.names is None else self.names


@dataclass(frozen=True, slots=True, eq=False)
class Multiway:
    """The matches of several reads that close a cycle, joined all at once, variable by variable. Keeps `variables`, at least.

    With `counting` a row has the number of its matches as multiplicity; otherwise it may be repeated. Only for relations that say `intersects`.
    `order` is the order in which to bind the variables of all reads; without it the engine chooses.
    """

    reads: tuple[Read, ...]
    variables: tuple[str, ...]
    counting: bool = False
    order: tuple[str, ...] = ()


Expr = Multiway | Read | Join | SemiJoin | AntiJoin | Where | Extend | Project | Union | Rows

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
    """Bytes held, and the bytes that listing every fact in a plain table would take.

    >>> from modulog import Reasoner
    >>> memory = Reasoner("p(?x, ?y) :- q(?y, ?x) . q(a, b) . q(b, c) .").materialise().memory
    >>> memory["p/2"].plain
    16
    """

    bytes: int
    plain: int


class Relation(Protocol):
    """One predicate, whatever keeps its facts. `by_source` asks that Δ be kept apart by module, for reads with `except_from`.

    `intersects` says that its facts can be read in sorted order, for `Multiway`.
    """

    name: str
    arity: int
    by_source: bool
    intersects: bool

    @property
    def closing(self) -> Closing | None:
        """The relation itself, if it can close what it is given."""

    @property
    def viewing(self) -> Viewing | None:
        """The relation itself, if it can show the facts of others."""

    @property
    def listed(self) -> bool:
        """Whether the facts are listed, rather than represented by fewer ones."""

    @property
    def takes_facts(self) -> bool:
        """Whether facts are handed in one by one, rather than following from others that it knows."""

    @property
    def scheme(self) -> Scheme:
        """How the facts are kept now: plain, or a decided scheme."""

    @property
    def storage(self) -> str:
        """How the facts are kept and why, for people; empty where that needs no words."""

    def has(self, version: Version) -> bool:
        """Whether there is any fact; cheaper than `size`."""

    def guess(self, version: Version) -> int:
        """As `size`, but perhaps too many, where counting would mean reading."""

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

    def derive(self, leaving: bool = False) -> int:
        """delta := what was scheduled, minus what is there; returns its size.

        Inside an update, `leaving` makes it those of the scheduled facts that are there, and `merge` takes them away. Facts leave
        before facts come: after a round without `leaving`, `rest` must end the fixpoint before anything is scheduled to leave.
        """

    def merge(self) -> None:
        """delta joins old, and inside an update A; if it is leaving, its facts of I join D, and those of A leave A."""

    def spare(self, rows: Table) -> None:
        """While facts are leaving: those of the rows that are in delta leave it again, and stay facts."""

    def rest(self) -> None:
        """The fixpoint is over: give up what only its rounds need."""

    def retract(self, rows: Table) -> None:
        """Inside an update, between two rounds: take facts away. Those of I join D; those of A leave A."""

    def begin(self) -> None:
        """before := the current state."""

    def commit(self) -> None:
        """The current state becomes `before` for good."""

    def rollback(self) -> None:
        """Back to `before`."""

    def memory(self) -> Memory:
        """What the facts cost."""


class Counters(Protocol):
    """A number for each fact, zero unless something was added: how many derivations it has."""

    name: str
    arity: int

    def adjust(self, rows: Table, sign: int = 1) -> None:
        """Add the multiplicity of each row, times the sign, to the number of its fact; without multiplicities, one."""

    def positive(self, rows: Table) -> Table:
        """Those of the rows whose number is above zero."""

    def numbers(self, rows: Table) -> Any:
        """The number of each row, as an array."""

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
        """What a function gives for rows: ids, new where need be, and a mask of the rows that have a value."""

    def __len__(self) -> int:
        """The number of terms; ids are smaller."""


@dataclass(slots=True)
class Work:
    """One rule to evaluate in a round: facts for `relation` from `expr`, whose columns are its arguments, for a module."""

    relation: Relation
    expr: Expr
    source: ModuleId
    label: object = ""  # what statistics call it
    rows: int | None = None  # how many rows the expression gave, set by an engine that counts them
    seconds: float = 0.0
    failures: Failures = (
        Failures()
    )  # of its evaluation, where the engine can tell them from those of other rules
    there: bool = (
        False  # whether all of the facts held when the update began, which an engine need not look up then
    )


class Engine(Protocol):
    """Keeps relations and evaluates expressions over them.

    Where a round is expensive, `shares_rounds` asks for strata that do not depend on each other to be evaluated together.
    """

    shares_rounds: bool
    represents: frozenset[str]  # those of REPRESENTABLE that it has schemes for

    @property
    def failures(self) -> Failures:
        """How often, so far, values could not be compared or had no result."""

    @property
    def actions(self) -> int:
        """How often so far a cluster was asked to evaluate something; 0 where there is none."""

    def described(self, what: str) -> AbstractContextManager[None]:
        """Where a cluster is watched while it works: work inside the context is shown there under a description."""

    def relation(self, name: str, arity: int, scheme: Scheme = PLAIN) -> Relation:
        """A new, empty relation; of a kind of closure it is `Closing`, of the kind "view" `Viewing`."""

    def counters(self, name: str, arity: int) -> Counters:
        """New counters, all of them zero."""

    def table(self, columns: tuple[str, ...], ids: Any) -> Table:
        """A table of the given ids: an array with one row for each column."""

    def run(
        self,
        work: Sequence[Work],
        lazily: bool = False,
        limit: int | None = None,
    ) -> None:
        """Evaluate every piece of work, all over the same versions, and schedule the results.

        `lazily` says that no recursion waits for them: the engine may put the evaluation off until somebody reads. With a `limit` the engine may stop as soon as all pieces together gave more rows:
        what was scheduled is then good for nothing.
        """

    def settle(self) -> None:
        """Evaluate what was put off: from now on every size is exact."""

    def evaluate(self, expr: Expr, limit: int | None = None) -> Iterator[Table]:
        """The rows of an expression in bounded chunks; the order is not fixed."""

    def count(self, expr: Expr) -> int:
        """How many rows an expression has."""

    def collect(self, expr: Expr, limit: int | None = None) -> Table:
        """All rows of an expression, in one table; where there are more than `limit`, perhaps only some, but more than `limit`."""

    def ask(self, expr: Expr) -> Table:
        """The same, good until a relation changes; where a table costs a job, it is evaluated with whatever reads it."""

    def snapshot(self, read: Read) -> Table:
        """What a read gives now, to be kept: its rows, or where these are represented something that lists them when they are asked for."""

    def reach(self, seeds: Expr, graph: Expr) -> Iterator[Table]:
        """Pairs (s, t), each once: a seed (s, y) and a path of edges (u, v), perhaps of none, from y to t."""

    def components(self, edges: Expr) -> Table:
        """Every node x of the edges with a member c of its connected component, the same for all of them."""

    def gathers(self, rows: int) -> bool:
        """Whether so many rows of a table may be read where the algorithms run, by its `batches`."""

    def close(self) -> None:
        """Give everything back."""
