"""What a materialisation or an update did: facts, rounds, rows and seconds by stratum, round and rule.

Of an update also: how each stratum was brought up to date, and what that was expected to cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from modulog.engines.engine import Work
from modulog.engines.relation import Memory
from modulog.engines.values import Failures
from modulog.wording import plural


@dataclass(slots=True)
class RuleStatistics:
    """One evaluation of a rule in a round: how many rows it gave, known facts included, and its seconds.

    Rows of a rule that was put off are None until it is evaluated. Without seconds of its own it was
    evaluated together with others.

    >>> from modulog import Reasoner
    >>> [stratum] = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) . e(b, c) .").materialise().strata
    >>> [(rule.rule, rule.rows) for rule in stratum.rounds[0].rules]
    [('p(?x) :- e(?x, ?y) .', 2)]
    """

    label: object
    rows: int | None
    seconds: float
    failures: Failures = field(default_factory=Failures)  # known where one machine has evaluated it

    @classmethod
    def of(cls, work: Work) -> RuleStatistics:
        """The statistics of work that an engine has done."""
        return cls(work.label, work.rows, work.seconds, work.failures)

    def __repr__(self) -> str:
        return f"<RuleStatistics: {self.rule} {self.rows} rows, {self.seconds:.3f} s>"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.rule, self.rows, self.seconds, self.failures)

    @property
    def rule(self) -> str:
        """The text of the rule."""
        return str(self.label)


@dataclass(slots=True)
class RoundStatistics:
    """One round: how many new facts entered it as Δ, and what the rules made of them.

    >>> from modulog import Reasoner
    >>> [stratum] = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) . e(b, c) .").materialise().strata
    >>> [one.facts for one in stratum.rounds]
    [2, 0]
    """

    facts: int
    seconds: float = 0.0
    rules: list[RuleStatistics] = field(default_factory=list)
    actions: int = 0  # what a cluster was asked to evaluate; none if the round was put off

    def __repr__(self) -> str:
        size = f"{plural(self.facts, 'fact')}, {plural(len(self.rules), 'rule')}"
        return f"<RoundStatistics: {size}, {self.seconds:.3f} s>"


@dataclass(slots=True)
class StratumStatistics:
    """One stratum: its predicates and rounds. Round 0 is the nonrecursive rules and explicit facts.

    >>> from modulog import Reasoner
    >>> [stratum] = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) . e(b, c) .").materialise().strata
    >>> stratum.predicates, stratum.recursive, stratum.facts
    (('p/1',), False, 2)
    """

    predicates: tuple[str, ...]
    recursive: bool
    rounds: list[RoundStatistics] = field(default_factory=list)
    seconds: float = 0.0

    def __repr__(self) -> str:
        size = f"{plural(self.facts, 'fact')} in {plural(len(self.rounds), 'round')}"
        return f"<StratumStatistics: {', '.join(self.predicates[:3])}, {size}, {self.seconds:.3f} s>"

    @property
    def facts(self) -> int:
        """The facts of the stratum."""
        return sum(r.facts for r in self.rounds)

    def by_rule(self) -> dict[str, RuleStatistics]:
        """Rows and seconds of each rule over all rounds."""
        found: dict[str, RuleStatistics] = {}
        for item in (rule for r in self.rounds for rule in r.rules):
            total = found.setdefault(item.rule, RuleStatistics(item.label, 0, 0.0))
            total.rows = None if total.rows is None or item.rows is None else total.rows + item.rows
            total.seconds += item.seconds
        return found


@dataclass(slots=True)
class Statistics:
    """The whole run.

    On a cluster rules are evaluated together, so seconds belong to rounds and not to rules; `loading` is the
    encoding of explicit facts, and `late` what rounds without recursion had put off until the end.

    >>> from modulog import Reasoner
    >>> r = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) . e(b, c) .")
    >>> r.materialise().derived
    2

    """

    strata: list[StratumStatistics] = field(default_factory=list)
    explicit: int = 0
    facts: int = 0
    derived: int = 0
    seconds: float = 0.0
    compiling: float = (
        0.0  # seconds in which kernels were compiled since the reasoner was made, which no other figure has
    )
    failures: Failures = field(default_factory=Failures)
    nonrecursive_rules: int = 0
    recursive_rules: int = 0
    transitive_modules: int = 0  # linear closures are among them
    symmetric_modules: int = 0
    bytes: int = 0
    memory: dict[str, Memory] = field(default_factory=dict)  # by predicate, with what a list would take
    decomposed_rules: int = 0
    returned_rules: int = 0  # those whose tree was given up, because a table got far more rows than expected
    node_bytes: int = (
        0  # tables of decomposed rules: the most of any stratum; after an update, those that are kept
    )
    loading: RoundStatistics = field(default_factory=lambda: RoundStatistics(0))
    late: RoundStatistics = field(default_factory=lambda: RoundStatistics(0))
    set_aside: int = 0  # bad records that were left out
    bad_records: str = ""  # where they are, unless in memory

    def __repr__(self) -> str:
        sizes = f"{plural(self.facts, 'fact')} ({self.explicit:,} explicit)"
        return f"<Statistics: {sizes}, {plural(len(self.strata), 'stratum', 'strata')}, {self.seconds:.2f} s>"

    def rounds(self) -> int:
        """The rounds of all strata."""
        return sum(len(s.rounds) for s in self.strata)

    def actions(self) -> int:
        """What a cluster was asked to evaluate, in all."""
        rounds = (r.actions for s in self.strata for r in s.rounds)
        return self.loading.actions + sum(rounds) + self.late.actions

    def __str__(self) -> str:
        lines = [
            f"{plural(self.facts, 'fact')} ({self.explicit:,} explicit) in {self.seconds:.2f} s: "
            f"{plural(len(self.strata), 'stratum', 'strata')}, "
            f"{self.nonrecursive_rules} nonrecursive and {plural(self.recursive_rules, 'recursive rule')}, "
            f"{self.transitive_modules} transitive and "
            f"{plural(self.symmetric_modules, 'symmetric-transitive module')}, {self.bytes / 1e6:.1f} MB"
        ]
        if self.compiling:
            lines.append(compiling_line(self.compiling))
        if self.decomposed_rules:
            rules = plural(self.decomposed_rules, "rule")
            lines.append(f"  {rules} decomposed, tables of {self.node_bytes / 1e6:.1f} MB")
        if self.returned_rules:
            rules = plural(self.returned_rules, "rule")
            lines.append(f"  {rules} went back to the standard plan: tables grew too large")
        lines += self._slowest()
        for what, part in (("explicit facts", self.loading), ("evaluated late", self.late)):
            if part.actions:
                lines.append(f"  {what}: {part.seconds:.3f} s, {plural(part.actions, 'action')}")
        lines += self._represented()
        lines += [f"  {line}" for line in self.failures.told()]
        if self.set_aside:
            where = f": {self.bad_records}" if self.bad_records else ""
            lines.append(f"  {plural(self.set_aside, 'bad record')} set aside{where}")
        return "\n".join(lines)

    @property
    def incomparable(self) -> int:
        """How many comparisons had values that cannot be compared."""
        return self.failures.incomparable

    def _represented(self) -> Iterator[str]:
        saved = {name: m for name, m in self.memory.items() if m.plain > 2 * m.bytes and m.plain > 10**6}
        for name, m in sorted(saved.items(), key=lambda pair: -pair[1].plain)[:10]:
            yield f"  {name}: {m.bytes / 1e6:.1f} MB, listed {m.plain / 1e6:,.1f} MB"

    def _slowest(self) -> Iterator[str]:
        ranked = sorted(enumerate(self.strata, 1), key=lambda pair: -pair[1].seconds)
        shown = sorted(ranked[:10])
        for number, s in shown:
            names = ", ".join(s.predicates[:3]) + (", …" if len(s.predicates) > 3 else "")
            size = f"{plural(s.facts, 'fact')} in {plural(len(s.rounds), 'round')}"
            yield f"  stratum {number}: {names}: {size}, {s.seconds:.3f} s{_actions(s)}"
        if len(ranked) > len(shown):
            yield f"  … and {len(ranked) - len(shown)} faster strata"


def compiling_line(seconds: float) -> str:
    """What is said of the time that compiling took.

    >>> compiling_line(7.25)
    '  kernels compiled, once for each installation: 7.2 s'
    """
    return f"  kernels compiled, once for each installation: {seconds:.1f} s"


def _actions(stratum: StratumStatistics) -> str:
    actions = sum(r.actions for r in stratum.rounds)
    return f", {plural(actions, 'action')}" if actions else ""


# ---- Updates


@dataclass(slots=True)
class StratumUpdate:
    """One stratum in an update. `how` is "incrementally", "exactly" (a closure) or "from scratch".

    >>> from modulog import Reasoner
    >>> r = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) .")
    >>> [stratum] = r.update(add={"e": [("b", "c")]}).statistics.strata
    >>> stratum.how, stratum.changes, stratum.added
    ('incrementally', 1, 1)
    """

    predicates: tuple[str, ...]
    how: str
    changes: int = 0  # facts below it that came or went
    facts: int = 0  # facts below it
    incremental: float = 0.0  # facts that following the change was expected to look at
    scratch: float = 0.0  # facts that a computation from scratch was expected to look at
    overdeleted: int = 0
    added: int = 0  # rederived or new
    rounds: int = 0
    seconds: float = 0.0
    evaluated: list[RoundStatistics] = field(default_factory=list)  # what its rules gave, round by round

    def __repr__(self) -> str:
        size = f"{self.overdeleted:,} left, {self.added:,} came"
        return f"<StratumUpdate: {', '.join(self.predicates[:3])} {self.how}, {size}>"

    def expect(self, incremental: float, scratch: float) -> None:
        """Note how many facts each way is expected to look at."""
        self.incremental, self.scratch = incremental, scratch

    def better_anew(self, few: int) -> bool:
        """Whether a computation from scratch is expected to be cheaper by more than a few facts."""
        return self.incremental > self.scratch + few


@dataclass(slots=True)
class UpdateStatistics:
    """The whole update; strata that nothing reached are not listed.

    >>> from modulog import Reasoner
    >>> r = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) .")
    >>> [s.predicates for s in r.update(add={"e": [("b", "c")]}).statistics.strata]
    [('p/1',)]
    """

    strata: list[StratumUpdate] = field(default_factory=list)
    seconds: float = 0.0
    compiling: float = 0.0  # seconds in which kernels were compiled, which no other figure has
    node_bytes: int = 0  # the tables of decomposed rules, which are kept for the next update
    failures: Failures = field(default_factory=Failures)

    def __repr__(self) -> str:
        return f"<UpdateStatistics: {plural(len(self.strata), 'stratum', 'strata')}, {self.seconds:.3f} s>"

    def __str__(self) -> str:
        lines = [f"{plural(len(self.strata), 'stratum', 'strata')} touched in {self.seconds * 1000:.1f} ms"]
        for s in self.strata:
            names = ", ".join(s.predicates[:3]) + (", …" if len(s.predicates) > 3 else "")
            lines.append(
                f"  {names}: {s.how} (expected to look at {s.incremental:,.0f} facts, "
                f"from scratch at {s.scratch:,.0f}), {plural(s.changes, 'change')} below, "
                f"{s.overdeleted:,} left, {s.added:,} came, "
                f"{plural(s.rounds, 'round')}, {s.seconds * 1000:.1f} ms"
            )
        if self.compiling:
            lines.append(compiling_line(self.compiling))
        if self.node_bytes:
            lines.append(f"  tables of decomposed rules: {self.node_bytes / 1e6:.1f} MB")
        lines += [f"  {line}" for line in self.failures.told()]
        return "\n".join(lines)
