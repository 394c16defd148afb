"""The facts of a plain relation in every version that a fixpoint or an update asks for.

Between `begin` and `commit` nothing in `base` changes: what has gone (D) and what has come (A) lie beside it.
Facts of D are in the base, facts of A are not, unless they are in D. A version is a list of layers over the
same runs; none is ever copied to be read. Outside an update `before`, `after`, `kept` and `either` are the
present state, `gone` and `come` empty.
"""

from __future__ import annotations

from modulog.engines.local.fact_levels import (
    RATIO,
    ROUND_RATIO,
    SMALL,
    Layer,
    Level,
    compact,
    layers_of,
    settle,
    size,
)
from modulog.engines.local.runs import Run, concatenate
from modulog.engines.relation import ModuleId, Version


class Versions:
    """I, D, A and Δ of one relation."""

    __slots__ = (
        "_after",
        "_before",
        "_count",
        "_nets",
        "arity",
        "base",
        "come",
        "delta",
        "gone",
        "leaving",
        "sizes",
        "updating",
    )

    def __init__(self, arity: int) -> None:
        self.arity = arity
        self.base: list[Level] = []  # I
        self.gone: list[Level] = []  # D: retracted since begin; levels that only add
        self.come: list[Level] = []  # A: merged since begin; levels that only add
        self.delta: list[tuple[ModuleId, Run]] = []  # Δ by source, each fact once
        self.leaving = False  # whether Δ is about to join D rather than A
        self.updating = False
        self._before: list[Layer] | None = None
        self._count = -1  # the size of `before`, if it is known
        self._after: list[Layer] | None = None
        self._nets: dict[bool, list[Run]] = {}
        self.sizes: dict[Version, int] = {}  # as far as they were asked for since the last change

    def _differ(self) -> None:
        """D or A is not what it was."""
        self._after, self._nets, self.sizes = None, {}, {}

    def show(self, delta: list[tuple[ModuleId, Run]], leaving: bool = False) -> None:
        """Let Δ be what is given."""
        if delta or self.delta:
            self.sizes = {}
        self.delta, self.leaving = delta, leaving

    # ---- Reading

    def layers(self, version: Version, except_from: ModuleId | None = None) -> list[Layer]:
        """What to read for a version; of Δ, without the part of one source."""
        match version:
            case "before":
                return self.before()
            case "after":
                return self.after()
            case "old":
                return self._below([run for _, run in self.delta]) if self.leaving else self.after()
            case "delta":
                return [Layer(run) for source, run in self.delta if source != except_from]
            case "all":
                if self.leaving:
                    return self._below([run for source, run in self.delta if source == except_from])
                return [*self.after(), *(Layer(run) for source, run in self.delta if source != except_from)]
            case "kept":
                return layers_of(self.base, tuple(self._net(gone=True))) if self.gone else self.before()
            case "either":
                return [*self.before(), *map(Layer, self._net(gone=False))]
            case "gone" | "come":
                return [Layer(run) for run in self._net(gone=version == "gone")]

    def size(self, version: Version) -> int:
        """How many facts a version has: differences of lengths, without looking at any fact."""
        found = self.sizes.get(version)
        if found is None:
            found = self.sizes[version] = self._size(version)
        return found

    def _size(self, version: Version) -> int:
        match version:
            case "delta":
                return sum(len(run) for _, run in self.delta)
            case "gone" | "come":
                return sum(map(len, self._net(version == "gone"))) if self.gone or self.come else 0
            case "kept":
                return self._size_before() - (self.size("gone") if self.gone else 0)
            case "either":
                return self._size_before() + self.size("come")
        total = self._size_before()
        if self.updating and version != "before":
            total += sum(map(len, self.come)) - sum(map(len, self.gone))
        if version == ("old" if self.leaving else "all"):
            total += -self.size("delta") if self.leaving else self.size("delta")
        return total

    def _size_before(self) -> int:
        if self._before is None or self._count < 0:
            self._count = size(self.before())
        return self._count

    def before(self) -> list[Layer]:
        """I."""
        if self._before is None:
            self._before, self._count = layers_of(self.base), -1
        return list(self._before)

    def after(self) -> list[Layer]:
        """(I \\ D) ∪ A."""
        if self._after is None:
            hidden = tuple(level.adds for level in self.gone)
            below = layers_of(self.base, hidden) if hidden else self.before()
            self._after = [*below, *(Layer(level.adds) for level in self.come)]
        return list(self._after)

    def _below(self, hidden: list[Run]) -> list[Layer]:
        """The facts of `after` that are not in the given part of Δ."""
        return [Layer(run, (*others, *hidden)) for run, others in self.after()]

    def _net(self, gone: bool) -> list[Run]:
        """D \\ A or A \\ D, kept until one of them changes."""
        mine, others = (self.gone, self.come) if gone else (self.come, self.gone)
        if not others:
            return [level.adds for level in mine]
        if gone not in self._nets:
            rest = []
            for run in (level.adds for level in mine):
                for other in others:
                    run = run.without(other.adds)
                rest.append(run)
            self._nets[gone] = [run for run in rest if len(run)]
        return self._nets[gone]

    def settle(self) -> None:
        """Before a look-up: runs that nobody has sorted yet are put together."""
        before = len(self.base), len(self.come)
        if max(before) < 2:
            return
        settle(self.arity, self.base)
        settle(self.arity, self.come)
        if (len(self.base), len(self.come)) != before:
            self._before = self._after = None

    def runs(self) -> list[Run]:
        """Every run that is kept."""
        levels = [*self.base, *self.gone, *self.come]
        kept = [run for level in levels for run in (level.adds, level.dels) if run is not None]
        return [*kept, *(run for _, run in self.delta)]

    # ---- Changing

    def merge(self) -> None:
        """Δ joins A, or if it is leaving D; outside an update it joins I."""
        delta, leaving = self.delta, self.leaving
        if not delta:
            self.leaving = False
            return
        self.show([])
        if leaving:
            for _, run in delta:
                self._leave(run)
            return
        stack = self.come if self.updating else self.base
        stack.extend(Level(run) for _, run in delta)
        compact(stack, ROUND_RATIO)
        self._differ()
        if not self.updating:
            self._before = None

    def spare(self, rows: Run) -> None:
        """While Δ is leaving: these facts stay."""
        rest = [(source, run.without(rows)) for source, run in self.delta]
        delta = [(source, run) for source, run in rest if len(run)]
        self.show(delta, bool(delta))

    def _leave(self, run: Run) -> None:
        """Facts of `after`: those of A leave A, the others, which are in I, join D."""
        self._differ()
        stay = []
        for level in self.come:
            rest = level.adds.without(run)
            if rest is not level.adds:
                run = run.without(level.adds)
            if len(rest):
                stay.append(Level(rest))
        self.come = stay
        if len(run):
            self.gone.append(Level(run))
            compact(self.gone, ROUND_RATIO)

    def rest(self) -> None:
        """The fixpoint is over: what it added becomes one run."""
        if not self.updating and len(self.base) > 1 and all(level.dels is None for level in self.base):
            self.base = [Level(concatenate(self.arity, [level.adds for level in self.base]))]
            self._before = self._after = None

    def begin(self) -> None:
        """before := the present state."""
        self.updating, self.sizes = True, {}

    def commit(self) -> None:
        """The net change becomes one more level."""
        if self.gone or self.come:
            self._add_net_change()
        self._forget()

    def _add_net_change(self) -> None:
        come, gone = self._net(gone=False), self._net(gone=True)
        if come or gone:
            adds = concatenate(self.arity, come) if come else Run.empty(self.arity)
            self.base.append(Level(adds, concatenate(self.arity, gone) if gone else None))
            compact(self.base, RATIO, SMALL)
            self._before = None

    def rollback(self) -> None:
        """Back to `before`."""
        self.show([])
        self._forget()

    def _forget(self) -> None:
        self.updating, self.gone, self.come = False, [], []
        self._differ()
