"""Hypertree decompositions as values that can be printed.

A node p joins the atoms λ(p) and keeps the values of the variables χ(p) (Zhang, Hu, Nenov, Horrocks:
Enhancing Datalog Reasoning with Hypertree Decompositions, section 2.4). Decompositions here are *complete*:
every body atom B has a node with B ∈ λ(p) and var(B) ⊆ χ(p). Condition 1 as printed in the paper is weaker:
by it, an atom might be in no λ(p) and would not be checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from modulog.language.model import Comparison, Negation
from modulog.language.printer import print_literal
from modulog.planning.plan import Clause


@dataclass(frozen=True, slots=True)
class HypertreeNode:
    """A node p of the tree; atoms, negated atoms and comparisons are given by their positions in the clause.

    `atoms` is λ(p), `variables` is χ(p). The atoms `cover` are those of λ(p) that count for the width: their
    variables include χ(p). The other atoms have no variables outside χ(p) and only filter; as leaves of their
    own they would need a table each and would not make the tree narrower. `join` estimates the rows that
    evaluating the node goes through, `rows` those of its result. If leaving out variables that no one else
    reads makes the result much smaller, `kept` are the remaining variables and `kept_rows` estimates the rows
    over them.
    """

    atoms: tuple[int, ...]
    cover: tuple[int, ...]
    variables: tuple[str, ...]
    join: float
    rows: float
    children: tuple[HypertreeNode, ...] = ()
    negations: tuple[int, ...] = ()
    comparisons: tuple[int, ...] = ()
    kept: tuple[str, ...] | None = None
    kept_rows: float = 0.0

    @property
    def table(self) -> tuple[str, ...]:
        """The variables of the node's table: `kept` if it is set, otherwise χ(p)."""
        return self.variables if self.kept is None else self.kept

    def subtree(self) -> Iterator[HypertreeNode]:
        """The nodes of the subtree T_p, each before its children."""
        yield self
        for child in self.children:
            yield from child.subtree()


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A complete decomposition of a clause; its own `negations` and `comparisons` follow the join."""

    clause: Clause
    root: HypertreeNode
    cost: float
    negations: tuple[int, ...] = ()
    comparisons: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """The greatest size of a node's cover."""
        return max(len(p.cover) for p in self.nodes())

    @property
    def needed(self) -> frozenset[str]:
        """The variables that are read after the join: by the head, by filters and by computed values."""
        parts = [self.clause.negations[i] for i in self.negations]
        asked = [v for part in (self.clause.head, *parts) for v in part.variables()]
        asked += [v for i in self.comparisons for v in self.clause.comparisons[i].variables()]
        return frozenset(v.name for v in asked)

    def nodes(self) -> Iterator[HypertreeNode]:
        """All nodes, each before its children: the order of nodes that equation (8) of the paper needs."""
        return self.root.subtree()

    def __str__(self) -> str:
        lines = [f"width {self.width}, estimated cost {_number(self.cost)}", *self._draw(self.root, "", "")]
        late = self._filters(self.negations, self.comparisons)
        return "\n".join([*lines, f"after the join: {late}"] if late else lines)

    def _draw(self, p: HypertreeNode, first: str, below: str) -> Iterator[str]:
        """The lines of a subtree; `first` is put before the line of its root, `below` before all others."""
        names = ", ".join(f"?{v}" for v in p.variables)
        filters = self._filters(p.negations, p.comparisons)
        joined = ", ".join(print_literal(self.clause.atoms[i]) for i in p.atoms)
        where = f" where {filters}" if filters else ""
        keeps = "" if p.kept is None else f" over {', '.join(f'?{v}' for v in p.kept) or 'nothing'}"
        rows = _number(p.rows if p.kept is None else p.kept_rows)
        yield f"{first}{{{names}}} {joined}{where}  ~{rows} rows{keeps}"
        for child in p.children:
            last = child is p.children[-1]
            yield from self._draw(
                child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")
            )

    def _filters(self, negations: tuple[int, ...], comparisons: tuple[int, ...]) -> str:
        literals: list[Negation | Comparison] = [Negation(self.clause.negations[i]) for i in negations]
        literals += [self.clause.comparisons[i] for i in comparisons]
        return ", ".join(map(print_literal, literals))


def _number(estimate: float) -> str:
    return f"{estimate:,.0f}" if estimate < 1e9 else f"{estimate:.0e}"
