"""A closure that keeps its facts by a structure which represents them.

External facts are scheduled. `derive` takes them in, or out while they leave, and Δ is what thereby follows
or no longer follows. Every version is a state of the structure, or the difference of two: states are
immutable, so going back is taking the old one again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from modulog.closures.closure_difference import Delta
from modulog.closures.pair_sets import NOTHING, Pairs
from modulog.closures.shared_lists import distinct
from modulog.closures.unions import together, without
from modulog.engines.local.closure_kinds import Input, Mark, Structure, joined
from modulog.engines.local.pairs_relation import PAIR_BYTES, PairsRelation, ids_of
from modulog.engines.local.relation import Bounds
from modulog.engines.relation import Memory, ModuleId, Version
from modulog.engines.schemes import Scheme
from modulog.engines.table import Table
from modulog.errors import InternalError
from modulog.kernels.types import Columns, Words
from modulog.wording import plural

FEW_PAIRS = 1 << 17
"""Pairs that are listed whatever it costs: joins with them are faster, and they are soon listed."""

SHARE = 2
"""The listed pairs must be larger than the structure by this factor,"""

MANY_PAIRS = 1 << 22
"""unless they are so many: what reads them, and sorting them, then costs more than the list itself."""

Given = Callable[[], tuple[Table, Table | None]]
"""Gives seeds and edges."""


class Update:
    """What has changed since `begin`: where it began, and the nodes whose rows have lost or won pairs."""

    def __init__(self) -> None:
        self._mark: Mark | None = None
        self.lost: list[Columns] = []
        self.won: list[Columns] = []

    def began(self, structure: Structure) -> Mark:
        """Where it began: where the structure was when this was first asked, before any change."""
        if self._mark is None:
            self._mark = structure.mark()
        return self._mark


class ClosureBody(PairsRelation):
    """The facts of a closure of one of the kinds."""

    def __init__(self, name: str, scheme: Scheme) -> None:
        super().__init__(name, scheme)
        self.structure: Structure | None = None  # until it is needed
        self.bounds: Bounds | None = None
        # What makes the structure when it is needed, and how many facts it will have.
        self._stored: tuple[Given, int] | None = None
        self._coming: list[Columns] = []
        self._edges: list[Columns] = []
        self._next: Delta | None = None  # taken in, and Δ after the next `derive`
        self._delta: Delta | None = None
        self._leaving = False
        self._update: Update | None = None
        self._change: tuple[Pairs, Pairs] | None = None  # come and gone since `begin`, if known

    def later(self, given: Given, rows: int) -> None:
        """Make the structure at the first question, of facts that give so many pairs."""
        self._stored, self.structure = (given, rows), None

    @property
    def made(self) -> Structure:
        """The structure."""
        if self.structure is None:
            self.structure = Structure(self.scheme)
            if self._stored is not None:
                (given, _), self._stored = self._stored, None
                seeds, edges = map(ids_of, given())
                self.structure.update(Input(seeds, edges), Input())
                self.structure.settle()
                self._widen(seeds, edges)
        return self.structure

    def take(self, seeds: Table, edges: Table | None) -> None:
        """Take in everything external; outside an update what follows is Δ after the next `derive`."""
        given = Input(ids_of(seeds), ids_of(edges))
        if self._update is not None:
            self._update.began(self.made)
        delta = self.made.update(given, Input())
        self._widen(given.seeds, given.edges)
        if self._update is None:
            self._next = delta

    def is_worth(self) -> tuple[bool, str]:
        """Whether the structure is so much smaller than a list that no list is needed.

        If it is not, the text says why, unless there are few pairs.
        """
        if self.are_few() or (pairs := self.pairs_held()) <= FEW_PAIRS:
            return False, ""
        held = self.made.bytes()
        sizes = f"{PAIR_BYTES * pairs / 1e6:.1f} MB, represented {held / 1e6:.1f} MB"
        worth = held * (1 if pairs > MANY_PAIRS else SHARE) < PAIR_BYTES * pairs
        return worth, "" if worth else f"listed: {pairs:,} pairs in {sizes}"

    def are_few(self) -> bool:
        """Whether the number of nodes says that there are few pairs."""
        return self.made.most_pairs() <= FEW_PAIRS

    def pairs_held(self) -> int:
        """How many pairs follow from all that was taken in."""
        return self.made.read(self.made.state).count()

    @property
    def storage(self) -> str:
        memory = self.memory()
        sizes = f"{memory.bytes / 1e6:.1f} MB, listed {memory.plain / 1e6:.1f} MB"
        return f"{self.scheme.kind}: {self.size('all'):,} pairs in {sizes}"

    # ---- Versions

    def pairs(self, version: Version) -> Pairs:
        made, delta = self.made, self._delta
        match version:
            case "delta":
                if delta is None:
                    return NOTHING
                if not self._leaving and not len(delta.before.edges):
                    return made.read(delta.after)  # the whole, which knows shorter ways than a difference
                return made.read(delta.gone if self._leaving else delta.come)
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
        return self.made.read(self.made.state if self._next is None else self._next.before)

    @property
    def _after(self) -> Pairs:
        """What holds, without a Δ that has yet to join and with one that has yet to leave."""
        return self._state if self._delta is None else self.made.read(self._delta.before)

    @property
    def _before(self) -> Pairs:
        update = self._update
        if update is None:
            return self._after
        return self.made.read(update.began(self.made).state)

    def _net(self) -> tuple[Pairs, Pairs]:
        """A \\ D and D \\ A."""
        if self._change is None:
            self._change = self._difference()
        return self._change

    def _difference(self) -> tuple[Pairs, Pairs]:
        update, made = self._update, self.made
        assert update is not None
        before, after = update.began(made).state, made.state if self._delta is None else self._delta.before
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
        if len(rows):
            self._coming.append(ids_of(rows))

    def offer(self, words: Words, source: ModuleId) -> None:
        if words.shape[1]:
            self._coming.append(np.stack([words[0] >> 32, words[0] & 0xFFFFFFFF]).astype(np.int32))

    def lead(self, edges: Table) -> None:
        """Edges for the next `derive`."""
        if len(edges):
            self._edges.append(ids_of(edges))

    def derive(self, leaving: bool = False) -> int:
        return self.pairs("delta").count() if self.advance(leaving) else 0

    def advance(self, leaving: bool = False) -> bool:
        """As `derive`, but nothing is counted; says whether there may be a delta."""
        if leaving and self._update is None:
            raise InternalError(f"{self.name}: facts leave inside an update only")
        if self._delta is not None:
            raise InternalError(f"{self.name}: delta must be merged before the next one is derived")
        self._delta, self._next, self._leaving = self._next, None, False
        if self._coming or self._edges:
            given = Input(joined(self._coming), joined(self._edges))
            self._coming, self._edges = [], []
            self._follow(given, leaving)
        return self._delta is not None

    def _follow(self, given: Input, leaving: bool) -> None:
        """Let Δ be what follows from facts that come, or what no longer follows without those that leave."""
        self._widen(given.seeds, given.edges)
        if self._update is not None:
            self._update.began(self.made)
        self._delta = self.made.update(*((Input(), given) if leaving else (given, Input())))
        self._leaving = leaving

    def merge(self) -> None:
        delta, self._delta = self._delta, None
        if delta is not None and self._update is not None:
            self._change = None
            side = delta.gone if self._leaving else delta.come
            if len(side.nodes):
                (self._update.lost if self._leaving else self._update.won).append(side.nodes)
        self._leaving = False

    def rest(self) -> None:
        if self.structure is not None and self._update is None and self._delta is None:
            self.structure.settle()

    # ---- Updates

    def begin(self) -> None:
        if self._update is not None:
            raise InternalError(f"{self.name}: an update is under way")
        self._update, self._change = Update(), None
        if self.structure is not None:
            self._update.began(self.structure)

    def commit(self) -> None:
        if self._leaving:
            raise InternalError(f"{self.name}: delta must be merged before the update ends")
        if self.structure is not None:
            self.structure.settle()
        self._update = self._change = None

    def rollback(self) -> None:
        update, self._update, self._change = self._update, None, None
        self._delta, self._next, self._leaving, self._coming, self._edges = None, None, False, [], []
        if update is not None and self.structure is not None:
            self.structure.go_back(update.began(self.structure))

    # ---- Sizes

    def _widen(self, *parts: Columns) -> None:
        """Both ends lie within what is given for either."""
        given = [part for part in parts if part.shape[1]]
        if given:
            low, high = min(int(part.min()) for part in given), max(int(part.max()) for part in given)
            if self.bounds is not None:
                low, high = min(low, self.bounds[0][0]), max(high, self.bounds[0][1])
            self.bounds = ((low, high), (low, high))

    def span(self) -> Bounds | None:
        return None if self._stored is not None else self.bounds

    def size(self, version: Version) -> int:
        if self._stored is not None:
            return 0 if version in ("delta", "gone", "come") else self._stored[1]
        return super().size(version)

    def guess(self, version: Version) -> int:
        return self.size(version)

    def memory(self) -> Memory:
        return Memory(0 if self.structure is None else self.structure.bytes(), PAIR_BYTES * self.size("all"))


def _nodes(parts: list[Columns], most: int) -> Columns:
    """The different nodes of all parts that a state knows, sorted."""
    found = distinct(np.concatenate(parts))
    return found[found < most]


def listed_few(pairs: int) -> str:
    """Why some pairs are listed.

    >>> listed_few(6)
    'listed: 6 pairs, which are few'
    """
    return f"listed: {plural(pairs, 'pair, which is little', 'pairs, which are few')}"
