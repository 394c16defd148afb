"""Estimates the cost of a node of a decomposition: the rows that joining its atoms produces, and its rows.

Sets of atoms and of variables are integers, as in `hypergraph`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from modulog.joins.estimates import Sizes
from modulog.joins.hypergraph import Hypergraph, members

STARTS = 3  # how many atoms, the smallest ones, are tried as the first of a join of many


class NodeSizes:
    """Estimates for sets of atoms of one body; the estimate for each set is cached."""

    def __init__(self, graph: Hypergraph, sizes: Sequence[Sizes]) -> None:
        self.graph = graph
        self.rows = [rows for rows, _ in sizes]
        self.values = [{graph.vertices.index(v): n for v, n in distinct.items()} for _, distinct in sizes]
        self._joins: dict[int, tuple[float, float, dict[int, float]]] = {}

    def size(self, cover: int, atoms: int, chi: int) -> tuple[float, float]:
        """The rows that joining the atoms goes through, and the distinct rows over χ.

        If the atoms of the cover are not connected, the cost is at least the size of their product.
        """
        cost, rows, values = self._join(atoms)
        if cover & (cover - 1) and len(self.graph.components(cover, 0)) > 1:
            cost = max(cost, self._join(cover)[1])
        space = 1.0
        for v in members(chi):
            space *= values[v]
        return cost, min(rows, space)

    def _join(self, atoms: int) -> tuple[float, float, dict[int, float]]:
        """Cost, rows and values of each variable of the cheapest join that `_one_by_one` finds."""
        found = self._joins.get(atoms)
        if found is None:
            chosen = list(members(atoms))
            starts = sorted(chosen, key=self.rows.__getitem__)[: STARTS if len(chosen) > STARTS + 1 else None]
            found = min((self._one_by_one(s, chosen) for s in starts), key=lambda found: found[0])
            self._joins[atoms] = found
        return found

    def _one_by_one(self, start: int, chosen: list[int]) -> tuple[float, float, dict[int, float]]:
        """A greedy join order, always with the fewest rows next: cost, rows, and values of each variable.

        The cost counts, for each join, the rows that are looked up and the rows that result.
        """
        rows, values = self.rows[start], dict(self.values[start])
        remaining = [i for i in chosen if i != start]
        cost = rows
        while remaining:
            factor, i = min([(self._factor(i, values), i) for i in remaining])
            remaining.remove(i)
            looked_up, rows = rows, max(rows * factor, 1.0)
            for v, count in self.values[i].items():
                values[v] = min(count, values.get(v, inf))
            cost += looked_up + rows
        return cost, rows, values

    def _factor(self, i: int, values: dict[int, float]) -> float:
        """The factor by which joining atom i changes the number of rows; `values` is for bound variables."""
        factor = self.rows[i]
        for v, count in self.values[i].items():
            known = values.get(v)
            if known is not None:
                factor /= known if known > count else count
        return factor
