"""What a node of a decomposition costs: the rows that joining its atoms goes through, and those that are left over χ."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from modulog.planning.estimating import Sizes
from modulog.planning.hypergraph import Hypergraph, members

STARTS = 3  # of many atoms, how many are tried as the first of the join


class NodeSizes:
    """Estimates for sets of atoms of one body, each made once."""

    def __init__(self, graph: Hypergraph, sizes: Sequence[Sizes]) -> None:
        self.graph = graph
        self.rows = [rows for rows, _ in sizes]
        self.values = [{graph.vertices.index(v): n for v, n in distinct.items()} for _, distinct in sizes]
        self._joins: dict[int, tuple[float, float, dict[int, float]]] = {}

    def size(self, cover: int, atoms: int, chi: int) -> tuple[float, float]:
        """The rows that joining the atoms goes through, and how many remain over χ; a cover that is a product costs at least the product."""
        cost, rows, values = self._join(atoms)
        if cover & (cover - 1) and len(self.graph.components(cover, 0)) > 1:
            cost = max(cost, self._join(cover)[1])
        space = 1.0
        for v in members(chi):
            space *= values[v]
        return cost, min(rows, space)

    def _join(self, atoms: int) -> tuple[float, float, dict[int, float]]:
        found = self._joins.get(atoms)
        if found is None:
            chosen = list(members(atoms))
            starts = sorted(chosen, key=self.rows.__getitem__)[: STARTS if len(chosen) > STARTS + 1 else None]
            found = min((self._one_by_one(s, chosen) for s in starts), key=lambda found: found[0])
            self._joins[atoms] = found
        return found

    def _one_by_one(self, start: int, chosen: list[int]) -> tuple[float, float, dict[int, float]]:
        """Joining one atom after another, always the one that gives the fewest rows: rows that ask and rows that result."""
        rows, values = self.rows[start], dict(self.values[start])
        rest = [i for i in chosen if i != start]
        cost = rows
        while rest:
            factor, i = min([(self._factor(i, values), i) for i in rest])
            rest.remove(i)
            asking, rows = rows, max(rows * factor, 1.0)
            for v, count in self.values[i].items():
                values[v] = min(count, values.get(v, inf))
            cost += asking + rows
        return cost, rows, values

    def _factor(self, i: int, values: dict[int, float]) -> float:
        """By how much atom i multiplies the rows of a join whose variables have the given numbers of values."""
        factor = self.rows[i]
        for v, count in self.values[i].items():
            known = values.get(v)
            if known is not None:
                factor /= known if known > count else count
        return factor
