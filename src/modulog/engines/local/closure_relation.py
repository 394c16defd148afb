"""A relation that closes what it is given, by a structure that represents the facts: the schemes "closure", "components" and linear ones.

What is scheduled are external facts; `derive` takes them in, or while they leave out, and Δ is what thereby follows or no longer follows. Every
version is a state of the structure, or the difference of two: states are immutable, so going back is taking the old one again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from modulog.engines.local.compact import CompactRelation
from modulog.engines.local.reaching import Reach
from modulog.engines.local.relation import Bounds
from modulog.engines.local.structures import KINDS, Input, Mark, Structure, joined
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Memory, ModuleId, Relation, Table, Version
from modulog.errors import InternalError
from modulog.kernels.types import Columns
from modulog.storage.delta import Delta
from modulog.storage.lists import distinct
from modulog.storage.pairs import NOTHING, Pairs, together, without
from modulog.wording import plural

FEW_PAIRS = (
    1 << 17
)  # pairs that are listed whatever it costs: joins with them are faster, and they are soon listed
FEW_NODES = (
    1 << 12
)  # of a graph whose pairs are listed to see whether they are few: a million in some milliseconds
FEW = "few"  # told of a list until somebody asks how many pairs it has
PLAIN = 8  # bytes of a listed pair, in one order
SHARE = 2  # the listed pairs must be larger by this factor,
MANY_PAIRS = (
    1 << 22
)  # unless they are so many: what reads them, and sorting them, then costs more than the list itself

Given = Callable[[], tuple[Table, Table | None]]
"""Gives seeds and edges."""


def listed_few(pairs: int) -> str:
    """Why some pairs are listed.

    >>> listed_few(6)
    'listed: 6 pairs, which are few'
    """
    return f"listed: {plural(pairs, 'pair, which is little', 'pairs, which are few')}"


class Update:
    """What has changed since `begin`: where it began, and the nodes whose rows have lost or won pairs."""

    def __init__(self, mark: Mark | None, listed: Pairs | None) -> None:
        self.mark, self.listed = mark, listed  # of a relation that was listed there is no mark
        self.lost: list[Columns] = []
        self.won: list[Columns] = []


class ClosureRelation(CompactRelation):
    """A closure of one of the kinds; `wanted` is "always", or "auto": then it is listed until `consider` finds that too dear."""

    def __init__(self, name: str, kind: str, wanted: str) -> None:
        super().__init__(name, wanted)
        assert kind in KINDS
        self.kind = kind
        self.structure = Structure(kind) if wanted == "always" else None
        # What makes the structure when it is needed, and how many facts it will have.
        self._stored: tuple[Given, int] | None = None
        self.told = ""  # why it is kept as it is
        self._coming: list[Columns] = []
        self._edges: list[Columns] = []
        self._next: Delta | None = None  # taken in, and Δ after the next `derive`
        self._delta: Delta | None = None
        self._leaving = False
        self._update: Update | None = None
        self._change: tuple[Pairs, Pairs] | None = None  # come and gone since `begin`, if known

    # ---- Being compact

    @property
    def listed(self) -> bool:
        """Whether there is no structure."""
        return self.structure is None and self._stored is None

    @property
    def scheme(self) -> str:
        """The kind, if there is a structure."""
        return "plain" if self.listed else self.kind

    def later(self, given: Given, rows: int) -> None:
        """Make the structure at the first question."""
        self._stored, self.structure = (given, rows), None

    @property
    def _made(self) -> Structure:
        if self.structure is None:
            assert self._stored is not None
            (given, _), self._stored = self._stored, None
            seeds, edges = map(_ids, given())
            self.structure = Structure(self.kind)
            self.structure.update(Input(seeds, edges), Input())
            self.structure.settle()
            self._widen(seeds, edges)
        return self.structure

    def consider(self, seeds: Table, edges: Table | None) -> bool:
        """Take everything external into a structure, if that is smaller than a list by far; facts there were before are forgotten.

        No structure is made where it is quick to see that the pairs are few.
        """
        given = Input(_ids(seeds), _ids(edges))
        if self.listed and self._are_few(given):
            self.told = FEW
            return False
        made = Structure(self.kind) if self.listed else self._made
        delta = made.update(given, Input())
        if self.structure is None and not self._is_worth(made):
            return False
        if self.structure is None and self._update is not None:
            self._update = Update(None, self.pairs("before"))
        self._widen(given.seeds, given.edges)
        if self._update is None:
            self._next = delta
        self.structure = made
        return True

    def _are_few(self, given: Input) -> bool:
        """Whether the pairs are few, as the nodes alone say, or a list of the first pairs where the graph is small."""
        nodes = len(distinct(np.concatenate([*given.seeds, *given.edges])))
        if nodes**2 <= FEW_PAIRS:
            return True
        if nodes > FEW_NODES or self.kind == "components":
            return False
        edges = given.edges if self.kind.endswith("-linear") else given.seeds
        pairs = nodes  # of a reflexive closure
        for piece in Reach(distinct(given.seeds[0]), given.seeds, edges).pairs(FEW_PAIRS):
            pairs += piece.shape[1]
            if pairs > FEW_PAIRS:
                return False
        return True

    def holds(self, external: int) -> bool:
        """Always: they are here anyway."""
        return True

    def _is_worth(self, made: Structure) -> bool:
        pairs, held = made.read(made.state).count(), made.bytes()
        if pairs <= FEW_PAIRS:
            self.told = FEW
            return False
        self.told = (
            f"listed: {pairs:,} pairs in {PLAIN * pairs / 1e6:.1f} MB, represented {held / 1e6:.1f} MB"
        )
        return held * (1 if pairs > MANY_PAIRS else SHARE) < PLAIN * pairs

    @property
    def storage(self) -> str:
        """How the facts are kept, with what a list would take."""
        pairs = self.size("all")
        if self.listed:
            return listed_few(pairs) if self.told == FEW else self.told
        memory = self.memory()
        return (
            f"{self.kind}: {pairs:,} pairs in {memory.bytes / 1e6:.1f} MB, listed {memory.plain / 1e6:.1f} MB"
        )

    # ---- Versions

    def represented(self, version: Version) -> Pairs:
        made, delta = self._made, self._delta
        match version:
            case "delta":
                return NOTHING if delta is None else made.read(delta.gone if self._leaving else delta.come)
            case "old":
                return (
                    self._state
                    if delta is None
                    else made.read(delta.after if self._leaving else delta.before)
                )
            case "all":
                return (
                    self._state
                    if delta is None
                    else made.read(delta.before if self._leaving else delta.after)
                )
            case "after":
                return self._after
        if self._update is None:
            return NOTHING if version in ("gone", "come") else self._after
        come, gone = self._net()
        match version:
            case "before":
                return self._before
            case "come":
                return come
            case "gone":
                return gone
            case "kept":
                return self._before if gone is NOTHING else without(self._before, gone)
            case "either":
                return together([self._before, come], disjoint=True)

    @property
    def _state(self) -> Pairs:
        return self._made.read(self._made.state if self._next is None else self._next.before)

    @property
    def _after(self) -> Pairs:
        """What holds, without a Δ that has yet to join and with one that has yet to leave."""
        return self._state if self._delta is None else self._made.read(self._delta.before)

    @property
    def _before(self) -> Pairs:
        update = self._update
        if update is None:
            return self._after
        if update.listed is not None:
            return update.listed
        assert update.mark is not None
        return self._made.read(update.mark.state)

    def _net(self) -> tuple[Pairs, Pairs]:
        """A \\ D and D \\ A."""
        if self._change is None:
            self._change = self._difference()
        return self._change

    def _difference(self) -> tuple[Pairs, Pairs]:
        update, made = self._update, self._made
        assert update is not None
        if update.listed is not None:
            return without(self._after, update.listed), without(update.listed, self._after)
        assert update.mark is not None
        before, after = update.mark.state, made.state if self._delta is None else self._delta.before
        if before is after:
            return NOTHING, NOTHING
        if not update.lost:
            delta = Delta.between(before, after, "grown")
        elif not update.won:
            delta = Delta.between(before, after, "shrunk")
        else:
            delta = Delta.mixed(before, after, _nodes(update.lost, before.n), _nodes(update.won, after.n))
        come = made.read(delta.come) if update.won else NOTHING
        return come, made.read(delta.gone) if update.lost else NOTHING

    # ---- The three beats of a round

    def schedule(self, rows: Table, source: ModuleId) -> None:
        if self.listed:
            super().schedule(rows, source)
        elif len(rows):
            self._coming.append(_ids(rows))

    def offer(self, words: np.ndarray, source: ModuleId) -> None:
        """Schedule facts packed in the order of their arguments."""
        if self.listed:
            super().offer(words, source)
        elif words.shape[1]:
            ids = np.stack([words[0] >> 32, words[0] & 0xFFFFFFFF]).astype(np.int32)
            self._coming.append(ids)

    def widen(self, bounds: Bounds) -> None:
        if self.listed:
            super().widen(bounds)

    def choose_bitmap(self, again: bool = False) -> None:
        if self.listed:
            super().choose_bitmap(again)

    def become(self, other: Relation) -> None:
        """Only where other rules feed the closure."""
        raise InternalError(f"{self.name}: a closure that is alone follows from its external facts")

    def lead(self, edges: Table) -> None:
        """Edges for the next `derive`."""
        if len(edges):
            self._edges.append(_ids(edges))

    def derive(self, leaving: bool = False) -> int:
        if self.listed:
            return super().derive(leaving)
        if leaving and self._update is None:
            raise InternalError(f"{self.name}: facts leave inside an update only")
        if self._delta is not None:
            raise InternalError(f"{self.name}: delta must be merged before the next one is derived")
        self._delta, self._next, self._leaving = self._next, None, False
        if self._coming or self._edges:
            given = Input(joined(self._coming), joined(self._edges))
            self._coming, self._edges = [], []
            self._widen(given.seeds, given.edges)
            parts = (Input(), given) if leaving else (given, Input())
            self._delta, self._leaving = self._made.update(*parts), leaving
        return 0 if self._delta is None else self.represented("delta").count()

    def merge(self) -> None:
        if self.listed:
            super().merge()
        delta, self._delta = self._delta, None
        if delta is not None and self._update is not None:
            self._change = None
            side = delta.gone if self._leaving else delta.come
            if len(side.nodes):
                (self._update.lost if self._leaving else self._update.won).append(side.nodes)
        self._leaving = False

    def spare(self, rows: Table) -> None:
        if self.listed:
            super().spare(rows)
        elif len(rows):
            raise InternalError(f"{self.name}: what a closure loses follows from its external facts")

    def rest(self) -> None:
        if self.listed:
            super().rest()
        elif self.structure is not None and self._update is None and self._delta is None:
            self.structure.settle()

    # ---- Updates

    def retract(self, rows: Table) -> None:
        if self.listed:
            super().retract(rows)
            return
        if self._update is None:
            raise InternalError(f"{self.name}: retract outside an update")
        if self._delta is not None:
            raise InternalError(f"{self.name}: delta must be merged before facts are retracted")
        self._delta, self._leaving = self._made.update(Input(), Input(_ids(rows))), True
        self.merge()

    def begin(self) -> None:
        if self.listed:
            super().begin()
        if self._update is not None:
            raise InternalError(f"{self.name}: an update is under way")
        self._update = Update(None if self.listed else self._made.mark(), None)
        self._change = None

    def commit(self) -> None:
        if self._leaving:
            raise InternalError(f"{self.name}: delta must be merged before the update ends")
        if self.listed:
            super().commit()
        elif self._update is not None:
            if self._update.listed is not None:
                self._forget_list()
            self._made.settle()
        self._update = self._change = None

    def _forget_list(self) -> None:
        """The facts are represented for good."""
        bounds = self.bounds
        fresh = ClosureRelation(self.name, self.kind, self.wanted)
        self.versions, self.seen, self.bounds = fresh.versions, None, bounds

    def rollback(self) -> None:
        update, self._update, self._change = self._update, None, None
        self._delta, self._next, self._leaving, self._coming, self._edges = None, None, False, [], []
        if update is not None and update.mark is not None:
            self._made.go_back(update.mark)
            return
        if update is not None:
            self.structure = None
        if self.listed:
            super().rollback()

    # ---- The rest

    def _widen(self, *parts: Columns) -> None:
        """Both ends lie within what is given for either."""
        given = [part for part in parts if part.shape[1]]
        if given:
            least, greatest = min(int(part.min()) for part in given), max(int(part.max()) for part in given)
            self._bound(((least, greatest), (least, greatest)))

    def size(self, version: Version) -> int:
        if self._stored is not None:
            return 0 if version in ("delta", "gone", "come") else self._stored[1]
        return super().size(version)

    def guess(self, version: Version) -> int:
        return self.size(version)

    def span(self) -> Bounds | None:
        return None if self._stored is not None else self.bounds

    def memory(self) -> Memory:
        if self.listed:
            return super().memory()
        return Memory(0 if self.structure is None else self.structure.bytes(), PLAIN * self.size("all"))


def _ids(rows: Table | None) -> Columns:
    if rows is None:
        return np.empty((2, 0), np.int32)
    assert isinstance(rows, LocalTable)
    return rows.ids


def _nodes(parts: list[Columns], most: int) -> Columns:
    """The different nodes of all parts that a state knows, sorted."""
    found = distinct(np.concatenate(parts))
    return found[found < most]
