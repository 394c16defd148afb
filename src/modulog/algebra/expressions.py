"""Expressions of the algebra, as data: what rules ask of relations, for any engine to evaluate.

A variable is a string, a constant the integer id of its term, and None stands for an argument that is not
asked for. Each has `children`, the expressions that it is made of, from left to right, and `variables`, its
columns. Identity is equality. Algorithms build expressions and hand them to an engine; they never see how
facts are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from modulog.engines.relation import ModuleId, Relation, Version

if TYPE_CHECKING:
    from modulog.engines.table import Table

Argument = str | int | None


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """The facts of a relation that match the arguments; `except_from` leaves out a module's own part of Δ (Δ
    \\ Δ_i).
    """

    relation: Relation
    args: tuple[Argument, ...]
    version: Version = "all"
    except_from: ModuleId | None = None
    variables: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "variables", tuple(dict.fromkeys(a for a in self.args if isinstance(a, str)))
        )

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """Rows of both sides that agree on their common variables; multiplicities multiply. Keeps `variables`
    only.
    """

    left: Expr
    right: Expr
    variables: tuple[str, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.left, self.right


@dataclass(frozen=True, slots=True, eq=False)
class SemiJoin:
    """The rows on the left that agree with some row on the right."""

    left: Expr
    right: Expr
    variables: tuple[str, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.left, self.right


@dataclass(frozen=True, slots=True, eq=False)
class AntiJoin:
    """The rows on the left that agree with no row on the right."""

    left: Expr
    right: Expr
    variables: tuple[str, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.left, self.right


@dataclass(frozen=True, slots=True)
class Compute:
    """A function of values: its name, and variables, constants or other functions' values as its
    arguments.
    """

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
    """A comparison of two values: `= != < <= > >=`, or, of variables and constants only, `is` for the same
    term.
    """

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

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.child,)


@dataclass(frozen=True, slots=True, eq=False)
class Extend:
    """Each row with one more variable: a constant, a copy of another variable, or what a function gives.

    A row for which the function has no value is left out. New terms have their ids before anybody sees the
    row.
    """

    child: Expr
    variable: str
    value: Value

    @property
    def variables(self) -> tuple[str, ...]:
        return (*self.child.variables, self.variable)

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.child,)


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """The given arguments of each row, as variables or constants.

    How: "set" removes duplicates, "sum" adds their multiplicities, "keep" leaves them: whoever reads the
    result must not mind.
    """

    child: Expr
    args: tuple[str | int, ...]
    how: Literal["set", "sum", "keep"] = "set"
    compiled: Any = field(default=None, init=False, repr=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns: a variable under its name; a constant, or a variable that is there already, under `#`
        and its place.
        """
        names: list[str] = []
        for j, a in enumerate(self.args):
            names.append(a if isinstance(a, str) and a not in names else f"#{j}")
        return tuple(names)

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.child,)


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """The rows of all parts, which have the same variables in the same order."""

    parts: tuple[Expr, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        return self.parts[0].variables

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.parts


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a table; its columns are the variables, perhaps under other names. Without columns, one row
    is "true".
    """

    table: Table
    names: tuple[str, ...] | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        return self.table.columns if self.names is None else self.names

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class Multiway:
    """The matches of several reads that close a cycle, joined all at once, variable by variable. Keeps
    `variables`, at least.

    With `counting` a row has the number of its matches as multiplicity; otherwise it may be repeated. Only
    for relations that say `intersects`. `order` is the order in which to bind the variables of all reads;
    without it the engine chooses.
    """

    reads: tuple[Read, ...]
    variables: tuple[str, ...]
    counting: bool = False
    order: tuple[str, ...] = ()

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.reads


Expr = Multiway | Read | Join | SemiJoin | AntiJoin | Where | Extend | Project | Union | Rows
