"""Observers of the loops of materialisation and updates: statistics, and limits for rules that create values.

A loop knows nothing of its observers. It says when a round begins and ends, when another one will follow, and
when the fixpoint is reached; whatever else is to happen then (see `fixpoint.py` for progress and
checkpoints) is an observer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from modulog.engines.engine import Engine, Work
from modulog.errors import LimitReached
from modulog.evaluation.statistics import RoundStatistics, RuleStatistics
from modulog.kernels.compile_time import working_time
from modulog.language.printer import print_rule
from modulog.planning.passes import Switches
from modulog.planning.plan import Stratum
from modulog.wording import plural


class LoopObserver:
    """Is told what a loop does.

    A method that is not overridden does nothing; an error raised here stops the loop.
    """

    def round_begins(self) -> None:
        """Rules are about to be evaluated."""

    def round_ends(self, work: Sequence[Work], new: int) -> None:
        """The engine has evaluated the work; `new` is the number of facts in the next Δ."""

    def continues(self) -> None:
        """Δ is not empty: another round follows."""

    def ends(self) -> None:
        """The fixpoint is reached. If another process reached it, this is all that an observer is told."""


class Observers(LoopObserver):
    """Several observers, which are told everything in this order."""

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
    """Stops rules that go on creating values; `reached` tells the rounds and facts so far."""

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
