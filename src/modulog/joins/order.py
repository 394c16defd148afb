"""Chooses the join order of a body when it is evaluated, from the current sizes of its relations.

By dynamic programming, every set of body atoms gets its cheapest expression from those of smaller sets: by
looking up one more atom (left-deep), or by joining two sets (bushy). A variable is dropped as soon as nothing
later needs it; an atom that adds no needed variable becomes a semi-join; where dropping variables leaves far
fewer rows, duplicates are removed at once. Conditions and negated atoms are applied as soon as their
variables are bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from modulog.algebra.expressions import (
    AntiJoin,
    Compute,
    Condition,
    Expr,
    Extend,
    Join,
    Project,
    Read,
    Rows,
    SemiJoin,
    Where,
)
from modulog.engines.table import Table
from modulog.joins.estimates import Sizes, join_rows, read_sizes
from modulog.joins.multiway_order import cheapest_multiway

BUSHY_LIMIT = 7  # the most atoms for which joins of two sets are tried: 3^n steps
EXHAUSTIVE_LIMIT = 11  # the most atoms for which all sets are tried: n·2^n steps; greedy beyond

# Costs of one row, in units of one lookup of a row in an index.
SCAN, PROBE, PRODUCE, INDEX, DEDUPLICATE = 0.2, 1.0, 0.5, 4.0, 1.5
ROUNDS = 8.0
"""The factor for the cost of joins in which no atom reads a change (Δ).

