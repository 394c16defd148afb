"""Hypertree decompositions as values, and how they show themselves.

A node p joins the atoms λ(p) and keeps their values of the variables χ(p) (Zhang, Hu, Nenov, Horrocks: Enhancing Datalog Reasoning with Hypertree
Decompositions, section 2.4). Trees are *complete*: every body atom B has a node with B ∈ λ(p) and var(B) ⊆ χ(p); the printed condition 1 lets
atoms go unchecked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from modulog.language.model import Comparison, Negation
from modulog.language.printer import print_literal
from modulog.planning.plan import Clause


@dataclass(frozen=True, slots=True)
class HypertreeNode:
    """A vertex p of the tree; atoms, negated atoms and comparisons by their positions in the clause.

    Of λ(p), the atoms `cover` are those that the width counts: their variables hold χ(p). The others lie within χ(p) and only filter; as leaves
    of their own they would make the tree no narrower, and each would need a table. `join` estimates the rows that evaluating the node goes
    through, `rows` those that remain. Where many of these differ only in what nobody asks for, `kept` are the other variables, and `kept_rows` as many as are left then.
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
        """The variables of the node's table: χ(p), or those of them that somebody asks for."""
        return self.variables if self.kept is None else self.kept

    def subtree(self) -> Iterator[HypertreeNode]:
        """The nodes of T_p, each before its children."""
        yield self
        for child in self.children:
            yield from child.subtree()


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A complete hypertree decomposition of a clause; `negations` and `comparisons` wait for the join of all nodes."""

    clause: Clause
    root: HypertreeNode
    cost: float
    negations: tuple[int, ...] = ()
    comparisons: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """The greatest number of atoms that a node needs to hold its variables."""
        return max(len(p.cover) for p in self.nodes())

    @property
    def needed(self) -> frozenset[str]:
        """The variables that the head, a filter after the join or a computed value asks for."""
        parts = [self.clause.negations[i] for i in self.negations]
        asked = [v for part in (self.clause.head, *parts) for v in part.variables()]
        asked += [v for i in self.comparisons for v in self.clause.comparisons[i].variables()]
        return frozenset(v.name for v in asked)

    def nodes(self) -> Iterator[HypertreeNode]:
        """All nodes, each before its children: the fixed order that the triangle of equation (8) asks for."""
        return self.root.subtree()

    def __str__(self) -> str:
        lines = [f"width {self.width}, estimated cost {_number(self.cost)}", *self._draw(self.root, "", "")]
        late = self._filters(self.negations, self.comparisons)
        return "\n".join([*lines, f"after the join: {late}"] if late else lines)

    def _draw(self, p: HypertreeNode, first: str, rest: str) -> Iterator[str]:
        names = ", ".join(f"?{v}" for v in p.variables)
        filters = self._filters(p.negations, p.comparisons)
        joined = ", ".join(print_literal(self.clause.atoms[i]) for i in p.atoms)
        where = f" where {filters}" if filters else ""
        keeps = "" if p.kept is None else f" over {', '.join(f'?{v}' for v in p.kept) or 'nothing'}"
        rows = _number(p.rows if p.kept is None else p.kept_rows)
        yield f"{first}{{{names}}} {joined}{where}  ~{rows} rows{keeps}"
        for child in p.children:
            last = child is p.children[-1]
            yield from self._draw(child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))

    def _filters(self, negations: tuple[int, ...], comparisons: tuple[int, ...]) -> str:
        literals: list[Negation | Comparison] = [Negation(self.clause.negations[i]) for i in negations]
        literals += [self.clause.comparisons[i] for i in comparisons]
        return ", ".join(map(print_literal, literals))


def _number(estimate: float) -> str:
    return f"{estimate:,.0f}" if estimate < 1e9 else f"{estimate:.0e}"
