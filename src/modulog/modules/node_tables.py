"""The table of a node: inst_p of the hypertree paper, the matches of λ(p) over its variables, kept as a relation between rounds and updates.

Where several matches give the same row, they are counted, each once (Π_p is a bag): a row goes when its number reaches zero, never before. A table is a
nonrecursive view of the relations its atoms read, so these numbers are exact also while facts of a recursive stratum are over-deleted.
"""

from __future__ import annotations

from collections.abc import Sequence

from modulog.engines.protocol import Engine, ModuleId, Version, Work
from modulog.modules.changes import Variant, due, lost, won
from modulog.modules.clauses import Prepared
from modulog.modules.counting import Counting
from modulog.modules.seminaive import steps


class NodeTable:
    """A table and its changes, which are the Δ, `gone` and `come` of a relation.

    The clause derives the table's rows; `projects` says that several of its instances may give the same one. With `maintained`, these are counted.
    Once there are more than `limit` rows, or one evaluation has found more instances, the table is `exceeded` and good for nothing.
    """

    def __init__(
        self,
        clause: Prepared,
        engine: Engine,
        source: ModuleId,
        projects: bool,
        maintained: bool,
        limit: int | None = None,
    ) -> None:
        self.limit, self.exceeded = limit, False
        self.clause, self.engine, self.source, self.relation = clause, engine, source, clause.relation
        self.recursive = any(atom.own for atom in clause.atoms)
        counts = projects and maintained
        self.counting = Counting(self.relation, [clause], engine, source) if counts else None
        self.built = self.changing = False
        self.users = 0  # the clauses that read it
        self._adding = steps(clause, source, "after", "after", counts)
        self._deleting = steps(clause, source, "kept", "either", counts)
        self._lost, self._won = lost(clause, source, counts), won(clause, source, counts)

    # ---- Whole tables

    def build(self, version: Version, own: Version | None = None) -> None:
        """Fill the empty table from the relations of a version; those of the stratum itself may be in another one."""
        if self.counting is not None:
            self._note(self.counting.count(self.limit))
            for table in self.counting.items():
                self.relation.schedule(table, self.source)
        else:
            everything = self.clause.whole(version, self.source, own=own)
            if not everything.empty():
                self._run([everything.work()])
        self.relation.derive()
        self.settle()
        self._note_size()
        self.relation.rest()
        self.built = True

    def begin(self) -> None:
        """An update begins; a table that reads nothing of its own stratum is brought up to date at once."""
        self.relation.begin()
        self.changing = True
        if self.counting is not None:
            self.counting.begin()
        if not self.recursive:
            self.lose()
            self.settle()
            self.win()
            self.settle()
            self.relation.rest()

    # ---- Changes: each makes the Δ of the table; `settle` lets it join what is there, or leave it

    def add(self) -> None:
        """inst_p^{I:Δ⁺}: new rows that use a fact of Δ."""
        self._come(self._adding)

    def delete(self) -> None:
        """inst_p^{I:Δ⁻}: rows that lose their last match with the leaving Δ."""
        self._leave(self._deleting)

    def lose(self) -> None:
        """Rows that lose their last match with what changed below the stratum."""
        self._leave(self._lost)

    def win(self) -> None:
        """New rows that what changed below the stratum brings."""
        self._come(self._won)

    def settle(self) -> None:
        """Let Δ join the table, or leave it."""
        self.relation.merge()

    def _come(self, variants: Sequence[Variant]) -> None:
        self._schedule(variants, 1)
        self.relation.derive()
        self._note_size()

    def _leave(self, variants: Sequence[Variant]) -> None:
        self._schedule(variants, -1)
        if self.relation.derive(leaving=True) and self.counting is not None:
            self.relation.spare(self.counting.positive("delta"))

    def _schedule(self, variants: Sequence[Variant], sign: int) -> None:
        found = due(variants)
        if found:
            counting = self.counting
            self._run([e.work() for e in found] if counting is None else counting.change(found, sign))

    def _run(self, work: Sequence[Work]) -> None:
        self.engine.run(work, limit=self.limit)
        self._note(sum(w.rows or 0 for w in work))

    def _note_size(self) -> None:
        if self.limit is not None:
            self._note(self.relation.size("all"))

    def _note(self, rows: int) -> None:
        self.exceeded = self.exceeded or (self.limit is not None and rows > self.limit)

    # ---- The end of an update

    def commit(self) -> None:
        """What has changed stays."""
        if self.changing:
            self.relation.commit()
        if self.counting is not None:
            self.counting.commit()
        self.changing = False

    def rollback(self) -> None:
        """The table is as before."""
        if self.changing:
            self.relation.rollback()
        if self.counting is not None:
            self.counting.rollback()
        self.changing = False

    def memory(self) -> int:
        """The bytes of the rows and their numbers."""
        counters = None if self.counting is None else self.counting.counters
        return self.relation.memory().bytes + (0 if counters is None else counters.memory().bytes)