Such a join is done again in every round for which the order is reused, while rows that come from Δ are new
each time; and if its estimate is wrong, the error costs as often. In one program, names and descriptors of
calls, which are correlated, made a join of stored facts that took seconds for each Δ. The number is a choice,
not a measurement.
"""
# The share of rows that satisfy a condition; 0.4 for other operators.
SELECTIVITY = {"=": 0.1, "is": 0.1, "!=": 0.9}


@dataclass(frozen=True, slots=True)
class Body:
    """A conjunction: reads, negated reads, conditions, and the variables that the head needs.

    `once`: it is evaluated once, so an index built for it is of use to nothing else. `counting`: the number
    of matches of each head row matters, so duplicates must not be removed. `computed`: variables that are
    computed from those that the reads bind; conditions do not use them.
    """

    reads: tuple[Read, ...]
    negated: tuple[Read, ...] = ()
    conditions: tuple[Condition, ...] = ()
    needed: tuple[str, ...] = ()
    once: bool = True
    computed: tuple[tuple[str, Compute], ...] = ()
    counting: bool = False


CHANGES = ("delta", "gone", "come")
"""The versions of a relation that contain only changes."""

Check = Condition | Read | tuple[str, Compute]
"""A condition, a negated read or a computed variable: applied to rows as soon as its variables are bound."""


@dataclass(slots=True)
class Candidate:
    """An expression for a set of atoms, with its estimated cost and rows."""

    expr: Expr
    cost: float
    rows: float
    checks: frozenset[int]  # the positions in `Ordering.checks` of those that have been applied
    sorting: float = 0.0  # the part of the cost for sorting facts, from which later lookups profit, too


class SizedRead:
    """One read with its estimated sizes, which are computed at their first use."""

    def __init__(self, read: Read) -> None:
        self.read = read

    @cached_property
    def sizes(self) -> Sizes:
        """The rows of the read and the numbers of values of its variables."""
        return read_sizes(self.read.args, self.read.relation.estimate(self.read.version))

    @property
    def rows(self) -> float:
        return self.sizes[0]

    @property
    def distinct(self) -> Mapping[str, float]:
        return self.sizes[1]


def order(body: Body, unit: Table) -> Expr:
    """The cheapest expression found for a body.

    `unit` is the table without columns and with one row, from which a body without positive atoms starts.
    """
    return Ordering(body, unit).best().expr


def instances(body: Body, unit: Table) -> float:
    """The estimated number of matches of all reads of a body."""
    ordering = Ordering(body, unit)
    return ordering.raw_rows(ordering.everything)


class Ordering:
    """The search for the join order of one body. Sets of atoms are integers with a bit for each atom."""

    def __init__(self, body: Body, unit: Table) -> None:
        self.body, self.unit = body, unit
        self.atoms = [SizedRead(read) for read in body.reads]
        computed = {name for name, _ in body.computed}
        late = [bool(computed.intersection(r.variables)) for r in body.negated]
        self.checks: list[tuple[frozenset[str], Check]] = [
            *((frozenset(c.variables), c) for c in body.conditions),
            *(
                (frozenset(r.variables), r)
                for r, is_late in zip(body.negated, late, strict=True)
                if not is_late
            ),
            *((frozenset(c[1].variables), c) for c in body.computed),
            *((frozenset(r.variables), r) for r, is_late in zip(body.negated, late, strict=True) if is_late),
        ]
        self.everything = (1 << len(self.atoms)) - 1
        self.atom_variables = [frozenset(a.read.variables) for a in self.atoms]
        self.changed = sum(1 << i for i, read in enumerate(body.reads) if read.version in CHANGES)
        self._variables: dict[int, frozenset[str]] = {}
        self._rows: dict[int, float] = {}
        self._values: dict[tuple[int, str], float] = {}

    def best(self) -> Candidate:
        """The cheapest candidate: joins of pairs, or one multiway join if the reads form a cycle."""
        found = self._pairwise()
        if self.body.once and len(self.atoms) > 2:
            wanted = self.needed(self.everything, frozenset())
            names = tuple(v for atom in self.atoms for v in atom.read.variables if v in wanted)
            together = cheapest_multiway(self.body.reads, tuple(dict.fromkeys(names)), self.body.counting)
            if together is not None:
                expr, cost, sorting = together
                rows = self.raw_rows(self.everything)
                candidate = Candidate(expr, cost + sorting, rows, frozenset(), sorting)
                candidate = self._finish(candidate, self.everything)
                return min(found, candidate, key=lambda c: c.cost)
        return found

    def _pairwise(self) -> Candidate:
        """The cheapest candidate that joins pairs, by the method for this number of atoms."""
        if not self.atoms:
            return self._finish(Candidate(Rows(self.unit), 0.0, 1.0, frozenset()), 0)
        if len(self.atoms) == 1:
            return self._start(0)
        if len(self.atoms) == 2:
            return self._two()
        if len(self.atoms) > EXHAUSTIVE_LIMIT:
            return self._greedy()
        return self._exhaustive()

    def _times(self, chosen: int) -> float:
        """How often the work for a set counts: once if it has a change or the body has none; see `ROUNDS`."""
        return 1.0 if chosen & self.changed or not self.changed else ROUNDS

    # ---- Sizes

    def variables(self, chosen: int) -> frozenset[str]:
        """The variables of a set of atoms."""
        found = self._variables.get(chosen)
        if found is None:
            parts = (v for i, v in enumerate(self.atom_variables) if chosen >> i & 1)
            found = self._variables[chosen] = frozenset().union(*parts)
        return found

    def needed(self, chosen: int, checks: frozenset[int]) -> frozenset[str]:
        """The variables of a set that the head, an atom outside the set or a check not applied yet needs."""
        later = set(self.body.needed)
        for i, names in enumerate(self.atom_variables):
            if not chosen >> i & 1:
                later |= names
        for k, (names, _) in enumerate(self.checks):
            if k not in checks:
                later |= names
        return self.bound(chosen, checks) & later

    def bound(self, chosen: int, checks: frozenset[int]) -> frozenset[str]:
        """The variables that a set of atoms binds, and those computed by some checks."""
        if not self.body.computed:
            return self.variables(chosen)
        computed = (check[0] for k in checks if isinstance(check := self.checks[k][1], tuple))
        return self.variables(chosen).union(computed)

    def raw_rows(self, chosen: int) -> float:
        """The estimated matches of all atoms of a set, without removing duplicates."""
        found = self._rows.get(chosen)
        if found is None:
            found = join_rows([atom.sizes for i, atom in enumerate(self.atoms) if chosen >> i & 1])
            self._rows[chosen] = found
        return found

    def values(self, chosen: int, name: str) -> float:
        """The most values that a variable can have after the join of a set of atoms."""
        found = self._values.get((chosen, name))
        if found is None:
            held = [
                a.distinct[name] for i, a in enumerate(self.atoms) if chosen >> i & 1 and name in a.distinct
            ]
            found = self._values[chosen, name] = min(held, default=1.0)
        return found

    def distinct_rows(self, chosen: int, names: frozenset[str], raw: float) -> float:
        """The estimated number of distinct rows over some variables, out of `raw` rows."""
        space = prod(self.values(chosen, n) for n in names)
        return min(raw, space)

    # ---- Building candidates

    def _exhaustive(self) -> Candidate:
        """The cheapest expression, by dynamic programming over all sets of atoms.

        Costs only grow, so a candidate that costs more than the complete greedy expression is not extended.
        """
        greedy = self._greedy()
        limit = greedy.cost
        best: dict[int, Candidate] = {}
        for i in range(len(self.atoms)):
            if (start := self._start(i)).cost <= limit:
                best[1 << i] = start
        for chosen in sorted(range(1, self.everything + 1), key=int.bit_count):
            if chosen.bit_count() < 2:
                continue
            candidates = [
                self._extend(left, chosen & ~(1 << i), i)
                for i in range(len(self.atoms))
                if chosen >> i & 1
                and (left := best.get(chosen & ~(1 << i))) is not None
                and left.cost + left.rows * PROBE * self._times(chosen) <= limit
            ]
            if 4 <= chosen.bit_count() <= BUSHY_LIMIT and len(self.atoms) <= BUSHY_LIMIT:
                candidates += self._pairs(chosen, best, limit)
            found = min(candidates, key=lambda c: c.cost, default=greedy)
            if candidates and found.cost <= limit:
                best[chosen] = found
        return best.get(self.everything, greedy)

    def _two(self) -> Candidate:
        """The better order of two atoms; the results are equal, so scans, lookups and sorting decide."""
        names = [tuple(v) for v in self.atom_variables]
        counts = [self._count(atom) * (SCAN + PROBE) for atom in self.atoms]
        costs = [counts[i] + self._index_cost(self.atoms[1 - i].read, names[i]) for i in (0, 1)]
        first = 0 if costs[0] <= costs[1] else 1
        return self._extend(self._start(first), 1 << first, 1 - first)

    def _count(self, atom: SizedRead) -> float:
        """The rows of a read; without constants, this is the size of the relation and takes no estimate."""
        fixed = any(isinstance(a, int) for a in atom.read.args)
        return atom.rows if fixed else atom.read.relation.guess(atom.read.version)

    def _greedy(self) -> Candidate:
        """Start with the smallest atom, and always add the connected atom that costs least."""
        first = min(range(len(self.atoms)), key=lambda i: self.atoms[i].rows)
        chosen, candidate = 1 << first, self._start(first)
        while chosen != self.everything:
            options = [i for i in range(len(self.atoms)) if not chosen >> i & 1]
            linked = [i for i in options if self.atom_variables[i] & self.variables(chosen)] or options
            extended = {i: self._extend(candidate, chosen, i) for i in linked}
            i = min(extended, key=lambda i: (extended[i].cost, extended[i].rows))
            chosen, candidate = chosen | 1 << i, extended[i]
        return candidate

    def _pairs(self, chosen: int, best: dict[int, Candidate], limit: float) -> list[Candidate]:
        """The joins of disjoint sets with a common variable, each of two atoms or more, within the limit."""
        found, part = [], (chosen - 1) & chosen
        while part:
            other = chosen & ~part
            left, right = best.get(part), best.get(other)
            if (
                left is not None
                and right is not None
                and part.bit_count() > 1
                and other.bit_count() > 1
                and left.cost + right.cost <= limit
                and self.variables(part) & self.variables(other)
            ):
                found.append(self._join_sets(left, part, right, other))
            part = (part - 1) & chosen
        return found

    def _start(self, i: int) -> Candidate:
        """The candidate that reads atom i alone."""
        chosen, atom = 1 << i, self.atoms[i]
        wanted = self.needed(chosen, frozenset())
        read = _without_unwanted(atom.read, wanted)
        rows = atom.rows if len(self.atoms) > 2 or wanted != self.atom_variables[i] else 1.0
        candidate = Candidate(read, rows * SCAN * self._times(chosen), rows, frozenset())
        if wanted != self.atom_variables[i]:
            candidate = self._deduplicate(candidate, chosen, wanted)
        return self._finish(candidate, chosen)

    def _extend(self, left: Candidate, chosen: int, i: int) -> Candidate:
        """The candidate that looks atom i up for every row of `left`, which is for the set `chosen`."""
        together = chosen | 1 << i
        wanted = self.needed(together, left.checks)
        fresh = self.atom_variables[i] - frozenset(left.expr.variables)
        keep = tuple(v for v in left.expr.variables if v in wanted)
        read = _without_unwanted(self.atoms[i].read, wanted | frozenset(left.expr.variables))
        sorting = self._index_cost(read, left.expr.variables)
        times = self._times(together)
        cost, sorting = left.cost + left.rows * PROBE * times + sorting, left.sorting + sorting
        raw = 1.0  # for two atoms the number of rows does not matter, and estimating it takes time
        if len(self.atoms) > 2:
            raw = left.rows * self.raw_rows(together) / max(self.raw_rows(chosen), 1e-9)
        if not fresh & wanted and not self.body.counting:
            expr: Expr = SemiJoin(left.expr, read, keep)
            rows = min(left.rows, raw)
            candidate = Candidate(expr, cost, rows, left.checks, sorting)
        else:
            expr = Join(left.expr, read, (*keep, *(v for v in read.variables if v in fresh & wanted)))
            candidate = Candidate(expr, cost + raw * PRODUCE * times, raw, left.checks, sorting)
        if len(wanted) < len(left.expr.variables) + len(fresh):
            candidate = self._deduplicate(candidate, together, wanted)
        return self._finish(candidate, together)

    def _index_cost(self, read: Read, bound: tuple[str, ...]) -> float:
        """The cost of sorting facts for lookups by bound arguments; 0 if later rounds use the order, too."""
        if not self.body.once and read.version not in CHANGES:
            return 0.0
        places = tuple(j for j, a in enumerate(read.args) if isinstance(a, int) or a in bound)
        return INDEX * read.relation.unsorted(places, read.version)

    def _join_sets(self, left: Candidate, left_atoms: int, right: Candidate, right_atoms: int) -> Candidate:
        """The candidate that indexes the rows of `right` and looks them up for every row of `left`."""
        together, checks = left_atoms | right_atoms, left.checks | right.checks
        wanted = self.needed(together, checks)
        names = dict.fromkeys((*left.expr.variables, *right.expr.variables))
        shared = frozenset(left.expr.variables) & frozenset(right.expr.variables)
        raw = (
            left.rows
            * right.rows
            / prod(max(self.values(left_atoms, v), self.values(right_atoms, v), 1.0) for v in shared)
        )
        here = right.rows * INDEX + left.rows * PROBE + raw * PRODUCE
        cost = left.cost + right.cost + here * self._times(together)
        expr = Join(left.expr, right.expr, tuple(v for v in names if v in wanted))
        candidate = Candidate(expr, cost, raw, checks, left.sorting + right.sorting)
        candidate = self._deduplicate(candidate, together, wanted)
        return self._finish(candidate, together)

    def _deduplicate(self, candidate: Candidate, chosen: int, wanted: frozenset[str]) -> Candidate:
        """Remove duplicates if that halves the rows; at the end, the head's relation removes them anyway."""
        if chosen == self.everything or self.body.counting:
            return candidate
        rows = self.distinct_rows(chosen, wanted, candidate.rows)
        if rows * 2 > candidate.rows:
            return candidate
        expr = Project(candidate.expr, candidate.expr.variables, "set")
        cost = candidate.cost + candidate.rows * DEDUPLICATE
        return replace(candidate, expr=expr, cost=cost, rows=rows)

    def _finish(self, candidate: Candidate, chosen: int) -> Candidate:
        """Apply the checks whose variables are bound; functions, which create terms, only after all atoms."""
        for k, (names, check) in enumerate(self.checks):
            if k in candidate.checks or not names <= self.bound(chosen, candidate.checks):
                continue
            checks = candidate.checks | {k}
            if isinstance(check, tuple):
                if chosen == self.everything:
                    expr: Expr = Extend(candidate.expr, *check)
                    candidate = replace(candidate, expr=expr, checks=checks)
                continue
            keep = tuple(v for v in candidate.expr.variables if v in self.needed(chosen, checks))
            if isinstance(check, Condition):
                expr = Where(candidate.expr, check, keep)
                share, cost = SELECTIVITY.get(check.operator, 0.4), candidate.rows * SCAN
            else:
                expr, share, cost = AntiJoin(candidate.expr, check, keep), 0.5, candidate.rows * PROBE
            cost, rows = candidate.cost + cost, candidate.rows * share
            candidate = replace(candidate, expr=expr, cost=cost, rows=rows, checks=checks)
        return candidate


def _without_unwanted(read: Read, wanted: frozenset[str]) -> Read:
    """The read without unwanted variables, except those repeated in it, whose values must be equal."""
    args = tuple(a if a in wanted or read.args.count(a) > 1 else None for a in read.args) if read.args else ()
    args = tuple(b if isinstance(b, int) else a for a, b in zip(args, read.args, strict=True))
    return read if args == read.args else Read(read.relation, args, read.version, read.except_from)
