"""What a relation of pairs answers where its facts are represented: everything follows from a set of pairs for each version."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np

from modulog.engines.local.listed import Listed
from modulog.engines.local.readers import PairsReader, Reader
from modulog.engines.local.reading import Lookup
from modulog.engines.local.relation import PlainRelation
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Argument, Estimate, ModuleId, Table, Version
from modulog.kernels.types import Columns
from modulog.storage.asking import spread
from modulog.storage.pairs import Pairs, guess, some


class CompactRelation(PlainRelation):
    """A relation of pairs that are represented, or, as long as that is not worth while, listed as by a plain relation."""

    def __init__(self, name: str, wanted: str) -> None:
        super().__init__(name, 2)
        self.wanted = wanted  # "auto" or "always"
        self.intersects = False  # not even while it is listed: a plan may outlast that

    @abstractmethod
    def represented(self, version: Version) -> Pairs:
        """The facts of a version, while they are not listed."""

    def pairs(self, version: Version) -> Pairs:
        """The facts of a version; the set stays what it is."""
        return Listed(self.lookup(version)) if self.listed else self.represented(version)

    # ---- Reading

    def reader(self, version: Version, except_from: ModuleId | None = None, looking: bool = True) -> Reader:
        if self.listed:
            return super().reader(version, except_from, looking)
        return PairsReader(self.represented(version))

    def scan(self, args: tuple[Argument, ...], version: Version) -> Iterator[LocalTable]:
        if self.listed:
            yield from super().scan(args, version)
            return
        lookup = Lookup((), args, tuple(dict.fromkeys(a for a in args if isinstance(a, str))))
        for ids in PairsReader(self.represented(version)).scan(lookup):
            yield LocalTable(lookup.variables, ids)

    def contains(self, rows: Table, version: Version) -> LocalTable:
        if self.listed:
            return super().contains(rows, version)
        assert isinstance(rows, LocalTable)
        mask = self.represented(version).contains(rows.ids)
        return LocalTable(rows.columns, np.ascontiguousarray(rows.ids[:, mask]))

    def count(self, args: tuple[Argument, ...], version: Version, by: int | None = None) -> LocalTable:
        if self.listed:
            return super().count(args, version, by)
        if by is None:
            return LocalTable(
                (), np.empty((0, 1), np.int32), np.array([self._matching(args, version)], np.int64)
            )
        values, counts = self._counts(args, version, by)
        return LocalTable((f"#{by}",), np.ascontiguousarray(values)[np.newaxis], counts)

    def _matching(self, args: tuple[Argument, ...], version: Version) -> int:
        variables = [a for a in args if isinstance(a, str)]
        if len(variables) == len(set(variables)) and not any(isinstance(a, int) for a in args):
            return self.size(version)
        # Nothing of a repeated variable or beside a constant is kept, so that only the number of rows is asked for.
        lookup = Lookup((), args, ())
        tallied = PairsReader(self.represented(version)).tallied(lookup)
        return sum(ids.shape[1] if weights is None else int(weights.sum()) for ids, weights in tallied)

    def _counts(self, args: tuple[Argument, ...], version: Version, by: int) -> tuple[Columns, np.ndarray]:
        repeated = isinstance(args[0], str) and args[0] == args[1]
        if not repeated and not any(isinstance(a, int) for a in args):
            return self.represented(version).count_by(by)
        named = tuple(f"#{by}" if j == by and a is None else a for j, a in enumerate(args))
        if isinstance(args[by], int):
            total = self._matching(args, version)
            return np.array([args[by]][:total], np.int32), np.array([total][:total], np.int64)
        found = [table.ids[0] for table in self.scan(named, version)]
        values = np.sort(np.concatenate(found)) if found else np.empty(0, np.int32)
        return values, np.ones(len(values), np.int64)

    def distinct(self, column: int, version: Version) -> LocalTable:
        if self.listed:
            return super().distinct(column, version)
        values = self.represented(version).distinct(column)
        return LocalTable((f"#{column}",), np.ascontiguousarray(values)[np.newaxis])

    # ---- Sizes

    def size(self, version: Version) -> int:
        if self.listed:
            return super().size(version)
        match version:
            case "kept":
                return self.size("before") - self.size("gone")
            case "either":
                return self.size("before") + self.size("come")
        return self.represented(version).count()

    def has(self, version: Version) -> bool:
        return super().has(version) if self.listed else some(self.represented(version))

    def guess(self, version: Version) -> int:
        return super().guess(version) if self.listed else guess(self.represented(version))

    def estimate(self, version: Version) -> Estimate:
        if self.listed:
            return super().estimate(version)
        pairs = self.represented(version)
        rows = float(self.guess(version))
        return Estimate(rows, tuple(min(rows, max(spread(pairs, j), min(rows, 1.0))) for j in (0, 1)))

    def unsorted(self, bound: tuple[int, ...], version: Version) -> int:
        return super().unsorted(bound, version) if self.listed else 0
