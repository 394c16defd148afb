"""Observers of the loops of materialisation and updates: statistics, progress, checkpoints and limits.

A loop knows nothing of its observers. It says when a round begins and ends, when another one will follow, and
when the fixpoint is reached; whatever else is to happen then is an observer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from modulog.engines.backend import Backend
from modulog.engines.engine import Engine, Work
from modulog.engines.values import Failures
from modulog.errors import LimitReached
from modulog.evaluation.facts import Facts
from modulog.evaluation.statistics import RoundStatistics, RuleStatistics
from modulog.kernels.compile_time import working_time
from modulog.language.printer import print_rule
from modulog.planning.passes import Switches
from modulog.planning.plan import Plan, Stratum
from modulog.wording import plural

if TYPE_CHECKING:
    from modulog.evaluation.stratum import StratumGroup


class LoopObserver:
    """Its methods are called by a loop.

    A method that is not overridden does nothing; an error raised here stops the loop.
    """

    def round_begins(self) -> None:
        """Rules are about to be evaluated."""

    def round_ends(self, work: Sequence[Work], new: int) -> None:
        """The engine has evaluated the work; `new` is the number of facts in the next Δ."""

    def continues(self) -> None:
        """Δ is not empty: another round follows."""

    def ends(self) -> None:
        """The fixpoint is reached. If another process reached it, no other method is called."""


class Observers(LoopObserver):
    """Several observers as one; they are called in this order."""

    def __init__(self, observers: Iterable[LoopObserver]) -> None:
        self._observers = tuple(observers)

    def round_begins(self) -> None:
        for observer in self._observers:
            observer.round_begins()

    def round_ends(self, work: Sequence[Work], new: int) -> None:
        for observer in self._observers:
            observer.round_ends(work, new)

    def continues(self) -> None:
        for observer in self._observers:
            observer.continues()

    def ends(self) -> None:
        for observer in self._observers:
            observer.ends()


class EachRound(LoopObserver):
    """Calls a function after each round that another one follows."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def continues(self) -> None:
        self._call()


class RoundRecorder(LoopObserver):
    """Measures each round, and appends its statistics to `rounds`."""

    def __init__(self, engine: Engine, rounds: list[RoundStatistics]) -> None:
        self._engine, self._rounds = engine, rounds
        self._began, self._actions = 0.0, 0

    def round_begins(self) -> None:
        self._began, self._actions = working_time(), self._engine.actions

    def round_ends(self, work: Sequence[Work], new: int) -> None:
        rules = [RuleStatistics.of(w) for w in work]
        seconds, actions = working_time() - self._began, self._engine.actions - self._actions
        self._rounds.append(RoundStatistics(new, seconds, rules, actions))


class ValueLimits(LoopObserver):
    """Stops rules that go on creating values; `reached` returns the rounds and facts so far."""

    def __init__(
        self, strata: Sequence[Stratum], switches: Switches, reached: Callable[[], tuple[int, int]]
    ) -> None:
        self._strata, self._switches, self._reached = strata, switches, reached

    def continues(self) -> None:
        (rounds, facts), switches = self._reached(), self._switches
        if rounds <= switches.value_rounds and facts <= switches.value_facts:
            return
        creating = [clause for stratum in self._strata for clause in stratum.creating]
        if not creating:
            return
        origin = creating[0].origin
        where = f"{origin.position}: " if origin.position else ""
        raise LimitReached(
            f"{where}this rule creates values from its own results, and after {plural(rounds, 'round')} "
            f"with {plural(facts, 'fact')} there is no end in sight\n    {print_rule(origin)}\n"
            "hint: stop it with a condition such as `?x < 100`, or raise value_rounds "
            f"(now {switches.value_rounds:,}) or value_facts (now {switches.value_facts:,})"
        )


# ---- Of a materialisation


class ProgressCallback(Protocol):
    """A callback with how far the work has come, for a progress bar."""

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None: ...


@runtime_checkable
class Checkpoints(Protocol):
    """Saves what was computed so far, so that another process can go on from there."""

    @property
    def loaded(self) -> bool:
        """Whether an earlier process has saved something, explicit facts at least."""

    @property
    def failures(self) -> Failures:
        """What the earlier process had counted."""

    def begin(self, backend: Backend) -> None:
        """Give a backend, which knows no term yet, those that were saved."""

    def resume(self, facts: Facts, runs: Sequence[StratumGroup]) -> None:
        """Before the first round: load what was saved; if there is nothing, save the explicit facts."""

    def reached(self) -> None:
        """A round, or the last one of a stratum, is over: save what there is, if it is time."""


def silent(stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
    """A `ProgressCallback` that does nothing."""


class GroupRecorder(RoundRecorder):
    """Records rounds and seconds of a group, and lets the plan show how each clause was evaluated."""

    def __init__(self, group: StratumGroup, plan: Plan) -> None:
        super().__init__(group.facts.engine, group.statistics.rounds)
        self._group, self._plan = group, plan
        self._start = working_time() - group.statistics.seconds  # those of an earlier process count, too

    def continues(self) -> None:
        self._group.statistics.seconds = working_time() - self._start

    def ends(self) -> None:
        self._group.statistics.seconds = working_time() - self._start
        for stratum in self._group.strata:
            stratum.record_orders(self._plan, self._group.facts.name)


class ProgressObserver(LoopObserver):
    """Where a materialisation is, for a progress bar, and for the message if it is stopped."""

    def __init__(self, tell: ProgressCallback) -> None:
        self.facts, self.where, self._tell = 0, "before the first stratum", tell

    def enter(self, group: StratumGroup, number: int, groups: int) -> None:
        """Follow the next group from here on."""
        self._group, self._number, self._groups, self._before = group, number, groups, self.facts

    def continues(self) -> None:
        group, number, groups = self._group, self._number, self._groups
        round_ = len(group.statistics.rounds) - 1
        self.facts = self._before + group.statistics.facts
        self.where = f"in stratum {number} of {groups} ({group.name}), round {round_}"
        self._tell(number, groups, group.name, round_, self.facts)

    def ends(self) -> None:
        self.facts = self._before + self._group.statistics.facts

    def __str__(self) -> str:
        return f"{self.where}, with {plural(self.facts, 'fact')} derived"


class CheckpointKeeper(LoopObserver):
    """Lets checkpoints save what there is, after each round and after the last one."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self._checkpoints = checkpoints

    def continues(self) -> None:
        self._checkpoints.reached()

    def ends(self) -> None:
        self._checkpoints.reached()
